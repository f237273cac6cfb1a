"""The kernel cache: every damage is a miss, a folder that cannot be written costs one line, an empty variable is unset."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numba
import pytest
from llvmlite import binding

from crowd_demo.compute import cache
from crowd_demo.compute.cache import CHECKSUM_BYTES, LEFT_S, V3, V4, KernelFiles, is_first_start, user_cache
from crowd_demo.registry import plugins
from crowd_demo.version import __version__

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
@pytest.mark.usefixtures("in_tmp_path")
def test_a_relative_folder_keeps_its_meaning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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


# --- Kernels that come with the package ------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
Patch = pytest.MonkeyPatch


# --- when they fit ---------------------------------------------------------------------------------------------------

@pytest.fixture
def folder(tmp_path: Path, monkeypatch: Patch) -> Path:
    """An installed distribution whose kernels fit, and a processor that has all levels."""
    for name in ("CROWD_DEMO_KERNELS", "CROWD_DEMO_PLAIN_NUMBA"):
        monkeypatch.delenv(name, raising=False)
    for name in cache.PROCESSOR:
        monkeypatch.setattr(numba.config, name, None)
    monkeypatch.setattr(cache, "levels", cache.levels.__wrapped__)
    monkeypatch.setattr(cache, "_sources_hash", cache._sources_hash.__wrapped__)
    monkeypatch.setattr(plugins, "sources", lambda: ())
    has(V4)(monkeypatch)
    package = tmp_path / cache.INSTALLED
    made = package / cache.portable_fingerprint()
    made.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return made


def has(features: frozenset[str]) -> Callable[[Patch], None]:
    """A processor with these features."""
    return lambda patch: patch.setattr(binding, "get_host_cpu_features", lambda: dict.fromkeys(V4, False)
                                       | dict.fromkeys(features, True))


def another_source(patch: Patch) -> None:
    path, source = next(iter(cache.kernel_sources().items()))
    patch.setattr(cache, "kernel_sources", lambda: {path: source + b"#"})


OTHERWISE: dict[str, Callable[[Patch], None]] = {
    "another version of Numba": lambda patch: patch.setattr(numba, "__version__", "0.0"),
    "another version of llvmlite": lambda patch: patch.setattr("llvmlite.__version__", "0.0"),
    "another version of NumPy": lambda patch: patch.setattr("numpy.__version__", "0.0"),
    "another version of Python": lambda patch: patch.setattr("sysconfig.get_config_var", lambda name: ".cpython-399.so"),
    "another source": another_source,
    "a plugin": lambda patch: patch.setattr(plugins, "sources", lambda: (Path(__file__),)),
    "a setting of Numba": lambda patch: patch.setattr(numba.config, "OPT", 1),
    "another processor for Numba": lambda patch: patch.setattr(numba.config, "CPU_NAME", "haswell"),
    "other features for Numba": lambda patch: patch.setattr(numba.config, "CPU_FEATURES", ""),
    "too low a level": has(V3 - {"fma"}),
    "kernels by public names of Numba": lambda patch: patch.setenv("CROWD_DEMO_PLAIN_NUMBA", "1"),
    "none asked for": lambda patch: patch.setenv("CROWD_DEMO_KERNELS", "none"),
}


@pytest.mark.quick
def test_kernels_that_fit_are_found(folder: Path) -> None:
    assert cache.installed_folder.__wrapped__() == folder


@pytest.mark.quick
@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_kernels_that_do_not_fit_are_passed_over_without_a_word(folder: Path, monkeypatch: Patch, otherwise: str,
                                                               capsys: pytest.CaptureFixture[str]) -> None:
    OTHERWISE[otherwise](monkeypatch)
    assert cache.installed_folder.__wrapped__() is None
    assert capsys.readouterr() == ("", "")


@pytest.mark.quick
def test_what_changes_no_code_changes_no_choice(folder: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 7)
    monkeypatch.setattr(sys, "version", "3.99 of another day")
    assert cache.installed_folder.__wrapped__() == folder


@pytest.mark.quick
@pytest.mark.parametrize(("features", "asked", "found"), [
    (V4, "", ("x86-64-v4", "x86-64-v3")), (V4 - {"avx512dq"}, "", ("x86-64-v3",)), (V3, "x86-64-v4", ("x86-64-v3",)),
    (V4, "x86-64-v3", ("x86-64-v3",)), (V3 - {"movbe"}, "", ()), (V4, "none", ())])
def test_a_processor_has_the_levels_of_which_no_feature_is_missing(folder: Path, monkeypatch: Patch, features: frozenset[str],
                                                                  asked: str, found: tuple[str, ...]) -> None:
    has(features)(monkeypatch)
    monkeypatch.setenv("CROWD_DEMO_KERNELS", asked)
    assert cache.levels() == found


@pytest.mark.quick
def test_a_level_that_does_not_exist_is_said(folder: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("crowd_demo.registry.texts._said", set())
    monkeypatch.setenv("CROWD_DEMO_KERNELS", "avx2")
    assert cache.installed_folder.__wrapped__() is None and cache.levels() == ()
    assert capsys.readouterr().err == ("crowd-demo: CROWD_DEMO_KERNELS must be x86-64-v4, x86-64-v3 or none, not 'avx2': "
                                       "no installed kernels are used\n")


@pytest.mark.quick
def test_no_start_is_the_first_one_where_kernels_are_installed(folder: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("CROWD_DEMO_CACHE", str(tmp_path / "empty"))
    for function in ("folder", "installed_folder"):
        monkeypatch.setattr(cache, function, getattr(cache, function).__wrapped__)
    assert not cache.is_first_start() and not cache.is_empty()
    monkeypatch.setenv("CROWD_DEMO_KERNELS", "none")
    assert cache.is_first_start() and cache.is_empty()


@pytest.mark.quick
def test_a_folder_of_that_name_is_no_distribution(folder: Path) -> None:
    (folder.parent / "__init__.py").unlink()
    assert cache.installed_folder.__wrapped__() is None


# --- what they do ----------------------------------------------------------------------------------------------------

LEVEL = "x86-64-v3"
CONFIG = "{agents: 200, optimizations: {neighbours: none}}"
STEPS = """
import sys
from crowd_demo.compute import cache
from crowd_demo.config.loader import load_config
from crowd_demo.sim.simulation import Simulation

