"""Reading maps: what the tiles mean, and that every mistake is one line that says where."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from terrains import shapes

from crowd_demo.config import maps
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.maps import (
    FLOOR,
    GRASS,
    MAX_DESTINATIONS,
    SWAMP,
    WALL,
    WATER,
    MapData,
    MapError,
    label_areas,
    octile_of,
    parse_octile,
    read_map,
)

pytestmark = pytest.mark.quick


def octile(*rows: str, end: str = "\n") -> bytes:
    return end.join(["type octile", f"height {len(rows)}", f"width {len(rows[0])}", "map", *rows, ""]).encode()


def error_of(tmp_path: Path, data: bytes, name: str = "some.map") -> str:
    """The message of the error that reading the file raises, with the folder cut off."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(MapError) as caught:
        read_map(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message.removeprefix(f"{tmp_path}{os.sep}")


@pytest.mark.parametrize("end", ["\n", "\r\n", " \t\n", "\x1a\n"])
def test_each_character_is_its_kind_of_tile(end: str) -> None:
    found = parse_octile(octile(".G@OT", "SW0z.", end=end), Path("town.map"))
    assert found.kinds.tolist() == [[FLOOR, GRASS, WALL, WALL, WALL], [SWAMP, WATER, FLOOR, FLOOR, FLOOR]]
    assert found.marks.tolist() == [[-1] * 5, [-1, -1, 0, 35, -1]]
    assert found.name == "town" and found.kinds.dtype == np.uint8 and found.marks.dtype == np.int16


NOT_A_MAP = "some.map:1: not a map: the first lines must be type octile, height NUMBER, width NUMBER and map"


@pytest.mark.parametrize(("data", "message"), [
    (b"", "some.map: the file is empty"),
    (b"type octile\n\xff", "some.map:2: not UTF-8 text"),
    *((data, NOT_A_MAP) for data in (
        b"hello\n", b"\n", b"type octile", b"type tile\nheight 1\nwidth 1\nmap\n.", b"type octile\nheight 2\nwidth\nmap\n..",
        b"type octile\nheight 2\nwidth -2\nmap\n..", b"type octile\nheight 1\nwidth 2\n..")),
    (b"type octile\nheight 0\nwidth 2\nmap\n", "some.map:2: the map is empty (2 x 0 tiles)"),
    (b"type octile\nheight 2049\nwidth 2\nmap\n", "some.map:2: 2 x 2049 tiles are too many (at most 2048 x 2048)"),
    (b"type octile\nheight 2\nwidth 2\nmap\n..\n", "some.map:5: the map has 1 rows, its header says 2"),
    (b"type octile\nheight 1\nwidth 2\nmap\n..\n..\n", "some.map:6: the map has 2 rows, its header says 1"),
    (octile("...", "....", "..."), "some.map:6: the row has 4 tiles, the header says 3"),
    (octile("...", ".#."), "some.map:6: unknown tile '#' in column 2 (known: . G S W @ O T 0-9 a-z)"),
    (octile("..é"), "some.map:5: unknown tile 'é' in column 3 (known: . G S W @ O T 0-9 a-z)"),
    (octile("@W", "OT"), "some.map: no tile is free"),
    (octile("1.1"), "some.map: the tiles of destination '1' do not touch each other"),
    (octile("..") + b"ground\n.@\n", "some.map:7: unknown tile '@' in column 2 (known: . G S W)"),
    (octile(".@") + b"ground\nGG\n", "some.map:7: ground that is not the map's"),
    (octile("@@") + b"ground\nWW\n", "some.map: no tile is free"),
    (octile("..") + b"ground\n..\nmore\n..\n",
     "some.map:8: expected 'ground', 'destinations', 'destinations drawn' or 'starts'"),
    (octile("..") + b"destinations\n0.\n.", "some.map:8: expected 'ground', 'destinations', 'destinations drawn' or 'starts'"),
    (octile("..", "..") + b"destinations\n0.\n", "some.map:8: 'destinations' has 1 rows, the map has 2"),
    (octile("..") + b"destinations\n0!\n", "some.map:7: unknown tile '!' in column 2 (known: . 0-9 a-z A-Z + -)"),
    (octile("0.") + b"destinations\n0.\n", "some.map:6: the destinations are marked in the map already"),
    (octile("...") + b"destinations drawn\nA.A\n",
     "some.map: the tiles of destination 'A' do not touch each other"),
])
def test_a_bad_map_is_an_error_that_says_where(tmp_path: Path, data: bytes, message: str) -> None:
    assert error_of(tmp_path, data) == message


@given(hnp.arrays(np.uint8, shapes, elements=st.integers(0, 4)), st.data(), st.booleans(), st.booleans())
def test_a_map_that_was_written_reads_as_the_same(kinds: np.ndarray, data: st.DataObject, drawn: bool, is_open: bool) -> None:
    under = data.draw(hnp.arrays(np.uint8, kinds.shape, elements=st.sampled_from([FLOOR, WATER, SWAMP, GRASS])))
    under = np.where(kinds == WALL, under, kinds)
    marks = np.full(kinds.size, -1, np.int16)  # single tiles, as they are drawn
    chosen = data.draw(st.lists(st.integers(0, kinds.size - 1), unique=True, max_size=MAX_DESTINATIONS))
    marks[chosen] = np.arange(len(chosen))
    before = MapData(kinds, marks.reshape(kinds.shape), "some", under, drawn and bool(chosen), is_open)
    after = parse_octile(octile_of(before).encode(), Path("some.map"))
    assert np.array_equal(after.kinds, kinds) and np.array_equal(after.marks, before.marks)
    assert np.array_equal(after.ground, under) and after[4:] == before[4:]


def test_a_map_of_plain_tiles_is_written_as_the_format_knows_it() -> None:
    text = octile("0.G@", "zSWT")
    assert octile_of(parse_octile(text, Path("some.map"))) == text.decode().replace("T", "@")


def test_an_open_world_of_another_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "some.map").write_bytes(octile("..", "..").replace(b"octile", b"open"))
    (tmp_path / "some.yaml").write_text("map: some.map\nworld: {width: 192, height: 128}\n", "utf-8")
    with pytest.raises(ConfigError, match=r"some.yaml:1: map: .*some.map: an open world of this width and height has 3 x 2"
                                          r" tiles, the map has 2 x 2$"):
        load_config(tmp_path / "some.yaml")
    assert load_config(tmp_path / "some.yaml", ["world.width=128"]).world.width == 128


