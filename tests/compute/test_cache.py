"""The kernel cache: every damage is a miss, a folder that cannot be written costs one line, an empty variable is unset."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowd_demo.compute import cache
from crowd_demo.compute.cache import CHECKSUM_BYTES, LEFT_S, KernelFiles, is_first_start, user_cache

PROGRAM = """
import shutil, sys
import numpy as np
from crowd_demo.compute import cache
from crowd_demo.compute.jit import CACHE_LASTS, kernel

@kernel
def add(worker, workers, numbers):
    numbers[worker] += 7

def sevens(kind):
    numbers = np.zeros(2, kind)
    add(2, numbers)
    return numbers.tolist() == [7, 7]

right = sevens(np.int32)
if "--remove" in sys.argv:
    shutil.rmtree(cache.folder().parent)
    right &= sevens(np.int64)
print("right" if right else "wrong", "loaded" if add.entry.stats.cache_hits else "compiled", CACHE_LASTS)
"""
NO_ROOM = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"  # stands for a full disk
unix = pytest.mark.skipif(os.name != "posix", reason="no limits of files, no list of users")


class Started:
    """Starts of a program with one kernel, which share a cache."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.kernels = folder, folder / "kernels"
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM, "utf-8")  # once, since older versions of Numba look at the time of a source

    def begin(self, *arguments: str, before: str = "", kernels: Path | None = None) -> subprocess.Popen[str]:
        code = f"{before}\nimport runpy\nrunpy.run_path({str(self.program)!r}, run_name='__main__')"
        env = {**os.environ, "CROWD_DEMO_CACHE": str(kernels or self.kernels),
               "PYTHONPATH": os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])}
        return subprocess.Popen([sys.executable, "-c", code, *arguments], env=env, cwd=self.folder, encoding="utf-8",
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __call__(self, *arguments: str, before: str = "", kernels: Path | None = None) -> tuple[list[str], list[str]]:
        """What it printed, and its lines on standard error."""
        out, err = self.begin(*arguments, before=before, kernels=kernels).communicate(timeout=120)
        return out.split(), err.splitlines()

    def files(self, pattern: str = "*.nbc") -> list[Path]:
        return sorted(self.kernels.rglob(pattern))


@pytest.fixture
def start(tmp_path: Path) -> Started:
    return Started(tmp_path)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Started:
    """A first start, whose kernels are copied to `kept`."""
    start = Started(tmp_path_factory.mktemp("started"))
    assert start() == (["right", "compiled", "True"], [])
    shutil.copytree(start.kernels, start.folder / "kept")
    return start


@pytest.fixture
def compiled(first: Started) -> Iterator[Started]:
    """Starts that find what a first one has compiled."""
    shutil.rmtree(first.kernels)
    shutil.copytree(first.folder / "kept", first.kernels)
    yield first
    first.folder.chmod(0o700)


def test_a_second_start_loads_what_the_first_one_compiled(compiled: Started) -> None:
    written = {path: path.stat().st_mtime_ns for path in compiled.files()}
    assert compiled() == (["right", "loaded", "True"], [])
    assert written == {path: path.stat().st_mtime_ns for path in compiled.files()} and written


def test_a_damaged_file_is_said_once_and_compiled_again(compiled: Started) -> None:
    for path in compiled.files():
        path.write_bytes(path.read_bytes()[:-9])
    printed, (said,) = compiled()
    assert printed == ["right", "compiled", "True"]
    assert said.startswith(f"crowd-demo: a damaged file in {compiled.kernels}") and "is compiled again" in said
    assert compiled() == (["right", "loaded", "True"], [])


@pytest.mark.quick
def test_no_flipped_bit_and_no_missing_end_gets_through(tmp_path: Path) -> None:
    files = KernelFiles(tmp_path, "f", "stamp")
    files.save("key", b"code")
    assert (files.load("key"), files.load("another key")) == (b"code", None)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    for bit in range(len(content) * 8):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match="checksum"):
            files.load("key")
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="checksum"):
            files.load("key")


@pytest.mark.quick
def test_what_a_killed_compiler_left_is_removed_a_day_later(tmp_path: Path) -> None:
    left, young = tmp_path / "f.1.tmp", tmp_path / "f.2.tmp"
    for path in (left, young):
        path.write_bytes(b"half")
    os.utime(left, (0, time.time() - LEFT_S - 60))
    KernelFiles(tmp_path, "f", "stamp").save("key", b"code")
    assert not left.exists() and young.exists() and len(list(tmp_path.iterdir())) == 2


@pytest.mark.quick
def test_a_file_of_another_key_with_the_same_name_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = KernelFiles(tmp_path, "f", "stamp")
    monkeypatch.setattr(files, "_path", lambda key: tmp_path / "f.nbc")
    files.save("key", b"code")
    assert (files.load("key"), files.load("another key")) == (b"code", None)
    assert len((tmp_path / "f.nbc").read_bytes()) > CHECKSUM_BYTES


@unix
def test_without_room_kernels_are_compiled_and_not_kept(start: Started) -> None:
    printed, (said,) = start(before=NO_ROOM)
    assert printed == ["right", "compiled", "False"]
    assert said.startswith(f"crowd-demo: compiled kernels cannot be kept in {start.kernels}")
    assert [path for path in start.files("*") if path.is_file()] == []


