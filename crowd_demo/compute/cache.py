"""Compiled kernels on disk: where they are kept, and what happens when that folder fails. Imports no compiler.

There are two folders: the user's own, and one that the distribution `crowd-demo-kernels` may have brought. That one
holds kernels compiled for a level of processors; it is only read, and what is not in it is compiled. Kernels are
pickles, so the user's folder is made for this user alone, and is not used where others can write to it.

A kernel has a file for each signature, found by a hash of all that its code depends on. The file begins with a checksum of
the rest, since a bit that flips in machine code crashes the program or, worse, does not. A file that cannot be read counts as
missing: the kernel is compiled and the file written anew. Without room or permission kernels are compiled and not kept. Each
of these is said once. Files are written completely or not at all, so any number of processes may share the folder.

Compiled code depends on sources, versions, settings and the processor, of which there are two fingerprints. That of
this machine names the folder of what is compiled here, for exactly this processor. The portable one names the folder
of kernels that were compiled elsewhere for a level of x86-64 processors: it leaves out the processor, which only has
to have the level, and the last digits of Python's version, on which no machine code depends.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import platform
import re
import stat
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from itertools import dropwhile
from pathlib import Path
from types import FunctionType

from crowd_demo.registry import plugins
from crowd_demo.registry.texts import reason, say_once, was_said

INSTALLED = "crowd_demo_kernels"  # the package of the distribution that brings kernels
KERNEL_FILES = "*.nbc"
CHECKSUM_BYTES = 16
NOT_KEPT = "not kept"  # a topic of what is said once
ROOM_BYTES = 1 << 20  # at least this much must fit into the folder: a large kernel
LEFT_S = 86_400.0  # so old, an unfinished file was left
PACKAGE = Path(__file__).parents[1]
COMPILED = b"@device", b"@formula", b"@kernel", b"@implements", b"@intrinsic"  # what makes code of a function
NO_CODE = "THREAD|CACHE|CUDA"  # settings of Numba that change no code; new ones count
PROCESSOR = "CPU_NAME", "CPU_FEATURES"  # Numba's settings of the processor that it compiles for
# The levels of the ABI of x86-64, by LLVM's names of processors and features, the highest first.
V3 = frozenset(("cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx", "avx2", "bmi", "bmi2", "f16c", "fma",
                "lzcnt", "movbe", "xsave"))
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS = {"x86-64-v4": V4, "x86-64-v3": V3}
NONE = "none"


# --- the folder ------------------------------------------------------------------------------------------------------

def user_cache() -> Path:
    """The folder for all versions, absolute; an empty variable counts as unset. Raises RuntimeError where there is no home."""
    if chosen := os.environ.get("CROWD_DEMO_CACHE"):
        return Path(chosen).absolute()
    if platform.system() == "Windows":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local").absolute() / "crowd-demo"
    if platform.system() == "Darwin":
        return _home() / "Library" / "Caches" / "crowd-demo"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache").absolute() / "crowd-demo"


def _home() -> Path:
    if sys.platform != "win32" and not os.environ.get("HOME"):  # an empty HOME would be the root folder
        import pwd

        try:
            return Path(pwd.getpwuid(os.getuid()).pw_dir).absolute()
        except KeyError:
            raise RuntimeError("this user has no home folder") from None
    return Path.home().absolute()


def is_first_start() -> bool:
    """Return whether no version has kept any kernel yet, and none were installed."""
    try:
        return not _brought() and not any(user_cache().rglob(KERNEL_FILES))
    except (RuntimeError, OSError):
        return False


@functools.cache
def folder() -> Path | None:
    """The folder for this version of the kernels; None where the user has none, or other users can write. Imports Numba."""
    try:
        path = user_cache() / fingerprint()
    except RuntimeError as error:
        say_once(f"{error}; set CROWD_DEMO_CACHE to a folder for compiled kernels, or every start compiles them")
        return None
    try:
        make_private(path)
    except OSError as error:
        if not os.access(path, os.X_OK):
            say_once(f"compiled kernels cannot be kept in {path}: {reason(error)}", NOT_KEPT)
            return None
    if unsafe := _open_to_others(path):
        say_once(f"other users can write to {unsafe}, so kernels from there could be their code: every start compiles them"
                 " (chmod go-w, or set CROWD_DEMO_CACHE to a folder of your own)")
        return None
    return path


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    if not folder.exists():
        make_private(folder.parent)
        folder.mkdir(0o700, exist_ok=True)


def _open_to_others(path: Path) -> Path | None:
    """Return the folder by which other users could replace kernels, which are pickles: who writes one runs code here.

    A sticky folder such as /tmp may hold the user's own.
    """
    if sys.platform != "win32":
        for folder in (path, *path.parents):
            with suppress(OSError):
                found, own = folder.stat(), folder in (path, path.parent)
                is_open = found.st_mode & (0o022 if own else 0o002) and (folder == path or not found.st_mode & stat.S_ISVTX)
                if stat.S_ISDIR(found.st_mode) and (is_open or (own and found.st_uid not in (0, os.geteuid()))):
                    return folder
    return None


@functools.cache
def installed_folder() -> Path | None:
    """The folder of installed kernels; None if there are none, or if they are of other code or for other processors."""
    if not (brought := _brought()) or not levels():
        return None
    fitting = brought / portable_fingerprint()
    return fitting if fitting.is_dir() else None


def _brought() -> Path | None:
    """The folder of the distribution, unless what is known without the compiler rules its kernels out."""
    if plugins.sources() or asked_level() == NONE or os.environ.get("CROWD_DEMO_PLAIN_NUMBA"):
        return None
    spec = find_spec(INSTALLED)
    return Path(spec.origin).parent if spec and spec.origin else None


def is_empty() -> bool:
    """Return whether nothing has been kept of this version of the kernels, nor installed."""
    return not installed_folder() and (not (kept := folder()) or not any(kept.rglob(KERNEL_FILES)))


@functools.cache
def has_room() -> bool:
    """Return whether other processes, and later ones, will find what this one compiles."""
    if not (kept := folder()):
        return False
    try:
        with tempfile.TemporaryFile(dir=kept, buffering=0) as file:
            return file.write(bytes(ROOM_BYTES)) == ROOM_BYTES
    except OSError:
        return False


def lasts() -> bool:
    """Return whether there is room, and every kernel so far could be kept."""
    return has_room() and not was_said(NOT_KEPT)


# --- its files -------------------------------------------------------------------------------------------------------

class KernelFiles:
    """The files of one function, one for each key. A file's name is a hash of its key and of the function's source."""

    def __init__(self, folder: Path, name: str, source: object) -> None:
        self.folder, self._name, self._source = folder, name, source

    def load(self, key: object) -> object:
        """Return the entry of a key, or None. Raises ValueError, or whatever unpickling raises, for a damaged file."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        if _checksum(content[CHECKSUM_BYTES:]) != content[:CHECKSUM_BYTES]:
            raise ValueError("wrong checksum")
        found, entry = pickle.loads(content[CHECKSUM_BYTES:])
        return entry if found == (self._source, key) else None

    def holds(self, key: object) -> bool:
        return self._path(key).exists()

    def save(self, key: object, entry: object, dumps: Callable[[object], bytes] = pickle.dumps) -> None:
        """Write a file and leave none unfinished; say once if that is impossible."""
        content = dumps(((self._source, key), entry))
        path = self._path(key)
        unfinished = path.with_suffix(f".{uuid.uuid4().hex[:16]}.tmp")
        try:
            make_private(path.parent)
            for left in path.parent.glob("*.tmp"):  # by processes that were killed, as those of a window that is closed
                with suppress(OSError):
                    if time.time() - left.stat().st_mtime > LEFT_S:
                        left.unlink()
            unfinished.write_bytes(_checksum(content) + content)
            unfinished.replace(path)
        except OSError as error:
            say_once(f"compiled kernels cannot be kept in {folder()}: {reason(error)}", NOT_KEPT)
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        return self.folder / f"{self._name}.{_checksum(repr((self._source, key)).encode()).hex()}.nbc"


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()


