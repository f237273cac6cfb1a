"""Trajectories of others: the three formats hold the same paths, and every mistake is one line that says which row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from damages import damages, make_fifo
from fuzzes import FILES, SEED

from crowd_demo.config.maps import WALL, MapError, Metres
from crowd_demo.extras.importing import trajectory_files
from crowd_demo.extras.importing.trajectory_files import map_of_paths, read_paths

pytestmark = pytest.mark.quick

Row = tuple[object, object, object, object]
AREA = "POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0))"
ROWS: list[Row] = [(7, 3, 1.5, 2.25), (-2, 3, 0.5, 0.5), (7, 4, 1.75, 2.5), (7, 5, 2.0, 2.75), (-2, 5, 0.75, 0.5)]


HEAD = f"# framerate: 12.5 fps\n# geometry: {AREA}\n# id frame x/m y/m z/m\n"


def text(rows: Iterable[Row] = ROWS, head: str = HEAD) -> bytes:
    return (head + "".join(" ".join(map(str, (*row, 0))) + "\n" for row in rows)).encode()


def table(rows: Iterable[Row] = ROWS, head: str = '"frame",note,"id",y,x\n') -> bytes:
    return (head + "".join(f'{frame},"a, b",{identity},{y},{x}\n' for identity, frame, x, y in rows)).encode()


def database(path: Path, rows: Iterable[Row] = ROWS, fps: object = "12.5", area: str = AREA) -> bytes:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as made:
        made.executescript("CREATE TABLE trajectory_data (frame INTEGER, id INTEGER, pos_x REAL, pos_y REAL, ori_x REAL,"
                           " ori_y REAL); CREATE TABLE metadata (key TEXT, value TEXT);"
                           " CREATE TABLE geometry (hash INTEGER, wkt TEXT)")
        made.executemany("INSERT INTO trajectory_data VALUES (?2, ?1, ?3, ?4, 1, 0)", rows)
        made.execute("INSERT INTO metadata VALUES ('fps', ?)", (fps,))
        made.execute("INSERT INTO geometry VALUES (1, ?)", (area,))
        made.commit()
    return path.read_bytes()


def error_of(path: Path, data: bytes) -> str:
    """What is said of a file, without its folder."""
    path.write_bytes(data)
    with pytest.raises(MapError) as caught:
        map_of_paths(path, Metres())
    said = str(caught.value)
    assert said.startswith(str(path)) and said.isprintable()
    return said.removeprefix(str(path))


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".sqlite"])
def test_all_formats_hold_the_same_paths(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"walks{suffix}"
    path.write_bytes({".txt": text, ".csv": table, ".sqlite": lambda: database(path)}[suffix]())
    found = read_paths(path)
    assert found.ids.tolist() == [-2, 7] and found.first.tolist() == [0, 2, 5]
    assert found.frame.tolist() == [0, 2, 0, 1, 2] and found.last_frame == 2
    assert found.x.tolist() == [0.5, 0.75, 1.5, 1.75, 2.0] and found.y.tolist() == [0.5, 0.5, 2.25, 2.5, 2.75]
    assert (found.fps, found.geometry) == ((0, "") if suffix == ".csv" else (12.5, AREA))
    kinds = map_of_paths(path, Metres(26, 26)).kinds
    assert kinds.shape == ((6, 8) if found.geometry else (5, 4)) and not (kinds[1:-1, 1:-1] == WALL).any()


def test_comments_say_unit_rate_and_which_way_y_grows(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(b"#framerate: 25\r\n# y: down\r\n# PersID\tFrame\tX/cm\tY/cm\tZ/cm\r\n1\t0\t150\t250.5\t160\r\n\r\n"
                     b" 1 1 1.5e2 250 0 # here\r\n")
    found = read_paths(path)
    assert (found.fps, found.y_axis, found.x.tolist(), found.y.tolist()) == (25, "down", [1.5, 1.5], [2.505, 2.5])


def test_positions_outside_of_the_walkable_area_are_on_the_map(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(text([*ROWS, (8, 3, -3.0, 9.0)]))
    found = map_of_paths(path, Metres(26, 26))
    assert found.kinds.shape == (9 + 2, 9 + 2) and found.origin and (found.origin.x, found.origin.y) == (-4, 10)


@pytest.mark.parametrize(("data", "message"), [
    (b"", ": there are no rows"), (b"# framerate: 1\n", ": there are no rows"), (b"\xff\xfe1", ": not trajectories (no text)"),
    (text([*ROWS, (1, 2, "x", 4)]), ":9: must be numbers: id, frame, x, y, not '1 2 x 4 0'"),
    (text([*ROWS, (1, 2, 3, 4), (1, 3, "", "")]), ":10: must be numbers: id, frame, x, y, not '1 3   0'"),
    (text([(1.5, 2, 3, 4)]), ":4: id and frame must be whole numbers, at most 2,147,483,647 (id 1.5, frame 2, x 3, y 4)"),
    (text([*ROWS, (1, 2**31, 3, 4)]),
     ":9: id and frame must be whole numbers, at most 2,147,483,647 (id 1, frame 2147483648, x 3, y 4)"),
    (text([*ROWS, (1, 2, 3, "nan")]), ":9: x and y must be metres, no farther than 1e+07 (id 1, frame 2, x 3, y nan)"),
    (text([*ROWS, (1, 2, "-inf", 3)]), ":9: x and y must be metres, no farther than 1e+07 (id 1, frame 2, x -inf, y 3)"),
    (text([*ROWS, ROWS[2]]), ":9: that id has a row of that frame already (id 7, frame 4, x 1.75, y 2.5)"),
    (text(head="# framerate: 1.2.3\n"), ": '# framerate: 1.2.3' is no frame rate"),
    (text(head="# framerate: 5000\n"), ": 5000 frames a second cannot be (at most 1000)"),
    (text(head="# id frame x/units y/units\n"), ": x and y are in 'units', not in one of m, cm, mm"),
    (text(head="# geometry: POLYGON ((0 0, 1 0))\n"),
     ": geometry:1: a ring has at least 4 points, and the last is the first again"),
    (text([(1, 0, 0, 0), (1, 1, 99_999, 0)], head=""), ": 200000 x 3 tiles are too many (at most 2048 x 2048)"),
])
def test_a_mistake_in_a_text_is_one_line_with_its_row(tmp_path: Path, data: bytes, message: str) -> None:
    assert error_of(tmp_path / "walks.txt", data) == message


@pytest.mark.parametrize(("data", "message"), [
    (b"", ":1: the first line must name each of id, frame, x, y once, not so id"),
    (b"id,frame,x\n1,2,3\n", ":1: the first line must name each of id, frame, x, y once, not so y"),
    (b"id;frame;x;y\n1;2;3;4\n1;3;3\n", ":3: must be numbers: id, frame, x, y, not '1;3;3'"),
    (table([*ROWS, (7, 9, "?", 1)]), ":7: must be numbers: id, frame, x, y, not '9,\"a, b\",7,1,?'"),
])
def test_a_mistake_in_a_table_is_one_line_with_its_row(tmp_path: Path, data: bytes, message: str) -> None:
    assert error_of(tmp_path / "walks.csv", data) == message


@pytest.mark.parametrize(("make", "message"), [
    (lambda path: b"SQLite format 3\0" + bytes(99), ": not JuPedSim's database (file is not a database)"),
    (lambda path: b"", ": not JuPedSim's database (no such table: trajectory_data)"),
    (lambda path: database(path, []), ": there are no rows"),
    (lambda path: database(path, [*ROWS, (1, 2, "far", 3)]), ": trajectory_data, row 6: must be numbers: id, frame, x, y"),
    (lambda path: database(path, [*ROWS, (1, 2, None, 3)]),
     ": trajectory_data, row 6: x and y must be metres, no farther than 1e+07 (id 1, frame 2, x nan, y 3)"),
    (lambda path: database(path, [*ROWS, (1, 2, 1e9, 3)]),
     ": trajectory_data, row 6: x and y must be metres, no farther than 1e+07 (id 1, frame 2, x 1e+09, y 3)"),
    (lambda path: database(path, fps="fast"), ": metadata, fps: must be a number, not 'fast'"),
    (lambda path: database(path, area="POLYGON"), ": geometry:1: the text ends within a geometry"),
])
def test_a_mistake_in_a_database_is_one_line_with_its_row(tmp_path: Path, make: Callable[[Path], bytes], message: str) -> None:
    path = tmp_path / "walks.sqlite"
    assert error_of(path, make(path)) == message


def test_a_database_that_never_ends_is_left_after_some_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory_files, "MOST_S", 0.2)
    path = tmp_path / "walks.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE VIEW trajectory_data AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)"
                     " SELECT id, 1 AS frame, max(id) AS pos_x, 0 AS pos_y FROM n")
    assert error_of(path, path.read_bytes()) == ": takes longer than 0.2 s to read"


def test_bounds_hold_and_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory_files, "MOST_ROWS", 4)
    assert error_of(tmp_path / "many.txt", text()) == ": too many rows (over 4)"
    path = tmp_path / "many.sqlite"
    assert error_of(path, database(path)) == ": too many rows (over 4)"
    monkeypatch.setattr(trajectory_files, "MOST_BYTES", 100)
    assert error_of(tmp_path / "large.txt", text()).startswith(": too large")
    make_fifo(tmp_path / "pipe.sqlite")
    for name, why in (("none.txt", "No such file or directory"), ("pipe.sqlite", "not a regular file")):
        with pytest.raises(MapError, match=why):
            read_paths(tmp_path / name)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(text())
    first = read_paths(path)
    assert read_paths(path) is first
    path.write_bytes(text([(1, 1, 1, 1)]))
    assert read_paths(path).ids.tolist() == [1]


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".sqlite"])
def test_a_damaged_file_is_trajectories_or_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"walks{suffix}"
    rows: list[Row] = [(person, frame, person * 0.5, frame * 0.25) for frame in range(4) for person in range(12)]
    data, refused = {".txt": text, ".csv": table, ".sqlite": lambda rows: database(path, rows)}[suffix](rows), 0
    for damaged in damages(data, SEED, FILES):
        path.unlink(missing_ok=True)
        path.write_bytes(damaged)
        try:
            found = map_of_paths(path, Metres())
            assert found.kinds.size and np.isfinite(read_paths(path).x).all()
        except MapError as error:
            refused += 1
            assert str(error).startswith(str(path)) and str(error).isprintable(), error
    assert refused > FILES / 5
