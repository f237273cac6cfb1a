"""`optimizations:` in the YAML, made from the registry of techniques; values may change while the crowd runs.

Every assignment is validated against the choices and ranges of the registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import ConfigDict, Field, ValidationError, create_model

from crowd_demo.config.explain import close_to, explain
from crowd_demo.config.section import WITHOUT_POINT, Section, plain
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, exactness

MODELS: dict[str, type[_Live]] = {}  # by the prefix of their techniques' paths


class _Live(Section):
    """A section that may be assigned to, each value checked."""

    model_config = ConfigDict(frozen=False, validate_assignment=True)

    prefix: ClassVar[str] = ""  # of its techniques' paths
    changes: ClassVar[int] = 0  # assignments so far, to any: while it stays, so do all values

    if TYPE_CHECKING:  # the fields are made from the registry at run time
        def __getattr__(self, name: str) -> Any: ...

    def __reduce__(self) -> tuple[object, ...]:
        """Sections made from the registry have no name where pickle would look for it."""
        return _new, (self.prefix,), self.__getstate__()

    def __setattr__(self, name: str, value: object) -> None:
        """Raises ValueError, in one line that says what is legal, and leaves the old value."""
        if name not in type(self).model_fields:
            raise ValueError(f"unknown technique {self.prefix}{name!r}{close_to(name, type(self).model_fields)}")
        try:
            super().__setattr__(name, plain(value))
        except ValidationError as error:
            (_, problem), *_ = explain(error, type(self))
            raise ValueError(f"{self.prefix}{name}: {problem}") from None
        _Live.changes += 1


class _Techniques(_Live):
    """The values of the techniques by their dotted registry path, such as `stagger.avoidance`; also plain attributes."""

    def get(self, path: str) -> Value:
        """The present value. Raises ValueError for a path that the registry does not know."""
        return reduce(getattr, known(path).split("."), self)  # type: ignore[return-value]

    def set(self, path: str, value: Value) -> None:
        """Set a value. Raises ValueError that says what is legal, and keeps the old value then."""
        *groups, name = known(path).split(".")
        setattr(reduce(getattr, groups, self), name, value)


def known(path: str) -> str:
    """Return the path of a technique. Raises ValueError for a path that the registry does not know."""
    path = str(path)
    if path in BY_PATH:
        return path
    raise ValueError(f"unknown technique {path[:40]!r}{close_to(path, BY_PATH)}; techniques: {', '.join(BY_PATH)}")


def field_of(technique: Technique) -> tuple[object, object]:
    """The type and the default of the technique's value, for a model of pydantic's.

    The type is bool, a word of the choices, a number of the range, or such a word or number.
    """
    words = tuple(choice for choice in technique.choices if isinstance(choice, str))
    options: list[object] = [Literal[words]] if words else []
    if all(isinstance(choice, bool) for choice in technique.choices):
        options = [bool]
    elif numbers := technique.numbers:
        limits = Field(ge=numbers.low, le=numbers.high)
        options.append(Annotated[int, limits, WITHOUT_POINT] if numbers.kind is int else Annotated[float, limits])
    default = Field(technique.default, description=f"{technique.why} ({exactness(technique)})")
    return Union[tuple(options)], default  # noqa: UP007  (made at run time)


def _model(name: str, base: type[_Live], prefix: str) -> type[_Live]:
    """Fields for all techniques under the dotted prefix; those a level deeper become a section."""
    fields: dict[str, Any] = {}
    for technique in TECHNIQUES:
        if technique.path.startswith(prefix):
            head, *rest = technique.path.removeprefix(prefix).split(".")
            if not rest:
                fields[head] = field_of(technique)
            elif head not in fields:
                group = _model(head.title(), _Live, f"{prefix}{head}.")
                fields[head] = (group, Field(default_factory=group))
    made = MODELS[prefix] = create_model(name, __base__=base, __module__=__name__, **fields)
    made.prefix = prefix
    return made


def _new(prefix: str) -> _Live:
    return MODELS[prefix].__new__(MODELS[prefix])


if TYPE_CHECKING:
    Optimizations = _Techniques
else:
    Optimizations = _model("Optimizations", _Techniques, "")
    Optimizations.__doc__ = "Every technique of the registry; may change while the crowd runs."


def with_values(options: Optimizations, values: Mapping[str, Value]) -> Optimizations:
    """A copy of the options with those values, by path."""
    copy = options.model_copy(deep=True)
    for path, value in values.items():
        copy.set(path, value)
    return copy
