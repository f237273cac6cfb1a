"""What is used of Numba: private names and settings."""

from __future__ import annotations

import ast
import ctypes
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import PackagePath
from pathlib import Path

import pytest

from crowd_demo.compute import jit, numba_plain, workers
from crowd_demo.compute.arrays import Longs
from crowd_demo.compute.jit import device, kernel

ROOT = Path(__file__).parents[2]
private = pytest.mark.skipif(jit.compiler is numba_plain, reason="compiled without private names")


# --- without them ----------------------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np
{before}
from crowd_demo.compute import jit
from crowd_demo.compute.dispatch import generic, implements
from crowd_demo.compute.jit import launch, device, kernel

@generic
def added(rules, number): ...

@implements(added, object)
def added_seven(rules, number):
    return number + 7

@device
def sum_of(numbers):
    total = 0
    for number in numbers:
        total = added(total, number) + total
    return total

@kernel
def add(worker, workers, numbers, sums):
    sums[worker] = sum_of(numbers[worker])

sums = np.zeros(3, np.int64)
one = launch(add, 3, np.arange(6).reshape(3, 2), sums)
kept = jit.is_on_disk(one)
jit.compile_launches([one])
one.run()
print(sums.tolist(), jit.compiler.__name__.split("_")[-1], kept, jit.is_on_disk(one), one.compiled.stats.cache_hits.total())
"""
GONE = {
    "an import": "import numba.core.typed_passes as m; del m.NativeLowering",
    "an attribute": "import numba\nfor c in numba.njit(lambda: None).targetdescr.options.__mro__:\n"
                    "    if '_nrt' in vars(c): del c._nrt",
    "a tested version": "import numba; numba.version_info = numba.version_info._replace(short=(0, 69))",
    "the pool": "from llvmlite import binding; binding.address_of_symbol = lambda name: None",
}
SUMS = "[15, 19, 23]"


@pytest.mark.parametrize("gone", GONE)
def test_what_is_missing_is_said_and_done_without(run, gone: str) -> None:
    done = run(PROGRAM.format(before=GONE[gone]), CROWD_DEMO_PLAIN_NUMBA="")
    (said,) = done.stderr.splitlines()
    assert said.startswith("crowd-demo: kernels take longer to compile with this version of Numba: ") and "/" not in said
    assert done.stdout == f"{SUMS} plain False True 0\n"


@pytest.mark.parametrize(("asked_for", "way"), [("", "private"), ("1", "plain")])
def test_either_way_may_be_chosen_and_is_loaded_by_a_second_start(run, asked_for: str, way: str) -> None:
    program = PROGRAM.format(before="")
    for kept, loaded in ((False, 0), (True, 1)):
        done = run(program, CROWD_DEMO_PLAIN_NUMBA=asked_for)
        assert (done.stdout, done.stderr) == (f"{SUMS} {way} {kept} True {loaded}\n", "")


# --- where they stand ------------------------------------------------------------------------------------------------

PACKAGE = ROOT / "crowd_demo"


def private_names(path: Path) -> set[str]:
    """Names with an underscore that are imported from Numba and llvmlite, or that belong to another object than `self`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.ImportFrom(module=module) if module and module.split(".")[0] in ("numba", "llvmlite"):
                found |= {alias.name for alias in node.names}
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name):
                found.add(name)
    return {name for name in found if re.match("_[a-z]", name, re.IGNORECASE)}


@pytest.mark.quick
def test_private_names_of_numba_stand_in_one_file_with_what_each_is_for() -> None:
    module = PACKAGE / "compute/numba_private.py"
    others = {*(PACKAGE / "compute").glob("*.py"), PACKAGE / "sprites/pixels.py"} - {module}
    assert {path.name: names for path in others if (names := private_names(path) - {"_fields"})} == {}
    table = set(re.findall(r'^    \(.*?, "(_\w+)", ".+"\),$', module.read_text("utf-8"), re.MULTILINE))
    assert private_names(module) - {"_replace"} <= table and len(table) > 10


@pytest.mark.quick
def test_names_that_llvmlite_removes_and_addresses_made_of_integers_stand_nowhere() -> None:
    sources = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    assert re.findall(r"\.pointee|\.as_pointer|\binttoptr", sources) == []


@pytest.mark.quick
def test_private_names_are_used_with_the_versions_that_may_be_installed() -> None:
    from crowd_demo.compute.numba_private import TESTED

    (wanted,) = (text for text in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
                 if text.startswith("numba"))
    (first, last) = TESTED
    assert wanted == f"numba>={first[0]}.{first[1]},<{last[0]}.{last[1] + 1}"


# --- what they give --------------------------------------------------------------------------------------------------

@device
def scaled(number: int, by: int) -> int:
    return number * by


@kernel
def scale_all(worker: int, workers: int, numbers: Longs, by: int) -> None:
    for k in range(worker, len(numbers), workers):
        numbers[k] = scaled(numbers[k], 2) + scaled(numbers[k], 3) + scaled(numbers[k], by)


NO_REFERENCES = """
import numpy as np
from crowd_demo.compute.jit import launch, device, kernel

@device
def first(x):
    return x[0]

@kernel
def fill(worker, workers, records):
    for x in records:
        x[1:] = first(x)

one = launch(fill, 1, (np.arange(9.0), np.arange(9.0)))
one.run()
print(*one.compiled.inspect_llvm().values())
"""


def test_kernels_count_no_references(run) -> None:
    """Counting took half the time of a loop whose body reads arrays out of a record."""
    code = run(NO_REFERENCES).stdout
    assert "fill" in code and "NRT_incref" not in code


# --- what is kept on disk --------------------------------------------------------------------------------------------

