"""An interactive crowd of up to 32 million agents in which every data-oriented optimisation is a live switch."""

from importlib import import_module
from typing import TYPE_CHECKING

from crowd_demo.version import __version__

if TYPE_CHECKING:
    from crowd_demo.api import Simulation
    from crowd_demo.config.loader import ConfigError, load_config
    from crowd_demo.config.model import Config
    from crowd_demo.extras import ensemble

__all__ = ["Config", "ConfigError", "Simulation", "__version__", "ensemble", "load_config"]

_HOMES = {
    "Config": "crowd_demo.config.model",
    "ConfigError": "crowd_demo.config.loader",
    "Simulation": "crowd_demo.api",
    "load_config": "crowd_demo.config.loader",
}


def __getattr__(name: str) -> object:
    """Public names are imported when first used, so that `crowd-demo --help` starts at once."""
    if name == "ensemble":
        return import_module("crowd_demo.extras.ensemble")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
