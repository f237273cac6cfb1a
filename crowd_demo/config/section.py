"""What all sections of the configuration share: frozen, closed to unknown keys, strict about types.

`number` and `Whole` declare a number with its unit and range, so that the JSON schema documents what is checked.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, NoReturn

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError


class Section(BaseModel):
    """A mapping in the YAML. `key:` with nothing under it is an empty section."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_empty(cls, data: object) -> object:
        return {} if data is None else data


def _without_point(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


WITHOUT_POINT = BeforeValidator(_without_point)
Whole = Annotated[int, WITHOUT_POINT]
"""A whole number, which may be written `1e5`, as in JSON schema."""


def number(default: float, low: float, high: float, unit: str, what: str) -> Any:
    """A field of `low` to `high`; the unit may be empty."""
    scope = f"{unit}, {low:.15g} to {high:.15g}" if unit else f"{low:.15g} to {high:.15g}"
    return Field(default, ge=low, le=high, description=f"{what} ({scope})")


def section(model: type[Section]) -> Any:
    """A field that holds a section with all its defaults."""
    return Field(default_factory=model)


class Problem(NamedTuple):
    """A value of a section that does not go together with others; `path` leads to its key."""

    path: tuple[str | int, ...]
    value: object
    text: str


def refuse(section: Section, *problems: Problem) -> NoReturn:
    """Raise ValidationError for values that do not go together, from a validator of the section."""
    errors = [InitErrorDetails(type=PydanticCustomError("order", "{text}", {"text": problem.text}), loc=problem.path,
                               input=problem.value) for problem in problems]
    raise ValidationError.from_exception_data(type(section).__name__, errors)
