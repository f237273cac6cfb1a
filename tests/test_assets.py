"""The artwork: the script draws exactly the committed files, and they have the layout that sprites.json promises."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from numpy.typing import NDArray

ASSETS = Path(__file__).parent.parent / "assets"
sys.path.insert(0, str(ASSETS))

import draw  # noqa: E402  (the drawing scripts stand beside the files that they make)
import draw_maps  # noqa: E402
from canvas import to_bytes  # noqa: E402
from draw_birds import BEATS, HUNT, draw_bird  # noqa: E402
from draw_birds import LOOKS as BIRDS  # noqa: E402
from draw_birds import STEP as BIRDS_STEP  # noqa: E402
from draw_people import POSES, SHAPES, draw_person  # noqa: E402
from draw_people import STEP as PEOPLE_STEP  # noqa: E402
from draw_tiles import KINDS  # noqa: E402
from terrains import all_fields  # noqa: E402

from crowd_demo.config.maps import read_map  # noqa: E402
from crowd_demo.render.figures.crates import FACE, inks  # noqa: E402
from crowd_demo.render.figures.sprites import STATES  # noqa: E402
from crowd_demo.sim.terrain.flow_fields import UNREACHABLE  # noqa: E402
from crowd_demo.sim.terrain.tiles import Terrain  # noqa: E402

FILES = ("people.webp", "people_dyes.webp", "icons.webp", "birds.webp", "hunt.webp", "tiles.webp")
Pixels = NDArray[np.uint8]

# How the world looks without one kind of cone, on linear RGB (Machado, Oliveira and Fernandes 2009, severity 1)
EYES = (np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]])
XYZ = [[0.4339, 0.3763, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8725]]  # of sRGB, white = 1


def read(path: Path) -> Pixels:
    """(h, w, 3 or 4), as many channels as the file has."""
    surface = pygame.image.load(path)
    channels = surface.get_bytesize()
    data = pygame.image.tobytes(surface, "RGBA" if channels == 4 else "RGB")
    return np.frombuffer(data, np.uint8).reshape(surface.get_height(), surface.get_width(), channels)


def cells(name: str, width: int, height: int) -> Pixels:
    """(rows, columns, height, width, channels) of a committed sheet."""
    sheet = read(ASSETS / name)
    rows, columns = sheet.shape[0] // height, sheet.shape[1] // width
    return sheet.reshape(rows, height, columns, width, -1).swapaxes(1, 2)


@pytest.fixture(scope="module")
def sprites() -> dict[str, Any]:
    result: dict[str, Any] = json.loads((ASSETS / "sprites.json").read_text(encoding="utf-8"))
    return result


@pytest.fixture(scope="module")
def people() -> Pixels:
    return cells("people.webp", 48, 64)


@pytest.fixture(scope="module")
def birds() -> Pixels:
    return cells("birds.webp", 48, 48)


@pytest.fixture(scope="module")
def hunt() -> Pixels:
    return cells("hunt.webp", 96, 96)


@pytest.fixture(scope="module")
def tiles() -> Pixels:
    return cells("tiles.webp", 64, 64)


@pytest.mark.slow
def test_the_script_draws_the_committed_files_exactly(tmp_path: Path) -> None:
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy"}
    subprocess.run([sys.executable, str(ASSETS / "draw.py"), str(tmp_path)], check=True, env=environment)
    for name in FILES:
        assert np.array_equal(read(tmp_path / name), read(ASSETS / name)), name
    assert (tmp_path / "sprites.json").read_bytes() == (ASSETS / "sprites.json").read_bytes()


@pytest.mark.quick
def test_one_cell_of_each_look_and_kind_is_drawn_as_committed(people: Pixels, birds: Pixels, hunt: Pixels,
                                                              tiles: Pixels) -> None:
    dyes = cells("people_dyes.webp", 48, 64)
    for row, look in enumerate(SHAPES.values()):
        direction, pose = row % 8, row % len(POSES)
        for drawn, sheet in zip(draw_person(look, direction, POSES[pose]), (people, dyes), strict=True):
            assert np.array_equal(to_bytes(drawn, PEOPLE_STEP), sheet[row, direction * len(POSES) + pose])
    for sheet, looks in ((birds, BIRDS), (hunt, HUNT)):
        for row, plumage in enumerate(looks):
            drawn = draw_bird(plumage, BEATS[row], 9 * row, sheet.shape[2])
            assert np.array_equal(to_bytes(drawn, BIRDS_STEP), sheet[row * 5, 9 * row])
    for row, kind in enumerate(KINDS.values()):
        assert np.array_equal(to_bytes(kind(row % 4).pixels()), tiles[row, row % 4])


@pytest.mark.quick
def test_the_description_is_the_scripts_and_fits_the_sheets(sprites: dict[str, Any], people: Pixels, birds: Pixels,
                                                           hunt: Pixels, tiles: Pixels) -> None:
    assert sprites == json.loads(json.dumps(draw.SPRITES))
    person, bird, tile = sprites["people"], sprites["birds"], sprites["tiles"]
    assert people.shape == (len(SHAPES), person["directions"] * len(person["poses"]), *person["cell"][::-1], 4)
    assert cells(person["dyes"], 48, 64).shape == people.shape and len(person["outfits"]) == person["looks"] >= 40
    assert {shape for shape, *_ in person["outfits"]} == set(range(len(SHAPES)))
    for sheet, about in ((birds, bird), (hunt, sprites["hunt"])):
        assert sheet.shape == (about["looks"] * about["flaps"], about["headings"], *about["cell"], 4)
    assert tiles.shape == (len(tile["kinds"]), tile["variants"], tile["cell"], tile["cell"], 3)
    assert len(sprites["colours"]["flock"]) == bird["looks"]


@pytest.mark.quick
def test_no_figure_is_empty_or_cut_off(people: Pixels, birds: Pixels, hunt: Pixels) -> None:
    for sheet, least in ((people, 350), (birds, 110), (hunt, 100)):
        alpha = sheet[..., 3]
        assert ((alpha > 200).sum(axis=(2, 3)) >= least).all()
        assert not alpha[:, :, [0, -1], :].any()
        assert not alpha[:, :, :, [0, -1]].any()


@pytest.mark.quick
def test_people_stand_on_their_foot_point_and_birds_are_centred(sprites: dict[str, Any], people: Pixels,
                                                               birds: Pixels) -> None:
    foot_x, foot_y = sprites["people"]["anchor"]
    x, y = sprites["birds"]["anchor"]
    assert (people[:, :, foot_y, foot_x, 3] > 0).all()
    assert (people[:, :, foot_y + 6:, :, 3] < 128).all()
    assert (birds[:, :, y, x, 3] == 255).all()


@pytest.mark.quick
def test_the_state_of_a_person_shows_in_the_shape(people: Pixels) -> None:
    """Nothing is high above people but the icons: a disc for those who wait, a triangle for those who are stuck."""
    assert (people[:, :, :8, :, 3] <= 200).all()
    waiting, stuck = (cells("icons.webp", 48, 64)[0, :, :13, :, 3] > 200).sum(axis=2)
    assert waiting[7] > waiting[3] and waiting[7] >= 7
    assert stuck[9] >= stuck[7] + 2 and stuck[7] >= stuck[4] + 2


@pytest.mark.quick
def test_tiles_of_a_kind_meet_without_a_seam(sprites: dict[str, Any], tiles: Pixels) -> None:
    """Across an edge, any two variants differ no more than neighbouring columns (rows) inside a tile do.

    Laid stones may have a joint there, the strongest line inside; grown ground only what its strongest tenth shows.
    Trees stand alone.
    """
    grown = ("grass", "pond", "swamp", "sky", "water", "wood", "wood_front")
    for kind, row in zip(sprites["tiles"]["kinds"], tiles.astype(np.int64), strict=True):
        if kind in ("tree", "oak"):
            continue
        for turned in ([row] if kind.endswith("_front") else [row, row.swapaxes(1, 2)]):
            lines = abs(np.diff(turned, axis=2)).mean(axis=(1, 3))
            inside = np.quantile(lines, 0.9 if kind in grown else 1.0)
            seams = abs(turned[:, None, :, -1] - turned[None, :, :, 0]).mean(axis=(2, 3))
            assert seams.max() <= inside, kind


def lab(colour: Any) -> NDArray[np.float64]:
    """CIELAB of linear RGB."""
    share = np.array(XYZ) @ np.clip(colour, 0, 1)
    x, y, z = np.where(share > 0.008856, np.cbrt(share), 7.787 * share + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(a: Any, b: Any) -> float:
    """CIELAB distance of two colours (0..255) to the eye that tells them apart worst."""
    a, b = ((np.asarray(c) / 255) ** 2.2 for c in (a, b))
    return float(min(np.linalg.norm(lab(np.array(eye) @ a) - lab(np.array(eye) @ b)) for eye in EYES))


@pytest.mark.quick
def test_states_are_told_apart_by_colour_blind_eyes_and_people_who_walk_are_neutral(sprites: dict[str, Any]) -> None:
    colours = sprites["colours"]
    for shades, others in (([colours[state] for state in STATES], ()), (colours["flock"], sprites["tiles"]["skies"]["sky"])):
        for i, shade in enumerate(shades):
            assert all(distance(shade, other) > 22 for other in (*shades[:i], *others))
    assert max(colours["walking"]) - min(colours["walking"]) < 20


@pytest.mark.quick
def test_crates_of_every_tone_stand_out_on_water_to_colour_blind_eyes(sprites: dict[str, Any], tiles: Pixels) -> None:
    water = tiles[sprites["tiles"]["kinds"].index("water")].mean(axis=(0, 1, 2))
    for colour in inks()[:, FACE].tolist():
        assert distance([colour >> 16 & 255, colour >> 8 & 255, colour & 255], water) > 22


# --- Maps ------------------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_the_script_draws_exactly_the_shipped_maps(tmp_path: Path) -> None:
    draw_maps.draw_all(tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes().replace(b"\r\n", b"\n") for path in (ASSETS / "maps").glob("*.map")}
    assert drawn == shipped and len(drawn) == 12


@pytest.mark.quick
@pytest.mark.parametrize(("name", "destinations"), [
    ("plaza", 10), ("maze", 9), ("doorway", 6), ("citadel", 16), ("station", 8), ("theatre", 34), ("concert", 6),
    ("corridor", 2), ("crossing", 2), ("meadow", 14), ("metropolis", 36)])
def test_every_destination_can_be_reached_from_wherever_people_start(name: str, destinations: int) -> None:
    terrain = Terrain(read_map(ASSETS / "maps" / f"{name}.map"), 4000, 4000)
    fields = all_fields(terrain)
    assert len(terrain.destinations) == destinations
    assert (fields.fields.direction[:, terrain.labels == 0] != UNREACHABLE).all()