first = cache.is_first_start()
sim = Simulation(load_config(sys.argv[1]))
sim.step(20)
print(sim.state_hash(), first, len(list(cache.user_cache().rglob("*.kernel.*.nbc"))))
"""
FEATURES = binding.get_host_cpu_features() if platform.machine() in ("x86_64", "AMD64") else {}
here = pytest.mark.skipif(not all(FEATURES.get(name) for name in V3), reason="a processor without the level")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A distribution with the kernels of a step of one small crowd."""
    out = tmp_path_factory.mktemp("wheel")
    (out / "small.yaml").write_text(CONFIG, "utf-8")
    subprocess.run([sys.executable, ROOT / "tools/build_kernels.py", "--out", out, "--level", LEVEL, "--steps-only",
                    out / "small.yaml"], env=environment(), check=True, cwd=ROOT)
    (built,) = out.glob("*.whl")
    return built


def environment(*paths: Path, **variables: str) -> dict[str, str]:
    """Without what chooses a processor for Numba, as other tests may do."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CPU")}
    found = [*map(str, paths), str(ROOT), *filter(None, [inherited.get("PYTHONPATH")])]
    return {**inherited, "CROWD_DEMO_PLAIN_NUMBA": "", "PYTHONPATH": os.pathsep.join(found), **variables}


def steps(config: Path, *paths: Path, **variables: str) -> tuple[str, bool, int, str]:
    """The crowd after some steps; was it the first start, how many kernels were kept, and what was said?"""
    done = subprocess.run([sys.executable, "-c", STEPS, config], env=environment(*paths, **variables), check=True,
                          capture_output=True, encoding="utf-8")
    found, first, kept = done.stdout.splitlines()[-1].split()
    return found, first == "True", int(kept), done.stderr


def contents(root: Path) -> dict[Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(root.rglob("*")) if path.is_file()}


@here
@pytest.mark.slow
def test_a_distribution_installed_elsewhere_is_used_and_gives_the_same_crowd(wheel: Path, tmp_path: Path) -> None:
    site, small = tmp_path / "site", wheel.parent / "small.yaml"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--target", site,
                    wheel], check=True)
    compiled = steps(small, CROWD_DEMO_KERNELS="none")[0]
    before = contents(site)
    assert len([path for path in before if path.match(cache.KERNEL_FILES)]) > 10
    assert steps(small, site, CROWD_DEMO_CACHE=str(tmp_path / "empty")) == (compiled, False, 0, ""), "nothing is compiled"

    one = next(path for path in before if path.name.startswith("steering.move_lanes"))
    content = one.read_bytes()
    one.chmod(0o644)
    one.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    damaged = contents(site)
    found, first, kept, said = steps(small, site, CROWD_DEMO_CACHE=str(tmp_path / "cache"))
    assert (found, first, kept) == (compiled, False, 1), "the damaged one is compiled, and kept in the user's folder"
    assert said.startswith(f"crowd-demo: a damaged file in {site}") and said.count("\n") == 1
    assert steps(small, site, CROWD_DEMO_CACHE=str(tmp_path / "cache")) == (compiled, False, 1, ""), "the user's come first"
    assert contents(site) == damaged, "what was installed is never written"


@here
@pytest.mark.slow
def test_a_distribution_pins_what_its_kernels_depend_on(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))
        kernels = [archive.read(name) for name in archive.namelist() if name.endswith(".nbc")]
    major, minor, *_ = sys.version_info
    for line in (f"Requires-Dist: crowd-demo=={__version__}", f"Requires-Python: =={major}.{minor}.*",
                 *(f"Requires-Dist: {name}=={version(name)}" for name in ("numba", "llvmlite", "numpy"))):
        assert line in metadata.splitlines()
    assert kernels and not any(str(ROOT).encode() in kernel for kernel in kernels), "no path of the machine that built it"
