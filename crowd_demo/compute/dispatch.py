"""Generic functions: when a kernel is compiled, the type of the first argument chooses the body.

    @generic
    def accumulate(rules, ...): '''What it returns.'''         once, in the module that defines the contract

    @implements(pairwise.accumulate, FlockRules)
    def accumulate(rules, ...): ...                              once for each behaviour

A body also serves subclasses that have none of their own, so the body for `object` serves all types. Bodies are formulas, and
`@formula` defines a function with one body.

So kernels are written once for all behaviours, and nothing is chosen while they run. An implementation names the function
it implements, so its module imports that function: the order of imports does not matter.

A number in the source of a formula has the type of what it is combined with:

    @formula
    def nearness(distance, rules):
        return 1 - distance * rules.inv_radius

Numba alone would compute `1 - distance` in float64. Here 1 is float32 beside a float32, as wide beside a register of sixteen
(simd.py), and a whole number beside whole numbers. Constants of the module count as numbers in the source, and what is made of
numbers alone, such as `1 / STEPS`, is computed once, in float64. Indices, exponents, and arguments of functions other than
`select`, `min`, `max` and `splat` stay Python's numbers.
"""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, lower_cast, models, overload, register_model, typeof_impl

from crowd_demo.compute.llvm import AbstractTemplate, Conversion, infer_global, lower_constant
from crowd_demo.compute.numba_plain import IN_KERNELS

P = ParamSpec("P")
R = TypeVar("R")
Body = TypeVar("Body", bound=Callable[..., object])

FOLLOWING = "select", "min", "max", "splat"  # functions whose arguments follow the rule
MARK = "a number of a formula"
LOADS = "LOAD_CONST", "RETURN_CONST", "LOAD_SMALL_INT"  # instructions; the last two since Python 3.12 and 3.14
_bodies: dict[Callable[..., object], dict[type, Callable[..., object]]] = {}


def generic(function: Callable[P, R]) -> Callable[P, R]:
    """Let the type of the first argument choose among the implementations of this function."""
    bodies = _bodies.setdefault(function, {})

    @overload(function, jit_options={**IN_KERNELS, "forceinline": True}, strict=False)
    def body_for(first: Any, *others: Any) -> Callable[..., object] | None:
        kinds = getattr(first, "instance_class", object).__mro__
        body = next((bodies[kind] for kind in kinds if kind in bodies), None)
        return body and with_number_rule(body)

    return function


def implements(function: Callable[..., object], *kinds: type) -> Callable[[Body], Body]:
    """Make the decorated formula the body of a generic function, for a first argument of one of these types."""
    def define(body: Body) -> Body:
        _bodies[function].update(dict.fromkeys(kinds, body))
        return body
    return define


