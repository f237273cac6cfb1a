"""Where compiled kernels are kept, of all versions; known before the compiler is imported."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

KERNEL_FILES = "*.nbc"


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
    """Has no version kept any kernel there?"""
    try:
        return not any(user_cache().rglob(KERNEL_FILES))
    except (RuntimeError, OSError):
        return False
