"""Every module can be imported alone. That nothing imports upwards or in a circle, import-linter checks (pyproject.toml)."""

from __future__ import annotations

import multiprocessing
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import crowd_demo

ROOT = Path(__file__).parents[1]
OTHERS = ["numpy", "numba", "pygame", "pydantic", "yaml"]  # imported once; whatever is ours is imported anew
AT_ONCE = 2
ALONE = "import sys\nassert 'crowd_demo' not in sys.modules\n"

PARSER = """
import contextlib, io, sys
from crowd_demo.cli import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main(["--help"])
print(sorted({"numba", "pygame", "numpy"} & set(sys.modules)))
"""


def modules() -> list[str]:
    """All of the package but the one that runs the program when it is imported."""
    found = pkgutil.walk_packages(crowd_demo.__path__, f"{crowd_demo.__name__}.")
    return [module.name for module in found if not module.name.endswith("__main__")]


def test_every_module_can_be_imported_alone() -> None:
    """Each in an interpreter that has imported none of them: forked from a server, or started anew where there is no fork."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(OTHERS)
    names = modules()
    with context.Pool(AT_ONCE, maxtasksperchild=1) as pool:
        results = [(name, pool.apply_async(exec, (f"{ALONE}import {name}",))) for name in names]
        failed = {}
        for name, result in results:
            try:
                result.get(120)
            except Exception as error:
                failed[name] = repr(error)
    assert len(names) > 100 and failed == {}


@pytest.mark.quick
def test_the_command_line_starts_without_what_takes_long_to_import() -> None:
    done = subprocess.run([sys.executable, "-c", PARSER], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"