def formula(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function that formulas and kernels call, written once for one number and for sixteen."""
    return implements(generic(function), object)(function)


# --- the type --------------------------------------------------------------------------------------------------------

class Number:
    """A number in the source of a formula, for the compiler."""

    def __init__(self, value: int | float) -> None:
        self.value = value


class NumberType(types.Type):
    """Its type, which gives way to that of whatever the number is combined with."""

    def __init__(self, own: types.Type) -> None:
        super().__init__(f"number({own})")
        self.own = own  # int64 or float64

    def can_convert_to(self, context: object, other: types.Type) -> Conversion | None:
        """Prefer float32 to float64, where Numba looks for operators that take it."""
        if other == types.float32 or (isinstance(other, types.Integer) and self.own == types.int64):
            return Conversion.promote
        return Conversion.safe if other == types.float64 else None

    def unify(self, context: object, other: types.Type) -> types.Type | None:
        """Return the type of a variable that is this number here and something else there."""
        return other if self.can_convert_to(context, other) is not None else None


WHOLE, FRACTION = NumberType(types.int64), NumberType(types.float64)


@register_model(NumberType)
class _NumberModel(models.PrimitiveModel):
    def __init__(self, manager: object, kind: NumberType) -> None:
        super().__init__(manager, kind, ir.IntType(64) if kind is WHOLE else ir.DoubleType())


@typeof_impl.register(Number)
def _type_of(number: Number, context: object) -> NumberType:
    return WHOLE if isinstance(number.value, int) else FRACTION


@lower_constant(NumberType)
def _constant(context, builder, kind, number):
    return ir.Constant(context.get_value_type(kind), number.value)


@lower_cast(NumberType, types.Number)
def _converted(context, builder, kind, other, value):
    return context.cast(builder, value, kind.own, other)


for _extreme, _sign in ((min, "<"), (max, ">")):

    @infer_global(_extreme)
    class _Rule(AbstractTemplate):
        """The less or the greater of a number in the source and a scalar, which Numba alone does not know."""

        def generic(self, args: Sequence[types.Type], kws: object) -> types.Type | None:
            kinds = {kind for kind in args if not isinstance(kind, NumberType)}
            kind = kinds.pop() if len(args) == 2 and len(kinds) == 1 else None
            return kind(kind, kind) if isinstance(kind, types.Float | types.Integer) else None

    @lower_builtin(_extreme, types.Number, types.Number)
    def _chosen(context, builder, sig, args, sign=_sign):
        kind = sig.return_type
        first, second = (context.cast(builder, value, own, kind) for value, own in zip(args, sig.args, strict=True))
        whole = builder.icmp_signed if getattr(kind, "signed", True) else builder.icmp_unsigned
        compare = builder.fcmp_ordered if isinstance(kind, types.Float) else whole
        return builder.select(compare(sign, second, first), second, first)


# --- the source ------------------------------------------------------------------------------------------------------

@cache
def with_number_rule(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function with its numbers marked for the compiler; itself where it has none.

    A lambda, a closure, and what is typed into a prompt stay as they are: only the source of a function in a file is read.
    """
    assert isinstance(function, FunctionType)
    code, values = function.__code__, function.__globals__
    named = {name: values[name] for name in set(code.co_names) - set(code.co_varnames) if _is_number(values.get(name))}
    own = (_is_number(each.argval) for each in dis.get_instructions(code) if each.opname in LOADS)
    if code.co_freevars or not (named or any(own)):
        return function
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except OSError:
        return function
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return function
    definition.decorator_list = []
    definition.body = [_Marking(named).visit(statement) for statement in definition.body]
    ast.increment_lineno(ast.fix_missing_locations(tree), code.co_firstlineno - 1)
    codes = (each for each in compile(tree, code.co_filename, "exec").co_consts if isinstance(each, CodeType))
    made = next(each for each in codes if each.co_name == code.co_name)  # since Python 3.14 annotations have code, too
    marked = FunctionType(made.replace(co_consts=_marked(made.co_consts), co_qualname=code.co_qualname), values)
    marked.__defaults__, marked.__annotations__ = function.__defaults__, function.__annotations__
    return marked


def _marked(constants: tuple[object, ...]) -> tuple[object, ...]:
    """Replace each mark, also in tuples, by the number for the compiler."""
    return tuple(each if not isinstance(each, tuple) else Number(each[1]) if each[:1] == (MARK,) else _marked(each)
                 for each in constants)


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


class _Marking(ast.NodeTransformer):
    """Replaces numbers that follow the rule, and expressions of numbers alone, by constants with a mark."""

    def __init__(self, named: Mapping[str, int | float]) -> None:
        self._named = named

    def visit(self, node: Any) -> Any:
        if not self._is_constant(node):
            return super().visit(node)
        value = eval(compile(ast.Expression(node), "", "eval"), {}, dict(self._named))
        return ast.copy_location(ast.Constant((MARK, value)), node)  # type: ignore[arg-type]

    def _is_constant(self, node: ast.AST) -> bool:
        """Return whether it is a number, or an expression of numbers alone."""
        match node:
            case ast.Constant(value):
                return _is_number(value)
            case ast.Name(name):
                return name in self._named
            case ast.UnaryOp(ast.USub(), operand):
                return self._is_constant(operand)
            case ast.BinOp(left, _, right):
                return self._is_constant(left) and self._is_constant(right)
        return False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        follows = isinstance(node.func, ast.Name) and node.func.id in FOLLOWING
        node.args = [each if self._is_constant(each) and not follows else self.visit(each) for each in node.args]
        node.keywords = [each if self._is_constant(each.value) else self.visit(each) for each in node.keywords]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node.left = self.visit(node.left)
        if not isinstance(node.op, ast.Pow):
            node.right = self.visit(node.right)
        return node