def files_of(function: Callable[..., object], kind: str, root: Path | None) -> KernelFiles | None:
    """The files in a folder for code of some kind that is made of a function; None if it is in no file, or without a folder.

    A closure is not kept: another one of the same source may have other values.
    """
    assert isinstance(function, FunctionType)
    code = function.__code__
    source = Path(code.co_filename).absolute()
    if not root or function.__closure__ or not source.is_file():
        return None
    name = re.sub(r"[^\w.]", "", f"{source.stem}.{function.__qualname__}") + f"-{code.co_firstlineno}.{kind}"
    if source.is_relative_to(PACKAGE):  # the folder's fingerprint has its content
        return KernelFiles(root / source.relative_to(PACKAGE).parent, name, kind)
    about = source.stat()
    where = hashlib.blake2b(str(source.parent).encode(), digest_size=8).hexdigest()
    return KernelFiles(root / f"{source.parent.name}_{where}", name, (kind, about.st_mtime_ns, about.st_size))


# --- what compiled code depends on -----------------------------------------------------------------------------------

def fingerprint() -> str:
    """Hash of every source on which compiled code depends, and of the versions and settings that compile it.

    Numba notices a changed file, but not a changed callee in another file; a folder a fingerprint cannot be stale.
    """
    import numba
    import numpy

    added = [(str(path), path.read_bytes()) for path in plugins.sources()]  # all: a kernel may take a constant from any
    return _hash(_sources_hash(), added, numba.__version__, numpy.__version__, sys.version, _settings())