SHARED = """
from crowd_demo.compute.jit import device, kernel
from numba.core import event

def adding(number):
    @device
    def add(x):
        return x + number
    return add

add_one, add_ten = adding(1.0), adding(10.0)

@device
def up(x):
    print("up", x)
    return add_one(x)

@device
def same(x):
    return x

def tell(kernel):
    with event.install_recorder("numba:compile") as recorder:
        kernel(1, x := np.arange(2.0))
    print(x.tolist(), *(each.data["dispatcher"].py_func.__name__ for _, each in recorder.buffer if each.is_start))
"""
FIRST = """
from shared import *

@kernel
def once(worker, workers, x):
    for k in range(len(x)):
        x[k] = up(x[k])

tell(once)
"""
SECOND = """
from shared import *

@kernel
def then(worker, workers, x):
    for k in range(len(x)):
        x[k] = add_ten(same(up(x[k])))

tell(then)
"""


@pytest.fixture
def tell(run, tmp_path: Path) -> Callable[[str], list[str]]:
    """What a program prints that shares functions and a cache with others."""
    (tmp_path / "shared.py").write_text("import numpy as np\n" + SHARED, "utf-8")
    return lambda program: run(program).stdout.splitlines()


@private
def test_another_kernel_calls_what_was_compiled_for_the_first(tell: Callable[[str], list[str]]) -> None:
    """Also in another process: `add` has a code of its own for each number, although both have the same name."""
    *printed, last = tell(FIRST)
    assert printed == ["up 0.0", "up 1.0"] and last == "[1.0, 2.0] once once up add"
    *printed, last = tell(SECOND)
    assert printed == ["up 0.0", "up 1.0"] and last == "[11.0, 12.0] then then same add"


@private
def test_what_is_damaged_is_compiled_again(tell: Callable[[str], list[str]], tmp_path: Path) -> None:
    tell(FIRST)
    (kept,) = (tmp_path / "kernels").rglob("shared.up-*.nbc")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert tell(SECOND)[-1] == "[11.0, 12.0] then then up add same add"


BOUNDING = """
import sys
import numpy as np
from crowd_demo.compute.jit import device, kernel

@device
def bounded(number):
    return min(max(number, 2), 5)

@kernel
def bound(worker, workers, numbers):
    for k in range(worker, len(numbers), workers):
        numbers[k] = bounded(numbers[k])

numbers = np.arange(8)
bound(2, numbers)
print(numbers.tolist(), "compiled" if "numba.np.linalg" in sys.modules else "loaded")
"""
INTERMEDIATE_CODE = b"BC\xc0\xde"  # how LLVM's begins


@private
def test_a_kernel_is_loaded_without_what_only_compiling_needs(run, tmp_path: Path) -> None:
    said = [run(BOUNDING).stdout for _ in range(2)]
    assert said == ["[2, 2, 2, 3, 4, 5, 5, 5] compiled\n", "[2, 2, 2, 3, 4, 5, 5, 5] loaded\n"]
    kept = {path.name.split("-")[0].split(".")[-1]: path.read_bytes() for path in (tmp_path / "kernels").rglob("*.nbc")}
    of_numba = {"impl"}  # its `min` and `max`, in newer versions: compiled like any function that kernels call
    assert kept.keys() - of_numba == {"bound", "bounded"} and INTERMEDIATE_CODE not in kept["bound"]


# --- Settings with which Numba does not start are one line; TBB's library is loaded unless another layer  ------------

COMMAND = [sys.executable, "-m", "crowd_demo", "--config", "1k", "--headless", "--frames", "1"]


@pytest.mark.parametrize(("name", "value", "why"), [
    ("THREADING_LAYER", "thread", "The threading layer requested 'thread' is unknown to Numba."),
    ("NUM_THREADS", "0", "Number of threads specified must be > 0."),
    ("NUM_THREADS", "100000", "NUMBA_NUM_THREADS must be at most 1024, not 100000"),
    ("DISABLE_JIT", "1", "kernels have to be compiled: NUMBA_DISABLE_JIT must be 0"),
    ("OPT", "9", "Environment variable 'NUMBA_OPT' is defined but its associated value '9' could not be parsed."),
    ("CPU_FEATURES", "avx2", "NUMBA_CPU_FEATURES must be like +avx2,-fma, not 'avx2'")])
def test_a_setting_with_which_numba_does_not_start_is_one_line(name: str, value: str, why: str) -> None:
    environment = {key: text for key, text in os.environ.items() if not key.startswith("NUMBA_")}
    done = subprocess.run(COMMAND, env={**environment, f"NUMBA_{name}": value}, capture_output=True, encoding="utf-8")
    said = f"crowd-demo: Numba does not start with NUMBA_{name}={value}: {why}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


@pytest.mark.quick
@pytest.mark.parametrize(("layer", "loaded"), [
    (None, True), ("tbb", True), ("safe", True), ("omp", False), ("workqueue", False)])
def test_tbb_is_loaded_unless_another_layer_is_asked_for(
        layer: str | None, loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(workers, "files", lambda _: [Library("lib/LICENSE"), Library(f"lib/{workers.LIBRARIES[0]}")])
    monkeypatch.setattr(ctypes, "CDLL", lambda path, mode: seen.append(path))
    monkeypatch.delenv("NUMBA_THREADING_LAYER", raising=False)
    if layer:
        monkeypatch.setenv("NUMBA_THREADING_LAYER", layer)
    assert workers.load_tbb() == loaded
    assert seen == [f"lib/{workers.LIBRARIES[0]}"] * loaded


class Library(PackagePath):
    """A file of an installed distribution."""

    def locate(self) -> Path:
        return Path(self)
