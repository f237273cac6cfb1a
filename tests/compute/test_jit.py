"""Kernels as Python calls them, and the files that define them."""

import ast
import builtins
import ctypes
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import PackagePath
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import crowd_demo
from crowd_demo.compute import dispatch, jit, numba_plain, workers
from crowd_demo.compute.arrays import Bools, Doubles, Float, Floats, Int, Ints, Longs, Mask
from crowd_demo.compute.cache import kernel_sources
from crowd_demo.compute.dispatch import formula
from crowd_demo.compute.jit import device, kernel, launch
from crowd_demo.compute.simd import LANES, select, to_int
from crowd_demo.compute.simd_memory import load, store

private = pytest.mark.skipif(jit.compiler is numba_plain, reason="compiled without private names")


class Inner(NamedTuple):
    small: Ints
    table: Floats  # [rows, columns]
    speed: np.float32


class Outer(NamedTuple):
    wanted: bool
    first: Inner
    marks: Bools
    second: Inner
    number: int


def inner_of(start: int) -> Inner:
    return Inner(np.arange(start, start + 3, dtype=np.int32),
                 np.ascontiguousarray(np.arange(start, start + 12, dtype=np.float32).reshape(3, 4)), np.float32(start + 0.25))


@kernel
def read_all(worker: int, workers: int, scale: float, record: Outer, longs: Longs, pair: tuple[Floats, Ints],
             found: Doubles) -> None:
    mine = found[worker]
    mine[0], mine[1], mine[2], mine[3] = worker, workers, scale, record.number
    mine[4], mine[5] = record.first.speed, record.second.speed
    mine[6], mine[7] = record.first.small[2], record.second.small[2]
    mine[8], mine[9] = record.first.table[2, 1], record.second.table.shape[1]
    mine[10], mine[11] = (1 if record.wanted else 0) + (2 if record.marks[1] else 0), longs[0]
    mine[12], mine[13] = pair[0][0], pair[1][0]


@pytest.mark.quick
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("wanted", [False, True])
def test_every_kind_of_argument_arrives_in_records_of_records(workers: int, wanted: bool) -> None:
    found = np.zeros((workers, 14))
    record = Outer(wanted, inner_of(10), np.array([False, True]), inner_of(50), -(2**40))
    pair = np.array([1.5], np.float32), np.array([-7], np.int32)
    launch(read_all, workers, 0.1, record, np.array([2**50]), pair, found).run()
    for worker in range(workers):
        arrived = [worker, workers, 0.1, -(2.0**40), 10.25, 50.25, 12, 52, 19, 4, 2 + wanted, 2.0**50, 1.5, -7]
        assert found[worker].tolist() == arrived


@device
def twice(x: Doubles, k: int) -> float:
    return x[k] * 2


@device
def four_times(x: Doubles, k: int) -> float:
    return twice(x, k) + twice(x, k)


