"""Metres for people: 26 world units are one, so a body 12 units wide is 0.46 m.

A field of one of the types below takes a number of world units, or text with metres: `"0.46 m"`, `"1.34 m/s"`, `"30 m2"`.
"""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

UNITS_A_METRE = 26.0
NUMBER = r"[0-9]+(\.[0-9]+)?"


class InMetres(NamedTuple):
    """Makes a float field take text in metres as well."""

    suffix: str
    units: float  # world units in one of it
    example: str

    def from_text(self, value: object) -> object:
        """Return world units for text in metres; anything else as it is, for the field to judge."""
        found = re.fullmatch(f"({NUMBER}) ?{re.escape(self.suffix)}", value) if isinstance(value, str) else None
        return float(found[1]) * self.units if found else value

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.from_text, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        text = {"type": "string", "pattern": f"^{NUMBER} ?{re.escape(self.suffix)}$", "examples": [self.example]}
        return {"anyOf": [handler(schema), text]}


LENGTH = InMetres("m", UNITS_A_METRE, "0.46 m")
Length = Annotated[float, LENGTH]
Speed = Annotated[float, InMetres("m/s", UNITS_A_METRE, "1.34 m/s")]
Area = Annotated[float, InMetres("m2", UNITS_A_METRE**2, "1.5 m2")]


def metres(units: float) -> float:
    """A length, or a speed in metres a second."""
    return units / UNITS_A_METRE


def per_square_metre(per_square_unit: float) -> float:
    """A density."""
    return per_square_unit * UNITS_A_METRE**2
