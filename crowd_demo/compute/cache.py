"""Compiled kernels on disk: where they are kept, and what happens when that folder fails.

A kernel has a file for each signature, found by a hash of all that its code depends on. The file begins with a checksum of
the rest, since a bit that flips in machine code crashes the program or, worse, does not. A file that cannot be read counts as
missing: the kernel is compiled and the file written anew. Without room or permission kernels are compiled and not kept. Each
of these is said once. Files are written completely or not at all, so any number of processes may share the folder.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy
from numba.core.caching import FunctionCache, _CacheLocator, _SourceFileBackedLocatorMixin
from numba.core.serialize import dumps

from crowd_demo.compute.cache_folder import KERNEL_FILES, user_cache
from crowd_demo.compute.intermediate_code import IntermediateCodes
from crowd_demo.compute.machine_code import MachineCodes
from crowd_demo.registry import plugins

PACKAGE = Path(__file__).parents[1]
COMPILED = b"@device", b"@formula", b"@kernel", b"@implements", b"@intrinsic"  # what makes code of a function
CHECKSUM_BYTES = 16
ROOM_BYTES = 1 << 20  # at least this much must fit into the folder: a large kernel
_said: set[str] = set()


def _fingerprint() -> str:
    """Hash of every source on which compiled code depends, and of the versions and settings that compile it.

    Numba notices a changed file, but not a changed callee in another file; a folder a fingerprint cannot be stale.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path, source in kernel_sources().items():
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + source)
    for path in plugins.sources():  # all of them: a kernel may take a constant from any
        digest.update(str(path).encode() + path.read_bytes())
    digest.update(f"{numba.__version__} {numpy.__version__} {sys.version} {_settings()}".encode())
    return digest.hexdigest()


def kernel_sources() -> dict[Path, bytes]:
    """All files of each folder that holds compiled code: a kernel takes constants and records from the files beside it."""
    sources = {path: path.read_bytes() for path in sorted(PACKAGE.rglob("*.py"))}
    folders: set[Path] = set()
    for path, source in sources.items():
        if path.parent not in folders and any(word in source for word in COMPILED):
            folders.add(path.parent)
    return {path: source for path, source in sources.items() if path.parent in folders}


def _settings() -> list[tuple[str, str]]:
    """Numba's settings (NUMBA_OPT, NUMBA_BOUNDSCHECK, ...) but those that change no code; new ones of Numba's count too."""
    return sorted((name, repr(value)) for name, value in vars(numba.config).items()
                  if name.isupper() and not re.search("THREAD|CACHE|CUDA", name))


def _folder() -> Path | None:
    """The folder for this version of the kernels; None where the user has none."""
    try:
        return user_cache() / _fingerprint()
    except RuntimeError as error:
        _say_once(f"{error}; set CROWD_DEMO_CACHE to a folder for compiled kernels, or every start compiles them")
        return None


def _has_room(folder: Path | None) -> bool:
    if folder is None:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            return file.write(bytes(ROOM_BYTES)) == ROOM_BYTES
    except OSError:
        return False


def _say_once(text: str, topic: str = "") -> None:
    if (topic or text) in _said or not sys.stderr:
        return
    _said.add(topic or text)
    with suppress(OSError, ValueError):  # nobody reads it
        over_progress = "\r\x1b[K" if sys.stderr.isatty() else ""
        print(f"{over_progress}crowd-demo: {text}", file=sys.stderr, flush=True)


FOLDER = _folder()
LASTS = _has_room(FOLDER)  # whether other processes and later ones will find what this one compiles