@kernel
def four_times_all(worker: int, workers: int, x: Doubles) -> None:
    for k in range(len(x) * worker // workers, len(x) * (worker + 1) // workers):
        x[k] = four_times(x, k)


@pytest.mark.quick
@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_each_element_is_some_workers_share(workers: int) -> None:
    x = np.arange(50.0)
    launch(four_times_all, workers, x).run()
    np.testing.assert_array_equal(x, np.arange(50.0) * 4)


class Doubled(NamedTuple):
    values: Floats


class Plain(NamedTuple):
    values: Floats


@kernel
def add_up(worker: int, workers: int, record: tuple[Plain, int], found: Doubles) -> None:
    total = 0.0
    for k in range(record[0].values.shape[0]):
        total += record[0].values[k]
    found[0] = total * times(record[0]) + record[1]


@dispatch.generic
def times(record: Plain) -> int:
    """How often the sum counts."""
    raise NotImplementedError


@dispatch.implements(times, Plain)
def counts_once(record: Plain) -> int:
    return 1


@dispatch.implements(times, Doubled)
def counts_twice(record: Doubled) -> int:
    return 2


def test_a_kernel_is_compiled_for_each_layout_of_its_arguments_and_called_by_it() -> None:
    numbers = np.arange(1, 9, dtype=np.float32)
    fixed = numbers.copy()
    fixed.flags.writeable = False
    arrays: tuple[Any, ...] = numbers, numbers[::2], fixed, numbers.astype(np.float64)
    records: list[Any] = [kind(array) for array in arrays for kind in (Plain, Doubled)]
    calls: list[Any] = [(record, number) for record in records for number in (3, np.int32(3), 3.0)]
    for record in calls * 2 + calls[::-1]:
        found = np.zeros(1)
        add_up(1, record, found)
        assert found[0] == record[0].values.sum() * (2 if isinstance(record[0], Doubled) else 1) + 3, record
    with pytest.raises(Exception, match="array"):
        add_up(1, (Plain(np.ones((2, 2), np.float32)), 3), np.zeros(1))
    with pytest.raises(OverflowError):
        add_up(1, (Plain(numbers), -1 << 70), np.zeros(1))


@kernel
def sum_tuple(worker: int, workers: int, numbers: tuple[float, ...], found: Doubles) -> None:
    for number in numbers:
        found[0] += number


def test_a_tuple_of_another_length_and_another_number_of_arguments_are_other_types() -> None:
    for length in (3, 2, 1, 3):
        found = np.zeros(1)
        sum_tuple(1, (1.0, 10.0, 100.0)[:length], found)
        assert found[0] == sum((1, 10, 100)[:length])
    for count in (0, 1, 3):
        arguments: Any = ((1.0, 10.0), found, found)[:count]
        with pytest.raises(Exception, match="argument"):
            sum_tuple(1, *arguments)


@private
def test_a_kernel_takes_nothing_whose_class_leaves_its_type_open_and_forgets_dtypes_of_their_own() -> None:
    values: tuple[Any, ...] = twice, np.float32, 2**63, 1j, [1.0], "1"
    for value in values:
        with pytest.raises(TypeError, match="kernels take arrays, numbers and tuples of these, not "):
            sum_tuple(1, (value,), np.zeros(1))
    for _ in range(3):
        sum_tuple(1, (1.0,), found := np.zeros(1, np.dtype(np.float64, copy=True)))
        assert found[0] == 1
    entry: Any = sum_tuple
    assert len(entry.entry._known) <= len(entry.entry.overloads)


@pytest.mark.quick
def test_python_may_call_a_device_function_too_before_and_after_a_kernel_has() -> None:
    x = np.arange(3.0)
    assert four_times(x, 1) == 4
    launch(four_times_all, 1, x).run()
    assert twice(x, 2) == 16 and launch(twice, x, 2).run() == 16


# --- in processes of their own ---------------------------------------------------------------------------------------

COUNTING = """
import numba
import numpy as np
from crowd_demo.compute.jit import launch, kernel

@kernel
def count(worker, workers, counts):
    counts[worker] += workers

counts = np.zeros(7, np.int64)
launch(count, 7, counts).run()
print(numba.threading_layer(), counts.tolist())
"""
PRINTING = """
import numpy as np
from crowd_demo.compute.jit import launch, device, kernel

@device
def double(x, k):
    print("double", k, x[k])
    return x[k] * 2

@kernel
def double_all(worker, workers, x):
    print("worker", worker)
    for k in range(len(x) * worker // workers, len(x) * (worker + 1) // workers):
        x[k] = double(x, k)

x = np.arange(2.0)
launch(double_all, 1, x).run()
print(x)
"""
PRINTED = ["worker 0", "double 0 0.0", "double 1 1.0", "[0. 2.]"]


def test_no_share_is_left_out_by_threads_that_take_several(run) -> None:
    printed = run(COUNTING, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2").stdout
    assert printed == "workqueue [7, 7, 7, 7, 7, 7, 7]\n"


def test_a_kernel_and_what_it_inlines_may_print_compiled_or_loaded(run) -> None:
    assert [run(PRINTING).stdout.splitlines() for _ in ("compiled", "loaded")] == [PRINTED] * 2


def test_kernels_may_be_typed_into_a_prompt() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTING], capture_output=True, encoding="utf-8", timeout=100)
    assert done.stdout.splitlines() == PRINTED, done.stderr