def test_a_missing_or_huge_file_is_an_error_and_not_read_whole(tmp_path: Path) -> None:
    with pytest.raises(MapError, match=r"none\.map: cannot be read"):
        read_map(tmp_path / "none.map")
    with pytest.raises(MapError, match="cannot be read"):
        read_map(tmp_path)
    huge = tmp_path / "huge.map"
    with huge.open("wb") as file:
        file.truncate(maps.MAX_BYTES + 1)
    with pytest.raises(MapError, match="too large for a map"):
        read_map(huge)


@given(st.binary(max_size=200))
def test_no_bytes_make_anything_but_a_map_or_a_map_error(data: bytes) -> None:
    octile_head, png_head = b"type octile\nheight 1\nwidth 4\nmap\n", b"\x89PNG\r\n\x1a\n"
    for parse, head in ((parse_octile, octile_head), (maps.parse_png, png_head)):
        for start in (b"", head):
            try:
                found = parse(start + data, Path("some"))
            except MapError:
                continue
            assert found.kinds.shape == found.marks.shape


# --- pictures --------------------------------------------------------------------------------------------------------

WHITE, BLACK, RED = (255, 255, 255, 255), (0, 0, 0, 255), (255, 0, 0, 255)
GREEN, BLUE = (40, 160, 40, 255), (0, 0, 255, 255)


