"""What all tests share. No window is opened but by tests/window, and no example has a deadline: the first one compiles.
A property has 40 examples, or as many as CROWD_DEMO_EXAMPLES says, unless it asks for another number.

Nobody's preferences are read or written. What a test leaves is freed after its module: a program that is left is a cycle, and
its worker's thread, which never ends, would keep an arena of glibc's with all that was freed in it.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ["CROWD_DEMO_PREFERENCES"] = ""  # whoever runs the tests has their own

import pytest
from crowds import CROWDS, Settings
from hypothesis import settings

from crowd_demo.cli import main
from crowd_demo.compute.cache import has_room, is_empty
from crowd_demo.host.system import free_cycles

M_ARENA_MAX = -8
with suppress(AttributeError, OSError, TypeError):  # another C library; Windows
    ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)

settings.register_profile("crowd-demo", deadline=None, max_examples=int(os.environ.get("CROWD_DEMO_EXAMPLES", "40")))
settings.load_profile("crowd-demo")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile what most tests need on all cores, once: the processes of xdist would compile the same side by side."""
    config = session.config
    if getattr(config.option, "numprocesses", 0) and not hasattr(config, "workerinput") and has_room() and is_empty():
        subprocess.run([sys.executable, "-m", "crowd_demo", "--config", "1k", "--headless", "--frames", "1"],
                       capture_output=True, check=True)


@pytest.fixture(autouse=True, scope="module")
def memory() -> Iterator[None]:
    yield
    free_cycles()


@pytest.fixture(scope="module", params=list(CROWDS))
def crowd(request: pytest.FixtureRequest) -> Settings:
    """The settings of a small crowd of each behaviour."""
    return CROWDS[request.param]


@pytest.fixture
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def errors_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """Lines on stderr of a command that ends with exit code 2 and prints nothing else."""
    def errors_of(*args: str) -> list[str]:
        code: object
        try:
            code = main(args)
        except SystemExit as leaving:
            code = leaving.code
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        return err.splitlines()

    return errors_of
