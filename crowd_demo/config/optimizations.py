"""`optimizations:` in the YAML, built from the registry of techniques, and live: it may change while the crowd runs.

Every assignment is validated against the choices and ranges of the registry.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import ConfigDict, Field, ValidationError, create_model

from crowd_demo.config.explain import explain
from crowd_demo.config.section import WITHOUT_POINT, Section
from crowd_demo.registry.entries import Technique, Value
from crowd_demo.registry.techniques import BY_PATH, TECHNIQUES, exactness


class _Live(Section):
    """A section that may be assigned to, each value checked."""

    model_config = ConfigDict(frozen=False, validate_assignment=True)

    if TYPE_CHECKING:  # the fields are made from the registry at run time
        def __getattr__(self, name: str) -> Any: ...


class _Switches(_Live):
    """Techniques by their dotted registry path, such as `stagger.avoidance`; also plain attributes."""

    def get(self, path: str) -> Value:
        """Present value. Raises ValueError for a path that the registry does not know."""
        _known(path)
        return reduce(getattr, path.split("."), self)  # type: ignore[return-value]

    def set(self, path: str, value: Value) -> None:
        """Raises ValueError, saying what is legal, and leaves the old value."""
        _known(path)
        *groups, name = path.split(".")
        try:
            setattr(reduce(getattr, groups, self), name, value)
        except ValidationError as error:
            (_, problem), *_ = explain(error, type(self), tuple(groups))
            raise ValueError(f"{path}: {problem}") from None


def _known(path: str) -> None:
    if path not in BY_PATH:
        close = get_close_matches(path, BY_PATH, n=1)
        raise ValueError(f"unknown technique {path!r}" + (f" (did you mean {close[0]}?)" if close else ""))


def _annotation(technique: Technique) -> Any:
    """The type of the field: true/false, a word of a closed list, a number of a range, or a word or a number."""
    if all(isinstance(choice, bool) for choice in technique.choices):
        return bool
    words = tuple(choice for choice in technique.choices if isinstance(choice, str))
    options: list[Any] = [Literal[words]] if words else []
    if numbers := technique.numbers:
        limits = Field(ge=numbers.low, le=numbers.high)
        options.append(Annotated[int, limits, WITHOUT_POINT] if numbers.kind is int else Annotated[float, limits])
    return Union[tuple(options)]  # noqa: UP007  (made at run time)


def _field(technique: Technique) -> tuple[Any, Any]:
    return _annotation(technique), Field(technique.default, description=f"{technique.why} ({exactness(technique)})")


def _model(name: str, base: type[_Live], prefix: str) -> Any:
    """Fields for all techniques under the dotted prefix; what lies one level deeper becomes a section of its own."""
    fields: dict[str, Any] = {}
    for technique in TECHNIQUES:
        if technique.path.startswith(prefix):
            head, *rest = technique.path.removeprefix(prefix).split(".")
            if not rest:
                fields[head] = _field(technique)
            elif head not in fields:
                group = _model(head.title(), _Live, f"{prefix}{head}.")
                fields[head] = (group, Field(default_factory=group))
    return create_model(name, __base__=base, __module__=__name__, **fields)


if TYPE_CHECKING:
    Optimizations = _Switches
else:
    Optimizations = _model("Optimizations", _Switches, "")
    Optimizations.__doc__ = "Every technique of the registry; may change while the crowd runs."
