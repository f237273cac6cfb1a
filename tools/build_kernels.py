"""Build the distribution `crowd-demo-kernels`, a wheel: `python tools/build_kernels.py [--out dist]`, some minutes.

It carries machine code of the program's kernels for levels of x86-64 processors, for the minor version of Python that runs
this, and pins the versions of Numba, llvmlite and NumPy that are installed here. In it are the kernels of all shipped
configurations with their pictures, of each single other choice of a technique, and of all colours; whatever else a run needs
is compiled. When the program uses them: docs/design/cold-start.md.

Build it with the released sources, on a processor that has the levels, since listing kernels runs some, and without plugins.
"""

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.metadata import distribution, version
from pathlib import Path

from crowd_demo.compute import cache
from crowd_demo.config.resources import list_configs
from crowd_demo.registry import plugins
from crowd_demo.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PINNED = "numba", "llvmlite", "numpy"
MACHINE_CODE = "*.kernel.*.nbc"  # the files of a cache that are not intermediate code (compute/numba_private.py)
ABOUT = """Machine code of the kernels of `crowd-demo` for processors with AVX2 or AVX-512 (x86-64-v3 and v4), so that its
first start is as quick as later ones: `pip install "crowd-demo[kernels]"`. Where it does not fit, kernels are compiled as
without it.
"""


def build(out: Path, levels: Sequence[str], configs: Sequence[str], steps_only: bool = False) -> Path:
    """Compile for each level, in a process of its own, and write the wheel; return its path. Raises SystemExit."""
    if plugins.sources():
        raise SystemExit("there are plugins, of which kernels would depend: build in an environment without them")
    if missing := [level for level in levels if level not in cache.levels()]:
        raise SystemExit(f"this processor, with the variables NUMBA_... as they are, does not have {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        # Numba is told the level's name, and no features beyond what it stands for: that is the key of an installed kernel.
        started = [subprocess.Popen(
            [sys.executable, __file__, "--compile", *["--steps-only"] * steps_only, *configs], stdout=subprocess.PIPE,
            encoding="utf-8", env={**os.environ, "CROWD_DEMO_CACHE": str(Path(folder) / level),
                                   "CROWD_DEMO_KERNELS": cache.NONE, "CROWD_DEMO_PLAIN_NUMBA": "", "NUMBA_CPU_NAME": level,
                                   "NUMBA_CPU_FEATURES": ""}) for level in levels]
        printed = [process.communicate()[0] for process in started]
        if any(process.returncode for process in started):
            raise SystemExit("kernels could not be compiled")
        (of,) = {text.split()[-1] for text in printed}  # all of them have compiled the same sources
        roots = [root for level in levels for root in (Path(folder) / level).iterdir()]
        kernels = {f"{cache.INSTALLED}/{of}/{path.relative_to(root).as_posix()}": path.read_bytes()
                   for root in roots for path in sorted(root.rglob(MACHINE_CODE))}
        return write_wheel(out, kernels)


def compile_all(configs: Sequence[str], steps_only: bool) -> None:
    """Compile into the cache what these configurations need; print the fingerprint of the code."""
    from crowd_demo.compute.jit import compile_launches
    from crowd_demo.config.loader import load_config
    from crowd_demo.host.compiling.ahead import KernelFinder

    for name in configs:
        config = load_config(name)
        ahead = KernelFinder(config, render=not steps_only)
        compile_launches(ahead.missing(config.optimizations))
        if not steps_only:
            compile_launches(ahead.missing_anywhere(config.optimizations))
        print(f"{os.environ['NUMBA_CPU_NAME']}: {name}", file=sys.stderr, flush=True)
    print(cache.portable_fingerprint())


def write_wheel(out: Path, kernels: dict[str, bytes]) -> Path:
    """Write a wheel of these files, by path, for this version of Python and the platforms of the installed llvmlite."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tags = [line.partition(" ")[2] for line in (distribution("llvmlite").read_text("WHEEL") or "").splitlines()
            if line.startswith("Tag: ")]
    platforms = sorted({tag.split("-")[2] for tag in tags})
    abi = f"{python}{getattr(sys, 'abiflags', '')}"
    about = ["Metadata-Version: 2.1", "Name: crowd-demo-kernels", f"Version: {__version__}",
             "Summary: Compiled kernels of crowd-demo", "License: MIT",
             f"Requires-Python: =={sys.version_info[0]}.{sys.version_info[1]}.*", f"Requires-Dist: crowd-demo=={__version__}",
             *(f"Requires-Dist: {name}=={version(name)}" for name in PINNED), "Description-Content-Type: text/markdown"]
    wheel = ["Wheel-Version: 1.0", "Generator: tools/build_kernels.py", "Root-Is-Purelib: false",
             *(f"Tag: {python}-{abi}-{platform}" for platform in platforms)]
    info = f"{cache.INSTALLED}-{__version__}.dist-info"
    files = {f"{cache.INSTALLED}/__init__.py": b'"""Compiled kernels of crowd-demo, which reads them itself."""\n', **kernels,
             f"{info}/METADATA": "\n".join([*about, "", ABOUT]).encode(), f"{info}/WHEEL": "\n".join([*wheel, ""]).encode(),
             f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes()}
    hashes = {name: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode() for name, content in files.items()}
    record = [f"{name},sha256={hashes[name].rstrip('=')},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{cache.INSTALLED}-{__version__}-{python}-{abi}-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)  # of 1980: a wheel of the same files is the same
            member.external_attr = 0o644 << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("configs", nargs="*", help="names or files of configurations; all shipped ones by default")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the wheel")
    parser.add_argument("--level", choices=list(cache.LEVELS), action="append", help="one level only; may be repeated")
    parser.add_argument("--steps-only", action="store_true", help="only what a step needs, without pictures and other choices")
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    configs = asked.configs or list(list_configs())
    if asked.compile:
        compile_all(configs, asked.steps_only)
        return 0
    path = build(asked.out, asked.level or list(cache.LEVELS), configs, asked.steps_only)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