def portable_fingerprint() -> str:
    """Return the fingerprint of installed kernels: no plugins, no processor, only Python's minor version and ABI."""
    import llvmlite
    import numba
    import numpy

    settings = [(name, value) for name, value in _settings() if name not in PROCESSOR]
    python = sysconfig.get_config_var("EXT_SUFFIX")
    return _hash(_sources_hash(), numba.__version__, llvmlite.__version__, numpy.__version__, python, settings)


@functools.cache
def levels() -> tuple[str, ...]:
    """The levels that this processor has, the highest first; none where Numba is told of another processor."""
    import numba
    from llvmlite import binding

    has: set[str] = set()
    with suppress(RuntimeError):  # LLVM does not know the features of every system's processors
        has = {name for name, there in binding.get_host_cpu_features().items() if there}
    if any(getattr(numba.config, name) is not None for name in PROCESSOR):
        return ()
    most = asked_level()
    allowed = dropwhile(lambda level: most not in ("", level), LEVELS)  # all of them drop out of NONE
    return tuple(level for level in allowed if LEVELS[level] <= has)


def asked_level() -> str:
    """What the variable CROWD_DEMO_KERNELS says: the highest level of installed kernels, NONE, or nothing."""
    asked = os.environ.get("CROWD_DEMO_KERNELS", "")
    if asked not in ("", NONE, *LEVELS):
        say_once(f"CROWD_DEMO_KERNELS must be {', '.join(LEVELS)} or {NONE}, not {asked!r}: no installed kernels are used")
        return NONE
    return asked


def _settings() -> list[tuple[str, str]]:
    """Numba's settings (NUMBA_OPT, NUMBA_BOUNDSCHECK, ...) but those that change no code."""
    import numba

    return sorted((name, repr(value)) for name, value in vars(numba.config).items()
                  if name.isupper() and not re.search(NO_CODE, name))


@functools.cache
def _sources_hash() -> str:
    return _hash(*((path.relative_to(PACKAGE).as_posix(), source) for path, source in kernel_sources().items()))


def _hash(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def kernel_sources() -> dict[Path, bytes]:
    """All files of each folder that holds compiled code: a kernel takes constants and records from the files beside it."""
    sources = {path: path.read_bytes() for path in sorted(PACKAGE.rglob("*.py"))}
    folders = {path.parent for path, source in sources.items() if any(word in source for word in COMPILED)}
    return {path: source for path, source in sources.items() if path.parent in folders}
