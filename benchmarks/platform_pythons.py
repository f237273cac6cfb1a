"""Pythons of other versions and processors, and wheels for them: all in a folder, nothing is installed, nobody need be root.

A Python of a version is the present one, one on the path, or else Debian's. **Debian's Python** is
unpacked from packages that apt downloads with lists and settings of its own, for any processor, and is started through the
dynamic linker beside it. For another processor all that runs under **qemu-user**, which is also unpacked from a package where
it is not installed. **Wheels** are chosen by pip of the present Python (`--python-version`, `--platform`) and unpacked into a
folder, which is then on `PYTHONPATH`: no environment is made, and no code of another processor runs while installing.
"""

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from variants import ChildError, output_of

SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}  # of Debian, by the Python that each has
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ARCHITECTURES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}  # Debian's name of a machine
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
FILES = "python{0}-minimal", "libpython{0}-stdlib", "zlib1g", "libstdc++6"  # packages; the wheels need the latter two
GLIBC = range(17, 37)  # 2.17 to 2.36, which bookworm has: wheels for any of them run there


def own_architecture() -> str:
    return ARCHITECTURES.get(platform.machine(), platform.machine())


def python_of(version: str, folder: Path) -> list[str]:
    """Return the command that starts a Python of this version, for this processor. Raises ChildError if there is none."""
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return [sys.executable]
    found = shutil.which(f"python{version}")
    return [found] if found else debian_python(version, own_architecture(), folder)


def debian_python(version: str, architecture: str, folder: Path) -> list[str]:
    """The command of Debian's Python of a minor version, emulated for another processor. Raises ChildError."""
    if version not in SUITES:
        raise ChildError(f"Python {version} is not installed, and no Debian has it")
    root = unpacked([name.format(version) for name in FILES], SUITES[version], architecture, folder / "debian")
    emulator = [] if architecture == own_architecture() else [_emulator(PROCESSORS[architecture], folder), "-L", str(root)]
    linker = next(path for path in root.rglob("ld-linux-*.so.*") if not path.is_symlink())  # a link may lead out of the folder
    libraries = sorted({str(path.parent) for path in root.rglob("*.so.*") if path.parent.name.endswith("-linux-gnu")})
    script = folder / f"python{version}"
    words = [*emulator, str(linker), "--library-path", ":".join(libraries), "--argv0"]
    script.write_text(f"#!/bin/sh\nPYTHONHOME={shlex.quote(str(root / 'usr'))} exec {shlex.join(words)} \"$0\" "
                      f"{shlex.quote(str(root / f'usr/bin/python{version}'))} \"$@\"\n", "utf-8")
    script.chmod(0o755)
    return [str(script)]  # also what starts helpers, as `sys.executable`


def _emulator(processor: str, folder: Path) -> str:
    for name in (f"qemu-{processor}-static", f"qemu-{processor}"):
        if found := shutil.which(name):
            return found
    root = unpacked(["qemu-user-static"], SUITES["3.11"], own_architecture(), folder / "qemu")
    return str(root / f"usr/bin/qemu-{processor}-static")


def unpacked(packages: Sequence[str], suite: str, architecture: str, folder: Path) -> Path:
    """Download packages of Debian and what they depend on, and unpack them; return the folder. What is there is kept."""
    root = folder / "root"
    if (folder / "done").exists():
        return root
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("lists/partial", "cache/archives/partial", "root"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()  # no package is installed: all that is needed is downloaded
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    (folder / "sources.list").write_text(f"deb {signed}{_archive()} {suite} main\n", "utf-8")
    settings = {"Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "-",
                "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status", "Dir::Cache": folder / "cache",
                "APT::Architecture": architecture, "APT::Architectures": architecture, "APT::Sandbox::User": "root",
                "Debug::NoLocking": "true"}
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
    output_of([*apt, "update"], "apt-get")
    output_of([*apt, "--yes", "--download-only", "--no-install-recommends", "install", *packages], "apt-get")
    for path in sorted((folder / "cache/archives").glob("*.deb")):
        output_of(["dpkg-deb", "--extract", str(path), str(root)], "dpkg-deb")
    (folder / "done").touch()
    return root


def _archive() -> str:
    """Where this system takes Debian's packages from. Raises ChildError elsewhere."""
    if not shutil.which("apt-get"):
        raise ChildError("there is no apt-get: only Debian has its Pythons")
    places = output_of(["apt-get", "indextargets", "--format", "$(REPO_URI)"], "apt-get").decode().split()
    for place in places:
        if place.rstrip("/").endswith("/debian"):
            return place
    raise ChildError("apt-get has no archive of Debian among its sources (and `apt-get update` must have run)")


def install_wheels(requirements: Sequence[str], version: str, architecture: str, folder: Path) -> Path:
    """Unpack wheels for a minor version of Python into a folder, and return it. Raises ChildError."""
    shutil.rmtree(folder, ignore_errors=True)
    other = [] if architecture == own_architecture() else [
        f"--platform=manylinux_2_{minor}_{PROCESSORS[architecture]}" for minor in GLIBC]
    output_of([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore",
               f"--target={folder}", "--only-binary=:all:", "--implementation=cp", f"--python-version={version}", *other,
               *requirements], "pip")
    return folder


def environment(path: Sequence[Path], variables: dict[str, str]) -> dict[str, str]:
    """All variables of a process that imports from these folders first, and whose Numba has no settings but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONNOUSERSITE": "1", **variables}