@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_kernel_with_few_workers_leaves_the_pool_as_large_as_it_was(run, layer: str) -> None:
    """OpenMP's, and TBB's, which is not always there, remember how many threads a kernel had, as the most that there are."""
    printed = run(COUNTING.replace("7, counts)", "2, counts)") + "print(numba.get_num_threads())\n",
                  NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="4").stdout.split()
    assert printed[-1] == "4" and printed[1:3] == ["[2,", "2,"]


# --- numbers in formulas take the type of what they are combined with, for one number and for sixteen ----------------

STEPS, QUARTER = 4096, 0.25
F = np.float32


@formula
def terms(x: Float, n: Int, pair: tuple[Float, Float]) -> tuple[Float, Float, Int]:
    within = (x > 0) & (n != 3)
    near = 1 - x * 0.1 + (-1 / STEPS) * x
    turned = 0
    for k in range(2):
        turned = turned + near / 3 * pair[k]
    return (max(0, near - QUARTER) + select(within, near, 0) + select(within, 0.3, 0), turned + min(near * near, 1.5),
            (n - 1) * 2 + select(within, 1, 0) + to_int(x * STEPS) + (0 - n))


@formula
def early(x: Float, leave: Mask) -> tuple[Float, Float]:
    if leave:
        return 0, 1
    return x, x * 0.1


@device
def by_both_widths(x: Floats, n: Ints, floats: Floats, ints: Ints) -> None:
    """Write the terms of sixteen, one by one to the first rows and as a register to the others."""
    for k in range(LANES):
        floats[0, k], floats[1, k], ints[0, k] = terms(x[k], n[k], (x[k], x[k]))
    first, second, third = terms(load(x, 0), load(n, 0), (load(x, 0), load(x, 0)))
    store(floats[2], 0, first)
    store(floats[3], 0, second)
    store(ints[1], 0, third)


@device
def left_early(x: Floats, found: Floats, leave: bool) -> None:
    found[0, 0], found[1, 0] = early(x[0], leave)
    first, second = early(load(x, 0), leave)
    store(found[2], 0, first)
    store(found[3], 0, second)


@pytest.mark.quick
def test_both_widths_have_the_bits_of_float32() -> None:
    x, n = np.random.default_rng(1).normal(0, 5, LANES).astype(F), np.arange(LANES, dtype=np.int32)
    floats, ints = np.zeros((4, LANES), F), np.zeros((2, LANES), np.int32)
    by_both_widths(x, n, floats, ints)
    near, within = F(1) - x * F(0.1) + F(-1 / 4096) * x, (x > 0) & (n != 3)
    third: Any = near / F(3) * x
    wanted = [np.maximum(near - F(0.25), F(0)) + np.where(within, near, F(0)) + np.where(within, F(0.3), F(0)),
              third + third + np.minimum(near * near, F(1.5))]
    assert floats.tolist() == [*np.array(wanted).tolist()] * 2
    assert ints.tolist() == [((n - 1) * 2 + within + (x * F(4096)).astype(np.int32) - n).tolist()] * 2


@pytest.mark.quick
@pytest.mark.parametrize("leave", [False, True])
def test_a_result_may_be_a_number_here_and_a_register_there(leave: bool) -> None:
    x, found = np.arange(LANES, dtype=F) + F(0.7), np.zeros((4, LANES), F)
    left_early(x, found, leave)
    wanted = [np.zeros(LANES), np.ones(LANES)] if leave else [x, x * F(0.1)]
    assert found[2:].tolist() == np.array(wanted, F).tolist()
    assert found[:2, 0].tolist() == found[2:, 0].tolist()


# --- Whatever a kernel takes from a source is in the cache's fingerprint: constants, what these are made  ------------