@unix
def test_others_can_neither_read_nor_write_what_is_kept(start: Started) -> None:
    new = start.folder / "new"
    assert start(before="import os; os.umask(0)", kernels=new / "kernels") == (["right", "compiled", "True"], [])
    folders = [path for path in (new, *new.rglob("*")) if path.is_dir()]
    assert len(folders) > 3 and {path.stat().st_mode & 0o777 for path in folders} == {0o700}


@pytest.mark.parametrize("unsafe", ["above", "version", "group", "owner"])
def test_kernels_that_others_could_have_written_are_not_loaded(compiled: Started, unsafe: str) -> None:
    if sys.platform == "win32":
        pytest.skip("no permissions of folders")
    (version,) = (path for path in compiled.kernels.iterdir() if path.is_dir())
    path = {"above": compiled.folder, "version": version}.get(unsafe, compiled.kernels)
    if unsafe == "owner":
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(path, 12345, -1)
    else:
        path.chmod(0o770 if unsafe == "group" else 0o777)
    printed, (said,) = compiled()
    assert printed == ["right", "compiled", "False"]
    assert said.startswith(f"crowd-demo: other users can write to {path}, so kernels from there could be their code")


@unix
def test_a_sticky_folder_may_hold_a_private_one(start: Started) -> None:
    start.kernels.mkdir()
    start.kernels.chmod(0o1777)
    assert start() == (["right", "compiled", "True"], [])
    assert start() == (["right", "loaded", "True"], [])


@unix
def test_without_room_kernels_are_loaded_all_the_same(compiled: Started) -> None:
    assert compiled(before=NO_ROOM) == (["right", "loaded", "False"], [])


def test_a_folder_that_cannot_be_made_costs_a_line(start: Started) -> None:
    printed, (said,) = start(kernels=Path(os.devnull) / "kernels")
    assert printed == ["right", "compiled", "False"] and said.endswith("Not a directory")


def test_a_folder_that_disappears_is_made_again(start: Started) -> None:
    assert start("--remove") == (["right", "compiled", "True"], [])
    assert start.files()


def test_processes_may_write_at_once(start: Started) -> None:
    """Whoever comes late may find what another has written already."""
    told = [process.communicate(timeout=120) for process in [start.begin() for _ in range(3)]]
    assert set(told) <= {("right compiled True\n", ""), ("right loaded True\n", "")}
    assert start() == (["right", "loaded", "True"], [])
    assert [path for path in start.files("*") if path.suffix != ".nbc" and path.is_file()] == []


@unix
def test_a_start_that_is_killed_while_it_writes_kernels_harms_no_later_one(start: Started) -> None:
    for files in (1, 3):
        process = start.begin()
        while process.poll() is None and sum(path.is_file() for path in start.files("*")) < files:
            time.sleep(0.001)
        process.kill()
        process.communicate()
    printed, said = start()
    assert printed[0] == "right" and printed[2] == "True" and not said


@pytest.mark.parametrize("setting, same", [
    ("OPT=1", False), ("BOUNDSCHECK=1", False), ("CPU_NAME=generic", False), ("THREADING_LAYER=omp", True)])
def test_settings_that_change_the_code_have_a_folder_of_their_own(setting: str, same: bool) -> None:
    name, _, value = setting.partition("=")
    command = [sys.executable, "-c", "from crowd_demo.compute.cache import folder; print(folder())"]
    found = subprocess.run(command, env={**os.environ, f"NUMBA_{name}": value}, capture_output=True, encoding="utf-8",
                           check=True)
    assert (found.stdout.strip() == str(cache.folder())) is same


@pytest.mark.quick
@unix
def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "win32":
        return
    import pwd

    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    for name in ("CROWD_DEMO_CACHE", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, "")
    for system, folder in (("Linux", ".cache/crowd-demo"), ("Darwin", "Library/Caches/crowd-demo"),
                           ("Windows", "AppData/Local/crowd-demo")):
        monkeypatch.setattr("platform.system", lambda system=system: system)
        assert user_cache() == home / folder


@pytest.mark.quick
def test_a_relative_folder_keeps_its_meaning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROWD_DEMO_CACHE", "kernels")
    assert user_cache() == tmp_path / "kernels"


@pytest.mark.quick
def test_a_kernel_of_any_version_ends_first_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CROWD_DEMO_CACHE", str(tmp_path / "kernels"))
    assert is_first_start()
    (tmp_path / "kernels" / "0123" / "sim").mkdir(parents=True)
    assert is_first_start()
    (tmp_path / "kernels" / "0123" / "sim" / "walking.walk.nbc").touch()
    assert not is_first_start()


@pytest.mark.quick
@unix
def test_who_has_no_home_has_no_cache(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import pwd

    def nobody(number: int) -> None:
        raise KeyError(number)

    for name in ("CROWD_DEMO_CACHE", "HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setattr(cache, "folder", cache.folder.__wrapped__)
    assert cache.folder() is None and not cache.has_room.__wrapped__() and cache.is_empty() and not is_first_start()
    assert capsys.readouterr().err.startswith("crowd-demo: this user has no home folder; set CROWD_DEMO_CACHE")
