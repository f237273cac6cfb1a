"""Areas and lines at which a crowd is measured (`crowd-demo ensemble`). No step reads them."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import Field, model_validator

from crowd_demo.config.metres import UNITS_A_METRE
from crowd_demo.config.section import Problem, Section, number, refuse

Coordinate = Annotated[float, Field(ge=-131_072, le=131_072)]
Ends = Annotated[tuple[Coordinate, Coordinate, Coordinate, Coordinate], Field(strict=False)]  # YAML gives a list
NAME = "[A-Za-z][A-Za-z0-9_-]{0,39}"


class Places(Section):
    """Where densities and flows are measured, in world units."""

    areas: dict[str, Ends] = Field({}, description="rectangles by name, [left, top, right, bottom]")
    lines: dict[str, Ends] = Field({}, description="lines by name, from [x, y, to x, y]")
    metre: float = number(
        UNITS_A_METRE, 0.001, 65_536, "world units", "length of a metre; densities are agents a square metre")

    @model_validator(mode="after")
    def _can_be_measured(self) -> Self:
        """Raise ValidationError for a name that is none, an area without a size, and a line without a length."""
        wrong = [Problem((kind, name), name, "a name must be a letter, then letters, digits, - and _: at most 40")
                 for kind in ("areas", "lines") for name in getattr(self, kind) if not re.fullmatch(NAME, name)]
        wrong += [Problem(("areas", name), area, "must be [left, top, right, bottom], with left < right and top < bottom")
                 for name, area in self.areas.items() if not (area[0] < area[2] and area[1] < area[3])]
        wrong += [Problem(("lines", name), line, "must have two different ends")
                  for name, line in self.lines.items() if line[:2] == line[2:]]
        if wrong:
            refuse(self, *wrong)
        return self
