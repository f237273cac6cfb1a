"""The shipped maps: the script draws exactly the committed files, and people get everywhere in them."""

import sys
from pathlib import Path

import pytest
from terrains import all_fields

from crowd_demo.config.maps import read_map
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE
from crowd_demo.sim.terrain.tiles import Terrain

ASSETS = Path(__file__).parents[1] / "assets"
sys.path.insert(0, str(ASSETS))

import draw_maps  # noqa: E402  (the drawing script stands beside the files that it makes)

pytestmark = pytest.mark.quick
MIRRORED = [("plaza", 10), ("maze", 9), ("doorway", 6)]


def test_the_script_draws_exactly_the_shipped_files(tmp_path: Path) -> None:
    draw_maps.draw_all(tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes().replace(b"\r\n", b"\n") for path in (ASSETS / "maps").glob("*.map")}
    assert drawn == shipped and len(drawn) == 12


@pytest.mark.parametrize(("name", "destinations"), [
    *MIRRORED, ("citadel", 16), ("station", 8), ("theatre", 34), ("concert", 6), ("corridor", 2),
    ("crossing", 2), ("meadow", 14), ("metropolis", 36)])
def test_every_destination_can_be_reached_from_wherever_people_start(name: str, destinations: int) -> None:
    terrain = Terrain(read_map(ASSETS / "maps" / f"{name}.map"), 4000, 4000)
    fields = all_fields(terrain)
    assert len(terrain.destinations) == destinations
    assert (fields.fields.direction[:, terrain.labels == 0] != UNREACHABLE).all()