class _InFolder(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Tells Numba the folder, without asking on each import of a kernel whether it can be written.

    The fingerprint covers the package's own sources, so neither their place nor their time matters.
    """

    def __init__(self, function: Callable[..., object], source: str) -> None:
        self._py_file, self._lineno = source, function.__code__.co_firstlineno
        self._own = Path(source).is_relative_to(PACKAGE)

    def get_source_stamp(self) -> object:
        return "fingerprint" if self._own else super().get_source_stamp()

    def get_cache_path(self) -> str:
        assert FOLDER
        if self._own:
            return str(FOLDER / Path(self._py_file).relative_to(PACKAGE).parent)
        return str(FOLDER / self.get_suitable_cache_subpath(self._py_file))

    def ensure_cache_path(self) -> None:
        """Files make it when they are written."""


class _Results(MachineCodes):
    """What is kept, and where."""

    _locator_classes = (_InFolder, *MachineCodes._locator_classes)


class _IntermediateInFolder(_InFolder):
    """The place of intermediate code: a kernel may be kept of the same function."""

    def get_source_stamp(self) -> object:
        return "intermediate", super().get_source_stamp()


class _IntermediateResults(IntermediateCodes):
    _locator_classes = (_IntermediateInFolder, *IntermediateCodes._locator_classes)


def keep(function: Callable[..., object], compiled: Any) -> None:
    """Keep on disk whatever is compiled of a function, if it is in a file."""
    if FOLDER:
        with suppress(RuntimeError):  # typed into a prompt
            compiled._cache = KernelCache(function)


def keep_intermediate(function: Callable[..., object], compiled: Any) -> None:
    """The same for what only compiled functions call. Of a closure each has its own, so it is not kept."""
    if FOLDER and not function.__closure__:
        with suppress(RuntimeError):
            compiled._cache = IntermediateCache(function)


def holds(compiled: Any, signature: object) -> bool:
    """Is there a file for this signature of a compiled function?"""
    kept = getattr(compiled, "_cache", None)
    return isinstance(kept, KernelCache) and kept.holds(signature, compiled.targetctx)


def is_empty() -> bool:
    """Has nothing been kept of this version of the kernels?"""
    return FOLDER is None or not any(FOLDER.rglob(KERNEL_FILES))


class KernelCache(FunctionCache):
    """Numba's cache of one function, with files of our own."""

    _impl_class = _Results

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self._cache_file = KernelFiles(Path(self.cache_path), self._impl.filename_base, self._impl.locator.get_source_stamp())

    def load_overload(self, sig: object, target_context: object) -> object:
        """Return the compiled function or, whatever is wrong with its file, None.

        Numba would first make its compiler ready (0.4 s), which a start that compiles nothing does not need.
        """
        try:
            return self._load_overload(sig, target_context)
        except Exception as error:
            _say_once(f"a damaged file in {self.cache_path} is compiled again, like any other ({error})", "damaged")
            return None

    def holds(self, signature: object, target_context: Any) -> bool:
        return self._cache_file.holds(self._index_key(signature, target_context.codegen()))

    def save_overload(self, sig: object, data: object) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say_once(f"compiled kernels cannot be kept in {FOLDER}: {error.strerror or error}", "not kept")


class IntermediateCache(KernelCache):
    """The same for a function that only compiled functions call."""

    _impl_class = _IntermediateResults


class KernelFiles:
    """The files of one function. Where Numba has an index beside them, a file's name here says what is in it."""

    def __init__(self, folder: Path, name: str, source_stamp: object) -> None:
        self._folder, self._name, self._stamp = folder, name, source_stamp

    def load(self, key: object) -> object:
        """Return the entry of a key, or None. Raises ValueError, or whatever unpickling raises, for a damaged file."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if _checksum(content[CHECKSUM_BYTES:]) != content[:CHECKSUM_BYTES]:
            raise ValueError("wrong checksum")
        found, entry = pickle.loads(content[CHECKSUM_BYTES:])
        return entry if found == (self._stamp, key) else None

    def holds(self, key: object) -> bool:
        return self._path(key).exists()

    def save(self, key: object, entry: object) -> None:
        """Write a file, or raise OSError and leave none."""
        content = dumps(((self._stamp, key), entry))
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{uuid.uuid4().hex[:16]}.tmp")
        try:
            unfinished.write_bytes(_checksum(content) + content)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def flush(self) -> None:
        for path in self._folder.glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        return self._folder / f"{self._name}.{_checksum(repr((self._stamp, key)).encode()).hex()}.nbc"


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()