CONSTANT = bool, int, float, str, tuple, np.generic, np.ndarray, np.dtype


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(crowd_demo.__path__, "crowd_demo."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def compiled_functions() -> set[FunctionType]:
    """All that may become machine code, as Python's functions."""
    values = [value for module in modules() for value in vars(module).values()]
    functions: set[Any] = {body for bodies in dispatch._bodies.values() for body in bodies.values()}
    functions |= {value.share for value in values if isinstance(value, jit.Kernel)}
    functions |= {value.py_func for value in values if isinstance(value, jit.compiler.Device)}
    return {each for each in functions if each.__module__.startswith("crowd_demo.")}


def names_in(function: FunctionType) -> set[str]:
    """The globals that it names, in its body and for its arguments."""
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & function.__globals__.keys()


@cache
def bindings(module: str) -> dict[str, ast.stmt]:
    """The statement of a module that gives a name its value, by name."""
    source = inspect.getsource(importlib.import_module(module))
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse(source).body:
        match statement:
            case ast.ImportFrom():
                found |= {alias.asname or alias.name: statement for alias in statement.names}
            case ast.Assign() | ast.AnnAssign():
                found |= {node.id: statement for node in ast.walk(statement)
                          if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            case ast.ClassDef() | ast.FunctionDef():
                found[statement.name] = statement
    return found


def homes(module: str, name: str, seen: set[tuple[str, str]]) -> Iterator[str]:
    """The modules that say what a name means: where it gets its value, and the same for each name in that."""
    if (module, name) in seen or not module.startswith("crowd_demo"):
        return
    seen.add((module, name))
    statement = bindings(module).get(name)
    if isinstance(statement, ast.ImportFrom):
        original = next(alias.name for alias in statement.names if (alias.asname or alias.name) == name)
        yield from homes(statement.module or "", original, seen)
    elif statement is not None:
        yield module
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
                yield from homes(module, node.id, seen)


def is_hashed(module: str, hashed: set[Path]) -> bool:
    return Path(str(importlib.import_module(module).__file__)) in hashed


def matters(value: Any) -> bool:
    """Is it compiled into a kernel: a constant, or a record, whose fields kernels find by their places?"""
    return isinstance(value, CONSTANT) or (inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields"))


def constants_converted(function: FunctionType) -> Iterator[str]:
    """Constants to which the function gives a type, such as `np.float32(1 / STEPS)`."""
    def is_constant(node: ast.AST) -> bool:
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        return (all(isinstance(function.__globals__.get(name), int | float | np.generic | ModuleType) for name in names)
                and not any(isinstance(each, ast.Call | ast.Subscript) for each in ast.walk(node)))

    for node in ast.walk(ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))):
        match node:
            case ast.Call(ast.Attribute(ast.Name("np"), "float32" | "int32"), [argument]) if is_constant(argument):
                yield ast.unparse(node)


@pytest.mark.quick
def test_there_is_one_way_to_write_a_constant() -> None:
    """A bare number. The lab also measures kernels as others write them."""
    functions = [each for each in compiled_functions() if not each.__module__.startswith("crowd_demo.extras.lab.")]
    assert [(each.__qualname__, text) for each in functions for text in constants_converted(each)] == []


@pytest.mark.quick
def test_constants_and_records_of_kernels_are_in_the_fingerprint() -> None:
    hashed, functions = set(kernel_sources()), compiled_functions()
    assert len(functions) > 300, "else they were not found"
    outside = {(function.__qualname__, name, home)
               for function in functions for name in names_in(function) if matters(function.__globals__[name])
               for home in homes(function.__module__, name, set()) if not is_hashed(home, hashed)}
    assert outside == set()


@pytest.mark.quick
def test_every_compiled_function_is_in_the_fingerprint() -> None:
    hashed = set(kernel_sources())
    assert {each.__module__ for each in compiled_functions() if not is_hashed(each.__module__, hashed)} == set()


@pytest.mark.quick
def test_a_constant_far_away_is_found() -> None:
    """The chain that was missed once: a kernel of one file, a number of another one that holds no kernel."""
    assert set(homes("crowd_demo.render.colours.modes", "LEVELS", set())) == {"crowd_demo.render.colours.base"}


# --- Private names of Numba ------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]


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
    """Also in another process. Each closure `add` has its own code, although both have the same name."""
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
