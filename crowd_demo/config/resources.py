"""Where the program's own files are: `configs/`, `assets/` and the shipped maps, however it was installed.

A wheel carries them as `crowd_demo/_data/`; an sdist and an editable install have them beside the package.
"""

from __future__ import annotations

from pathlib import Path

from crowd_demo.config.explain import close_to
from crowd_demo.registry.plugins import installed

PACKAGE = Path(__file__).resolve().parent.parent
MAP_SUFFIXES = (".map", ".png")


def data_folder() -> Path:
    """The folder that holds `configs` and `assets`."""
    packed = PACKAGE / "_data"
    return packed if packed.is_dir() else PACKAGE.parent


def assets_folder() -> Path:
    return data_folder() / "assets"


def maps_folder() -> Path:
    return assets_folder() / "maps"


def list_configs() -> dict[str, Path]:
    """Shipped configurations by name, in the order of their size, and then those of plugins."""
    folders = data_folder() / "configs", *(plugin.scenarios for plugin in installed() if plugin.scenarios)
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.yaml"), key=lambda path: _by_number(path.stem)):
            found.setdefault(path.stem, path)
    return found


def about(config: Path) -> str:
    """A configuration's description: its first comment that is not meant for an editor."""
    lines = config.read_text("utf-8").split("\n")
    return next((line.lstrip("# ") for line in lines if line.startswith("# ") and "yaml-language" not in line), "")


def list_maps() -> dict[str, Path]:
    """Shipped maps by name."""
    return {path.stem: path for path in sorted(maps_folder().glob("*.map"))}


def find_config(name: str | Path) -> Path:
    """A path, then `./configs`, then the shipped ones; `.yaml` may be left out. Raises ValueError."""
    for folder in (Path(), Path("configs")):
        for path in (folder / name, folder / f"{name}.yaml"):
            if _exists(path):
                return path
    shipped, stem = list_configs(), str(name).removesuffix(".yaml")
    if stem in shipped:
        return shipped[stem]
    raise ValueError("no such file, nor a shipped configuration" + close_to(Path(stem).name, shipped))


def find_map(name: str, base: Path | None = None) -> Path:
    """A shipped name, or a .map or .png relative to `base`, then to the working folder. Raises ValueError."""
    shipped = list_maps()
    if name in shipped:
        return shipped[name]
    if Path(name).suffix.lower() in MAP_SUFFIXES:
        for folder in (base or Path(), Path(), maps_folder()):
            if _exists(folder / name):
                return (folder / name).resolve()
    names = ", ".join(shipped) or "none"
    raise ValueError(f"{name!r} is neither a .map or .png file nor a shipped map ({names})" + close_to(name, shipped))


def _exists(path: Path) -> bool:
    """Is there a file, or what reading refuses, such as a device? Folders do not count."""
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _by_number(name: str) -> tuple[int, str]:
    """1k, 5k, 20k, ..., 1m; then the names without a number."""
    digits = name[:len(name) - len(name.lstrip("0123456789"))]
    scale = {"k": 1_000, "m": 1_000_000}.get(name[len(digits):][:1], 1)
    return (int(digits) * scale if digits else 2**62, name)