def save_png(path: Path, pixels: list[list[tuple[int, int, int, int]]]) -> None:
    pygame = pytest.importorskip("pygame")
    data = np.array(pixels, np.uint8)
    pygame.image.save(pygame.image.frombytes(data.tobytes(), data.shape[1::-1], "RGBA"), path)


def test_the_colours_of_a_picture_are_kinds_of_tiles(tmp_path: Path) -> None:
    save_png(tmp_path / "town.png", [[WHITE, BLACK, RED, BLUE], [GREEN, RED, (0, 0, 0, 0), (127, 127, 127, 255)]])
    found = read_map(tmp_path / "town.png")
    assert found.kinds.tolist() == [[FLOOR, WALL, FLOOR, WATER], [GRASS, FLOOR, FLOOR, WALL]]
    assert found.marks.tolist() == [[-1, -1, 0, -1], [-1, 0, -1, -1]]
    assert found.name == "town"


@pytest.mark.parametrize("damage", [lambda data: data[:len(data) // 2], lambda data: data[:60] + b"\0\0" + data[62:]])
def test_nothing_but_the_error_is_said_about_a_damaged_picture(tmp_path: Path, capfd: pytest.CaptureFixture[str],
                                                               damage: Callable[[bytes], bytes]) -> None:
    save_png(tmp_path / "good.png", [[(value, value, value // 3, 255) for value in range(256)]] * 9)
    assert "cannot be read as a PNG" in error_of(tmp_path, damage((tmp_path / "good.png").read_bytes()), "some.png")
    assert capfd.readouterr() == ("", "")


def test_a_bad_picture_is_an_error(tmp_path: Path) -> None:
    assert error_of(tmp_path, b"GIF89a", "some.png") == "some.png: not a PNG picture"
    save_png(tmp_path / "good.png", [[WHITE, BLACK]])
    data = (tmp_path / "good.png").read_bytes()
    assert error_of(tmp_path, data[:40], "some.png").startswith("some.png: cannot be read as a PNG (")
    wide = data[:16] + (1 << 30).to_bytes(4, "big") + data[20:]
    assert "tiles are too many" in error_of(tmp_path, wide, "some.png")
    save_png(tmp_path / "dots.png", [[RED, WHITE] * 65])
    assert "more than 64 red areas" in error_of(tmp_path, (tmp_path / "dots.png").read_bytes(), "some.png")


def reference_marks(marked: np.ndarray, corners: bool = True) -> np.ndarray:
    """Labels by visiting the tiles around each tile; the first tiles of areas are met in reading order."""
    labels = np.full(marked.shape, -1, np.int16)
    todo = dict.fromkeys((row, column) for row, column in np.argwhere(marked).tolist())
    for label in range(marked.size):
        stack = [next(iter(todo))] if todo else []
        while stack:
            row, column = stack.pop()
            if (row, column) in todo:
                del todo[row, column]
                labels[row, column] = label
                stack += [(row + dy, column + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if corners or not dy * dx]
    return labels


def snake(side: int) -> np.ndarray:
    marked = np.arange(side)[:, None] % 2 * np.ones((side, side), int) == 0
    marked[1::4, -1] = marked[3::4, 0] = True
    return marked


@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.tuples(st.integers(1, 40), st.integers(1, 40)))
def test_labels_are_those_of_a_search(seed: int, part: float, shape: tuple[int, int]) -> None:
    marked = np.random.default_rng(seed).random(shape) < part
    for each in (marked, snake(shape[0]), snake(shape[0]).T, np.indices(shape).sum(axis=0) % 2 == 0):
        for corners in (True, False):
            assert np.array_equal(label_areas(each, corners), reference_marks(each, corners))


def test_reading_a_grid_imports_neither_pygame_nor_numba() -> None:
    code = "import sys, crowd_demo.config.maps; assert not {'pygame', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
