"""Whatever a kernel takes from a source is in the cache's fingerprint: constants, what these are made of, and records."""

import ast
import builtins
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import crowd_demo
from crowd_demo.compute import dispatch, jit
from crowd_demo.compute.cache import kernel_sources

CONSTANT = bool, int, float, str, tuple, np.generic, np.ndarray, np.dtype
pytestmark = pytest.mark.quick


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


def test_there_is_one_way_to_write_a_constant() -> None:
    """A bare number. The lab also measures kernels as others write them."""
    functions = [each for each in compiled_functions() if not each.__module__.startswith("crowd_demo.extras.lab.")]
    assert [(each.__qualname__, text) for each in functions for text in constants_converted(each)] == []


def test_constants_and_records_of_kernels_are_in_the_fingerprint() -> None:
    hashed, functions = set(kernel_sources()), compiled_functions()
    assert len(functions) > 300, "else they were not found"
    outside = {(function.__qualname__, name, home)
               for function in functions for name in names_in(function) if matters(function.__globals__[name])
               for home in homes(function.__module__, name, set()) if not is_hashed(home, hashed)}
    assert outside == set()


def test_every_compiled_function_is_in_the_fingerprint() -> None:
    hashed = set(kernel_sources())
    assert {each.__module__ for each in compiled_functions() if not is_hashed(each.__module__, hashed)} == set()


def test_a_constant_far_away_is_found() -> None:
    """The chain that was missed once: a kernel of one file, a number of another one that holds no kernel."""
    assert set(homes("crowd_demo.render.colours.modes", "LEVELS", set())) == {"crowd_demo.render.colours.base"}
