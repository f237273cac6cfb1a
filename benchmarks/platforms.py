"""One hash on every platform: thirteen configurations, thirty ticks, on each processor and version that can be had here.

    python benchmarks/platforms.py [--only PLATFORM ...] [--config NAME ...] [--pin]

Every platform steps the configurations in a process and with a kernel cache of its own, and each state hash of the first
thirty ticks is compared with that pinned in `tests/platforms/hashes.json`. A quarter of an hour, before a release.

`avx512`, `avx2` and `sse2` tell Numba to compile for another x86 processor. `aarch64` is emulated on x86: Debian's Python for
arm64 and qemu-user are unpacked from packages, wheels for arm64 are chosen by pip (below). Other versions
of Python are taken where they are found, or from Debian. What was downloaded stays in `build/platforms`.

A platform that fails does not stop the others: the table says which agree, which differ, in which configuration and from which
tick, and which could not be run and why. The exit code is 0 only if all that were chosen agree. `--pin` writes the pinned file
anew from the row `here`, after a change that is meant to move hashes.

Nothing is installed, and no root rights are needed. A Python version is the present one, one on the path, or Debian's.
**Debian's Python** is unpacked from packages that apt downloads with lists and settings of its own, for any processor, and is
started through the dynamic linker beside it. For another processor all that runs under **qemu-user**, which is also unpacked
from a package where it is not installed. **Wheels** are chosen by pip of the present Python (`--python-version`, `--platform`)
and unpacked into a folder, which is then on `PYTHONPATH`: no environment is made, and no code of another processor runs while
installing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from platform import machine as machine_name

from compare import ROOT, ChildError, last_line, output_of

from crowd_demo.cli.arguments import Parser
from crowd_demo.cli.main import exit_code
from crowd_demo.host.system import FAILED, OK
from crowd_demo.measure.experiment import machine

SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}  # of Debian, by the Python that each has
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ARCHITECTURES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}  # Debian's name of a machine
PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
FILES = "python{0}-minimal", "libpython{0}-stdlib", "zlib1g", "libstdc++6"  # packages; the wheels need the latter two
GLIBC = range(17, 37)  # 2.17 to 2.36, which bookworm has: wheels for any of them run there


def own_architecture() -> str:
    return ARCHITECTURES.get(machine_name(), machine_name())


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


def environment(path: Sequence[Path], variables: dict[str, str]) -> dict[str, str]:
    """All variables of a process that imports from these folders first, and whose Numba has no settings but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONNOUSERSITE": "1", **variables}


KEPT = ROOT / "build" / "platforms"
CHILD = Path(__file__).with_name("platform_child.py")
PINNED = ROOT / "tests" / "platforms" / "hashes.json"
TICKS = 30
CONFIGS = ("1k", "20k-flock", "crates", "20k", "push-20k", "queues", "station", "evacuation", "maze", "births-250k", "cloth",
           "murmuration", "predators")  # every behaviour, avoidance, births, links and exits
LIMIT_S = 3600  # of one platform
X86 = {"avx512": ("x86-64-v4", "zmm", "avx512f"), "avx2": ("x86-64-v3", "ymm", "avx2"), "sse2": ("x86-64", "xmm", "sse2")}
WIDER = "avx512f", "avx2", "avx", "sse2"

Hashes = Mapping[str, Sequence[str]]  # by configuration, one a tick


@dataclass(frozen=True)
class Platform:
    """A processor and versions. Without `versions`, the present Python and what is installed."""

    name: str
    versions: str = ""  # "lowest" or "newest" of those that are declared
    python: str = f"{sys.version_info[0]}.{sys.version_info[1]}"
    architecture: str = field(default_factory=own_architecture)
    processor: str = ""  # for Numba: what to compile for
    registers: str = ""  # the widest that the code must have
    needs: str = ""  # what the processor must have


PLATFORMS = (  # docs/reliability.md describes the rows
    Platform("here"),
    *(Platform(name, processor=processor, registers=registers, needs=needs)
      for name, (processor, registers, needs) in X86.items()),
    Platform("aarch64", "newest", "3.11", "arm64"),
    Platform("lowest", "lowest", "3.11"),
    Platform("newest", "newest", "3.11"),
    *(Platform(f"python{version}", "newest", version) for version in ("3.12", "3.13", "3.14")))


