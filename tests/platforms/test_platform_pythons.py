"""Where Pythons of other versions and processors come from. apt-get and dpkg-deb are short scripts here."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import platform_pythons
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.skipif(sys.platform == "win32", reason="Debian's packages")]
OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"
APT = """#!/bin/sh
echo "$*" >> "{log}"
case "$*" in
    *indextargets*) echo "http://host/security/"; echo "http://host/debian/" ;;
    *install*) for each in "$@"; do case $each in -oDir::Cache=*) touch "${{each#*=}}/archives/a.deb" ;; esac; done ;;
esac
"""
DPKG = """#!/bin/sh
mkdir -p "$3/usr/bin" "$3/lib/x-linux-gnu" && touch "$3/lib/x-linux-gnu/ld-linux-x.so.1" "$3/lib/x-linux-gnu/libm.so.6"
ln -s /elsewhere "$3/lib/ld-linux-x.so.1"
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What apt-get was told, a line a call."""
    path = tmp_path / "log"
    for name, script in (("apt-get", APT.format(log=path)), ("dpkg-deb", DPKG)):
        (tmp_path / name).write_text(script, "utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return path


def test_debians_python_starts_by_its_own_linker_and_under_an_emulator(log: Path, tmp_path: Path,
                                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    folder, real = tmp_path / "arm", shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name.startswith("qemu") else real(name))
    root, lib = folder / "debian/root", folder / "debian/root/lib/x-linux-gnu"
    command = platform_pythons.debian_python("3.11", "arm64", folder)
    start = Path(*command).read_text("utf-8").split()
    emulator = str(folder / "qemu/root/usr/bin/qemu-aarch64-static")
    assert start[1:] == [f"PYTHONHOME={root / 'usr'}", "exec", emulator, "-L", str(root),
                         str(lib / "ld-linux-x.so.1"), "--library-path", str(lib), "--argv0", '"$0"',
                         str(root / "usr/bin/python3.11"), '"$@"']
    installs = [line for line in log.read_text("utf-8").splitlines() if " install " in line]
    assert "python3.11-minimal libpython3.11-stdlib" in installs[0] and "-oAPT::Architecture=arm64" in installs[0]
    assert installs[1].endswith("qemu-user-static") and "-oAPT::Architecture=amd64" in installs[1]
    assert all(f"status={folder}" in line and "--download-only" in line for line in installs), "nothing is installed"
    assert "http://host/debian/ bookworm main" in (folder / "debian/sources.list").read_text("utf-8")
    assert platform_pythons.debian_python("3.11", "arm64", folder) == command
    assert sum(" install " in line for line in log.read_text("utf-8").splitlines()) == 2, "what was unpacked is kept"


def test_the_same_processor_needs_no_emulator(log: Path, tmp_path: Path) -> None:
    command = platform_pythons.debian_python("3.13", platform_pythons.own_architecture(), tmp_path / "own")
    start = Path(*command).read_text("utf-8")
    assert "usr/bin/python3.13" in start and "qemu" not in start and log.exists()


def test_a_python_is_taken_only_if_it_is_of_that_version_and_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert platform_pythons.python_of(OWN, tmp_path) == [sys.executable]
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(platform_pythons, "debian_python", lambda *told: ["debian", *map(str, told[:1])])
    kept = tmp_path / ".pyenv/versions/3.99.1/bin/python"
    kept.parent.mkdir(parents=True)
    kept.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    kept.chmod(0o755)
    assert platform_pythons.python_of("3.99", tmp_path) == ["debian", "3.99"]
    kept.write_text("#!/bin/sh\nexit 0\n", "utf-8")
    assert platform_pythons.python_of("3.99", tmp_path) == [str(kept)]


def test_a_process_has_its_folders_and_no_settings_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_OPT", "0")
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    found = platform_pythons.environment([tmp_path], {"NUMBA_CPU_NAME": "x86-64"})
    assert {name for name in found if name.startswith("NUMBA_")} == {"NUMBA_CPU_NAME"} and "PYTHONHOME" not in found
    asked = [sys.executable, "-c", "import sys; print(sys.path[1])"]
    assert subprocess.run(asked, env=found, capture_output=True, encoding="utf-8", check=True).stdout.strip() == str(tmp_path)
