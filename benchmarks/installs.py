"""Installations of the program that can be run beside each other: this repository, and another commit of it.

Each is installed by pip into an environment of its own, under `build/benchmarks`. That of a commit is kept, for a commit does
not change. Without installing, the present environment runs the sources of either.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import venv
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "benchmarks"
HERE = "here"


class InstallError(Exception):
    """A commit that is not there, or that cannot be installed; in one line."""


@dataclass(frozen=True)
class Install:
    """How to run Python with the program of one commit. `environment` holds all variables, `folder` is where it runs."""

    name: str
    command: list[str]
    folder: Path
    package: Path  # where the program must be imported from
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def check(self, package: Path) -> None:
        """Raises InstallError if the program was imported from elsewhere."""
        if not package.resolve().is_relative_to(self.package.resolve()):
            raise InstallError(f"{self.name}: the program was imported from {package}, not from {self.package}")


def from_sources(name: str, sources: Path) -> Install:
    """The present environment with these sources."""
    return Install(name, [sys.executable], sources, sources / "crowd_demo",
                   {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": ""})


def here(installed: bool, extra: str = "") -> Install:
    """This repository as it lies there. Raises InstallError."""
    if not installed:
        return from_sources(HERE, ROOT)
    shutil.rmtree(KEPT / HERE, ignore_errors=True)
    return _installed(HERE, ROOT, KEPT / HERE, extra)


def at_commit(commit: str, installed: bool, extra: str = "") -> Install:
    """Another commit of it. Raises InstallError."""
    short = _git("rev-parse", "--short", "--verify", f"{commit}^{{commit}}").decode().strip()
    folder = KEPT / "-".join(filter(None, (short, extra)))
    if not (folder / "sources").is_dir():
        _unpack(short, folder)
    return _installed(short, folder / "sources", folder, extra) if installed else from_sources(short, folder / "sources")


def _unpack(commit: str, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(_git("archive", commit))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # since 3.11.4
        archive.extractall(folder / "unpacked")
    (folder / "unpacked").rename(folder / "sources")  # whole or not there


def _installed(name: str, sources: Path, folder: Path, extra: str) -> Install:
    """Make an environment with nothing but the program in it; what is there is taken as it is."""
    place = folder / "environment"
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "installed"
    if not done.exists():
        venv.create(place, clear=True, with_pip=True)
        wanted = f"{sources}[{extra}]" if extra else str(sources)
        output_of([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted], name)
        done.touch()
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return Install(name, [str(python)], folder, place, clean)


def _git(*arguments: str) -> bytes:
    return output_of(["git", "-C", str(ROOT), *arguments], "git")


def output_of(command: list[str], name: str) -> bytes:
    """Standard output of a command. Raises InstallError with the last line of its standard error."""
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        raise InstallError(f"{name}: {last_line(done.stderr.decode(errors='replace'))}")
    return done.stdout


def last_line(text: str) -> str:
    """The last line of what a process has said."""
    return (text.strip().splitlines() or ["no message"])[-1]
