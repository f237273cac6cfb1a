"""Where the program's own files are: `configs/`, `tours/`, `assets/` and the shipped maps, however it was installed.

A wheel carries them as `crowd_demo/_data/`; an sdist and an editable install have them beside the package.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote_to_bytes

from crowd_demo.config.memory import read_bounded
from crowd_demo.config.section import close_to
from crowd_demo.registry.plugins import installed
from crowd_demo.registry.texts import printable

PACKAGE = Path(__file__).resolve().parent.parent
MAP_SUFFIXES = (".map", ".png", ".wkt", ".json", ".geojson", ".dxf", ".txt", ".csv", ".sqlite")
SUFFIXES = (".yaml", ".yml")
HEAD_BYTES = 4096  # of a file, in which its first comments stand
NOTES = WATCH, TRY = "Watch:", "Try:"  # how the other comments begin


def data_folder() -> Path:
    packed = PACKAGE / "_data"
    return packed if packed.is_dir() else PACKAGE.parent


def assets_folder() -> Path:
    return data_folder() / "assets"


def list_configs() -> dict[str, Path]:
    """Shipped configurations by name, in the order of their size, and then those of plugins."""
    folders = data_folder() / "configs", *(each.plugin.scenarios for each in installed() if each.plugin.scenarios)
    found: dict[str, Path] = {}
    for folder in folders:
        found |= {name: path for name, path in _yaml_files(folder).items() if name not in found}
    return found


def _yaml_files(folder: Path) -> dict[str, Path]:
    """The files of a folder by name, in the order of their size; of `NAME.yaml` and `NAME.yml` the first."""
    paths = (path for suffix in reversed(SUFFIXES) for path in folder.glob(f"*{suffix}"))
    return {path.stem: path for path in sorted(paths, key=lambda path: _by_number(path.stem))}


def own_files(folder: str, shipped: Iterable[Path]) -> dict[str, Path]:
    """The user's own files of a folder of the working folder by name; those that are shipped, and copies, do not count."""
    known = {path.stem: path for path in shipped}
    try:
        return {name: path for name, path in _yaml_files(Path(folder)).items()
                if _exists(path) and not (name in known and same_file(path, known[name]))}
    except OSError:
        return {}


def about(path: Path) -> str:
    """A file's description: its first comment that is not meant for an editor."""
    return next((comment for comment in _comments(path) if not comment.startswith(NOTES)), "")


def note_of(path: Path, begin: str) -> str:
    """Return the text of the comment `# Watch: ...` or `# Try: ACTION, ...`."""
    return next((comment.removeprefix(begin).strip() for comment in _comments(path) if comment.startswith(begin)), "")


def _comments(path: Path) -> list[str]:
    """The comments at the beginning of the lines, but for an editor's; none of what cannot be read."""
    try:
        text = read_bounded(path, HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    return [printable(line[2:].strip()) for line in text.splitlines() if line.startswith("# ") and "yaml-language" not in line]


def list_tours() -> dict[str, Path]:
    return _yaml_files(data_folder() / "tours")


def picture_of(config: Path) -> Path | None:
    """A configuration's picture: a PNG of its name beside it, or in `../assets/scenarios`, as in this repository."""
    places = config.with_suffix(".png"), config.resolve().parent.parent / "assets/scenarios" / f"{config.stem}.png"
    return next((path for path in places if _exists(path)), None)


def list_maps() -> dict[str, Path]:
    return {path.stem: path for path in sorted((assets_folder() / "maps").glob("*.map"))}


def find_config(name: str | Path) -> Path:
    """A path, then `./configs`, then the shipped ones; `.yaml` and `.yml` may be left out. Raises ValueError."""
    return _find(name, "configs", list_configs(), "configuration")


def find_tour(name: str | Path) -> Path:
    """The same for a tour and `./tours`."""
    return _find(name, "tours", list_tours(), "tour")


def without_suffix(name: str) -> str:
    return name.removesuffix(".yaml").removesuffix(".yml")


def _find(name: str | Path, own_folder: str, shipped: Mapping[str, Path], what: str) -> Path:
    for folder in (Path(), Path(own_folder)):
        for path in (folder / path_of(str(name)), *(folder / f"{name}{suffix}" for suffix in SUFFIXES)):
            if _exists(path):
                return path
    stem = without_suffix(str(name))
    if stem in shipped:
        return shipped[stem]
    names = [*shipped, *own_files(own_folder, shipped.values())]
    meant = close_to(Path(stem).name, names) or f" (there are: {', '.join(names)})"
    raise ValueError(f"no such file, nor a shipped {what}{meant}")


def find_map(name: str, base: Path | None = None) -> Path:
    """A shipped name, or a file of MAP_SUFFIXES relative to `base`, then to the working folder. Raises ValueError."""
    shipped = list_maps()
    if name in shipped:
        return shipped[name]
    if Path(name).suffix.lower() in MAP_SUFFIXES and (found := beside(name, base, assets_folder() / "maps")):
        return found
    names = ", ".join(shipped) or "none"
    kinds = ", ".join(MAP_SUFFIXES)
    raise ValueError(f"{name!r} is neither a file ({kinds}) nor a shipped map ({names})" + close_to(name, shipped))


def beside(name: str, *folders: Path | None) -> Path | None:
    """A file relative to one of these folders, None being left out, or to the working folder."""
    paths = (folder / path_of(name) for folder in (*filter(None, folders), Path()))
    return next((path.resolve() for path in paths if _exists(path)), None)


def text_of(path: Path) -> str:
    """Return a path as the text of a configuration: a `file:` URI if its name is not UTF-8, as Linux permits."""
    text = str(path)
    return text if text.encode("utf-8", "replace").decode() == text else path.absolute().as_uri()


def path_of(text: str) -> Path:
    """Return the path that `text_of` has made a text."""
    return Path(os.fsdecode(unquote_to_bytes(text[7:])) if text.startswith("file://") else text)


def same_file(one: Path, other: Path) -> bool:
    """Return whether they are one file, or copies, as in a checkout from which the program was installed."""
    try:
        return one.resolve() == other.resolve() or filecmp.cmp(one, other, shallow=False)
    except OSError:  # one cannot be read
        return False


def _exists(path: Path) -> bool:
    """Return whether there is a file, or something that reading refuses, such as a device. Folders do not count."""
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _by_number(name: str) -> tuple[int, str]:
    """1k, 5k, 20k, ..., 1m; then the names without a number."""
    digits = name[:len(name) - len(name.lstrip("0123456789"))]
    scale = {"k": 1_000, "m": 1_000_000}.get(name[len(digits):][:1], 1)
    return (int(digits) * scale if digits else 2**62, name)
