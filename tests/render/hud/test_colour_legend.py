
import pytest

from crowd_demo.render.colours.base import Legend, ramp
from crowd_demo.render.hud.canvas import THEMES, Canvas, Pen
from crowd_demo.render.hud.text_panels import draw_colour_legend

pytestmark = pytest.mark.quick
SIX = Legend("density", ramp(((0, 0, 255), (255, 0, 0)), 6), ("A free", "B", "C", "D", "E", "F jammed"))
RAMP = Legend("speed", ramp(((0, 0, 0), (255, 255, 0)), 24), ("standing", "80 units/s"))


def colours_in(canvas: Canvas) -> set[tuple[int, int, int]]:
    surface = canvas.surface
    width, height = surface.get_size()
    return {tuple(surface.get_at((x, y)))[:3] for x in range(width) for y in range(height)}  # type: ignore[misc]


@pytest.mark.parametrize("scale", [0.7, 1.15, 2.0])
@pytest.mark.parametrize("legend", [SIX, RAMP])
def test_a_legend_shows_every_colour_at_every_size(legend: Legend, scale: float) -> None:
    assert set(legend.colours) <= colours_in(draw_colour_legend(legend, 520, Pen(), scale))


def test_a_legend_is_as_wide_as_its_texts_and_no_wider_than_its_room() -> None:
    wide = draw_colour_legend(SIX, 520, Pen(), 1.0).size[0]
    assert wide < 520
    narrow, one_line = draw_colour_legend(SIX, 200, Pen(), 1.0), draw_colour_legend(SIX, 520, Pen(), 1.0)
    assert narrow.size[0] <= 200 and set(SIX.colours) <= colours_in(narrow)
    assert narrow.size[1] > one_line.size[1], "nothing is cut: it has more lines"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("texts", [("dark", "light"), ("from", "over", "to")])
def test_colours_like_the_panels_have_an_outline(theme: str, texts: tuple[str, ...]) -> None:
    pen = Pen(theme=THEMES[theme])
    panel = pen.colour("panel")[:3]
    drawn = draw_colour_legend(Legend("", (panel, panel), texts), 520, pen, 1.0)
    assert pen.colour("faint") in colours_in(drawn)


def test_a_click_on_it_goes_on_to_the_next_mode() -> None:
    targets = [region.target for region in draw_colour_legend(RAMP, 520, Pen(), 1.0).targets]
    assert [(target.kind, target.name) for target in targets] == [("action", "colours")]