@dataclass
class Found:
    """What one platform gave; `failure` is why it gave no more."""

    about: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0
    failure: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 all agree, 1 one differs or could not be run, 2 a mistake of the user."""
    return exit_code(lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    known = {platform.name: platform for platform in PLATFORMS}
    parser = Parser(prog="benchmarks/platforms.py", allow_abbrev=False, description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", metavar="PLATFORM", nargs="+", choices=known, help="platforms to run, by name (all)")
    parser.add_argument("--config", metavar="NAME", action="append", dest="configs", choices=CONFIGS,
                        help="one or several (thirteen)")
    parser.add_argument("--pin", action="store_true", help=f"write {PINNED.name} again, from this machine's row")
    args = parser.parse_args(argv)
    if args.pin and (args.only or args.configs):
        parser.error("--pin: all configurations are pinned, from the row here")
    chosen = [known[name] for name in (["here"] if args.pin else args.only or known)]
    pinned: Hashes = {} if args.pin else json.loads(PINNED.read_text("utf-8"))
    results = {}
    names = "".join(f"{name:{width}}" for name, width in COLUMNS.items())
    print(f"{'platform':12}{names}{'seconds':>7}  configurations")
    for platform in chosen:
        results[platform.name] = found = run(platform, args.configs or CONFIGS)
        print(row(platform.name, found, pinned), flush=True)
    if args.pin and not results["here"].failure:
        PINNED.write_text(json.dumps(results["here"].hashes, indent=1) + "\n", "utf-8")
    return FAILED if any(found.failure or differing(found.hashes, pinned) for found in results.values()) else OK


# --- one platform ----------------------------------------------------------------------------------------------------

def run(platform: Platform, configs: Sequence[str]) -> Found:
    """The hashes of each configuration, as far as the platform came."""
    began, folder = time.monotonic(), KEPT / platform.name
    try:
        command, path = prepared(platform, folder)
        found = stepped([*command, str(CHILD), str(TICKS), *configs], environment(path, variables(platform, folder)), folder)
    except (ChildError, OSError) as error:
        found = Found(failure=str(error))
    used = found.about.get("registers", "")
    if not found.failure and platform.registers not in ("", used):
        found.failure = f"its code has {used or 'none of the known registers'}, not {platform.registers}"
    found.seconds = time.monotonic() - began
    return found


def prepared(platform: Platform, folder: Path) -> tuple[list[str], list[Path]]:
    """The command of a Python, and the folders from which it imports. Raises ChildError."""
    if platform.needs and not has(platform.needs):
        raise ChildError(f"this processor has no {platform.needs}")
    if not platform.versions:
        return [sys.executable], [ROOT]
    is_own, wheels = platform.architecture == own_architecture(), folder / "wheels"
    command = python_of(platform.python, folder) if is_own else debian_python(platform.python, platform.architecture, folder)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    shutil.rmtree(wheels, ignore_errors=True)
    other = [] if is_own else [f"--platform=manylinux_2_{minor}_{PROCESSORS[platform.architecture]}" for minor in GLIBC]
    output_of([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore",
               f"--target={wheels}", "--only-binary=:all:", "--implementation=cp", f"--python-version={platform.python}",
               *other, *requirements(declared, platform.versions)], "pip")
    return [*command, "-S"], [wheels, ROOT]  # without the packages that are installed there


def has(needed: str) -> bool:
    simd = machine()["simd"]
    return simd in WIDER[:WIDER.index(needed) + 1]


def requirements(declared: Sequence[str], versions: str) -> list[str]:
    """What a simulation without a window needs, in the newest or the lowest versions that are declared."""
    needed = [each for each in declared if not each.startswith("pygame")]
    return [re.sub(r">=([^,]*).*", r"==\1", each) for each in needed] if versions == "lowest" else needed


def variables(platform: Platform, folder: Path) -> dict[str, str]:
    """Environment variables; the kernel cache is emptied, so that the platform compiles everything."""
    cache = folder / "kernels"
    shutil.rmtree(cache, ignore_errors=True)
    numba = {"NUMBA_CPU_NAME": platform.processor, "NUMBA_CPU_FEATURES": ""} if platform.processor else {}
    return {"CROWD_DEMO_CACHE": str(cache), **numba}


def stepped(command: Sequence[str], variables: dict[str, str], folder: Path) -> Found:
    """Run the child; what it printed counts also where it failed later."""
    folder.mkdir(parents=True, exist_ok=True)
    printed, errors, found = folder / "printed.jsonl", folder / "errors.txt", Found()
    try:
        with printed.open("w", encoding="utf-8") as out, errors.open("w", encoding="utf-8") as err:
            code = subprocess.run(command, env=variables, cwd=folder, stdout=out, stderr=err, timeout=LIMIT_S).returncode
        if code:
            found.failure = f"{last_line(errors.read_text('utf-8', 'replace'))} (exit code {code})"
    except subprocess.TimeoutExpired:
        found.failure = f"it took more than {LIMIT_S} s"
    for line in printed.read_text("utf-8").splitlines():
        with suppress(ValueError):  # an unfinished line counts as none
            told = json.loads(line)
            if "config" in told:
                found.hashes[told["config"]] = told["hashes"]
            else:
                found.about |= told
    return found


# --- the table -------------------------------------------------------------------------------------------------------

def differing(hashes: Hashes, pinned: Hashes) -> dict[str, int]:
    """The first tick that differs of each configuration that does."""
    firsts = {}
    for config in hashes.keys() & pinned.keys():
        pairs = enumerate(zip(hashes[config], pinned[config], strict=True), 1)
        firsts[config] = next((tick for tick, (ours, theirs) in pairs if ours != theirs), 0)
    return {config: tick for config, tick in sorted(firsts.items()) if tick}


def verdict(found: Found, pinned: Hashes) -> str:
    """What the platform gave: agreed, differs (where), or could not be run (why)."""
    parts = []
    if wrong := differing(found.hashes, pinned):
        parts.append("DIFFERS: " + ", ".join(f"{config} from tick {tick}" for config, tick in wrong.items()))
    if agreed := len(found.hashes.keys() & pinned.keys()) - len(wrong):
        parts.append(f"{agreed} agree")
    if found.failure:
        parts.append(f"could not be run{' further' if found.hashes else ''}: {found.failure}")
    return "; ".join(parts) or "pinned"


COLUMNS = {"machine": 9, "processor": 16, "registers": 10, "python": 9, "numba": 9, "numpy": 9}


def row(name: str, found: Found, pinned: Hashes) -> str:
    about = "".join(f"{found.about.get(key, '') or '-':{width}}" for key, width in COLUMNS.items())
    return f"{name:12}{about}{found.seconds:7.0f}  {verdict(found, pinned)}"


if __name__ == "__main__":
    sys.exit(main())
