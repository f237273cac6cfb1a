"""Trajectories of others: three formats hold the same paths, every mistake is one line, and people are where the file says."""

import json
import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from damages import make_fifo
from exported import LEAVING, asked, source

from crowd_demo.cli import main
from crowd_demo.cli.arguments import parser_of
from crowd_demo.config.maps import WALL, MapError, Metres
from crowd_demo.config.model import Config
from crowd_demo.extras.commands.export import PLAY
from crowd_demo.extras.export.sources import PersonNumbers, frames
from crowd_demo.extras.export.trajectories import write
from crowd_demo.extras.importing import trajectory_files
from crowd_demo.extras.importing.geometry import FARTHEST
from crowd_demo.extras.importing.trajectory_files import map_of_paths, read_paths
from crowd_demo.sim.simulation import Simulation

Row = tuple[object, object, object, object]
AREA = "POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0))"
ROWS: list[Row] = [(7, 3, 1.5, 2.25), (-2, 3, 0.5, 0.5), (7, 4, 1.75, 2.5), (7, 5, 2.0, 2.75), (-2, 5, 0.75, 0.5)]


NAMES = "the columns must be named id, frame, x, y, each once, not so"
ORDER = "--columns frame,id,x,y, or playback.columns, specifies the order of columns"
NEAR = f"x and y must be metres, no farther than {FARTHEST:g}"
UNIT = "--unit m, cm or mm, or world.unit, specifies the unit"
TABLE = "must exist, as a table without computed columns"
QUOTES = "a row must have at most 100,000 characters, and an even number of quotes"
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


def changed(path: Path, change: str) -> bytes:
    """A database after `change`, which has its rows in the table `old`."""
    database(path)
    with closing(sqlite3.connect(path)) as made:
        made.executescript(f"ALTER TABLE trajectory_data RENAME TO old; {change}")
    return path.read_bytes()


def error_of(path: Path, data: bytes) -> str:
    """What is said of a file, without its folder."""
    path.write_bytes(data)
    with pytest.raises(MapError) as caught:
        map_of_paths(path, Metres())
    said = str(caught.value)
    assert said.startswith(str(path)) and said.isprintable()
    return said.removeprefix(str(path))


@pytest.mark.quick
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


@pytest.mark.quick
def test_comments_say_unit_rate_and_which_way_y_grows(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(b"#framerate: 25\r\n# y: down\r\n# PersID\tFrame\tX/cm\tY/cm\tZ/cm\r\n1\t0\t150\t250.5\t160\r\n\r\n"
                     b" 1 1 1.5e2 250 0 # here\r\n")
    found = read_paths(path)
    assert (found.fps, found.y_axis, found.x.tolist(), found.y.tolist()) == (25, "down", [1.5, 1.5], [2.505, 2.5])


@pytest.mark.quick
def test_positions_outside_of_the_walkable_area_are_on_the_map(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(text([*ROWS, (8, 3, -3.0, 9.0)]))
    found = map_of_paths(path, Metres(26, 26))
    assert found.kinds.shape == (9 + 2, 9 + 2) and found.origin and (found.origin.x, found.origin.y) == (-4, 10)


@pytest.mark.quick
@pytest.mark.parametrize(("data", "message"), [
    (b"", ": there are no rows"), (b"# framerate: 1\n", ": there are no rows"),
    (b"\x7fELF\1\2\3\xff", f":1: {NAMES} id: {ORDER}"),
    (b"1 0 1 1\n1 1 1 " + b"9" * 200_000, f":2: {QUOTES}"),
    (text([*ROWS, (1, 2, "x", 4)]), ":9: must be numbers: id, frame, x, y, not '1 2 x 4 0'"),
    (text([*ROWS, (1, 2, 3, 4), (1, 3, "", "")]), ":10: must be numbers: id, frame, x, y, not '1 3   0'"),
    (text([(1.5, 2, 3, 4)]), ":4: id and frame must be whole numbers, at most 2,147,483,647 (id 1.5, frame 2, x 3, y 4)"),
    (text([*ROWS, (1, 2**31, 3, 4)]),
     ":9: id and frame must be whole numbers, at most 2,147,483,647 (id 1, frame 2147483648, x 3, y 4)"),
    (text([*ROWS, (1, 2, 3, "nan")]), f":9: {NEAR} (id 1, frame 2, x 3, y nan)"),
    (text([*ROWS, (1, 2, "-inf", 3)]), f":9: {NEAR} (id 1, frame 2, x -inf, y 3)"),
    (text([*ROWS, ROWS[2]]), ":9: that id has a row of that frame already (id 7, frame 4, x 1.75, y 2.5)"),
    (text(head="# id frame x/units y/units\n"), f": the unit of x and y is unclear (units): {UNIT}"),
    (text(head="# x/" + "a" * 3000 + "\n"), f": the unit of x and y is unclear ({'a' * 20}, m): {UNIT}"),
    (text([(1, 0, 0, 0), (1, 1, 99_999, 0)], head=""),
     f": people are up to 99,999 m apart, over 2048 tiles of 0.5 m: {UNIT}, and world.tile the size of tiles"),
])
def test_a_mistake_in_a_text_is_one_line_with_its_row(tmp_path: Path, data: bytes, message: str) -> None:
    assert error_of(tmp_path / "walks.txt", data) == message


@pytest.mark.quick
@pytest.mark.parametrize(("data", "message"), [
    (b"", ": there are no rows"), (b"id,frame,x\n1,2,3\n", f":1: {NAMES} y: {ORDER}"),
    (b"id,frame,x,y,x\n1,2,3,4,5\n", f":1: {NAMES} x: {ORDER}"),
    (b'id,frame,x,y\n1,0,1,"1\n1,1,1,1\n1,2,1,1\n', f":2: {QUOTES}"),
    (b'id,frame,x,y,note\n1,0,1,1,a"b,"\n1,1,1,1,""\n1,2,x,1,\n', ":4: must be numbers: id, frame, x, y, not '1,2,x,1,'"),
    (b"id\tframe\tx\ty\tz\n1\t0\t\t2\t3\n", ":2: must be numbers: id, frame, x, y, not '1\\t0\\t\\t2\\t3'"),
    (b"id;frame;x;y\n1;2;3;4\n1;3;3\n", ":3: must be numbers: id, frame, x, y, not '1;3;3'"),
    (table([*ROWS, (7, 9, "?", 1)]), ":7: must be numbers: id, frame, x, y, not '9,\"a, b\",7,1,?'"),
])
def test_a_mistake_in_a_table_is_one_line_with_its_row(tmp_path: Path, data: bytes, message: str) -> None:
    assert error_of(tmp_path / "walks.csv", data) == message


@pytest.mark.quick
@pytest.mark.parametrize(("make", "message"), [
    (lambda path: b"SQLite format 3\0" + bytes(99), ": not JuPedSim's database (file is not a database)"),
    (lambda path: b"", ": not JuPedSim's database (trajectory_data must exist, as a table without computed columns)"),
    (lambda path: database(path, []), ": there are no rows"),
    (lambda path: database(path, [*ROWS, (1, 2, "far", 3)]), ": trajectory_data, row 6: must be numbers: id, frame, x, y"),
    (lambda path: database(path, [*ROWS, (1, 2, None, 3)]),
     f": trajectory_data, row 6: {NEAR} (id 1, frame 2, x nan, y 3)"),
    (lambda path: database(path, [*ROWS, (1, 2, 1e19, 3)]),
     f": trajectory_data, row 6: {NEAR} (id 1, frame 2, x 1e+19, y 3)"),
    *((lambda path, change=change: changed(path, change), f": not JuPedSim's database ({why})") for change, why in (
        ("CREATE VIEW trajectory_data AS SELECT id, frame, pos_x, pos_y FROM old", f"trajectory_data {TABLE}"),
        ("CREATE VIRTUAL TABLE trajectory_data USING rtree(id, frame, other, pos_x, pos_y)", f"trajectory_data {TABLE}"),
        ("CREATE TABLE trajectory_data(id, frame, pos_x, pos_y AS (pos_x LIKE '%a%a%a%a%b'))", f"trajectory_data {TABLE}"))),
])
def test_a_mistake_in_a_database_is_one_line_with_its_row(tmp_path: Path, make: Callable[[Path], bytes], message: str) -> None:
    path = tmp_path / "walks.sqlite"
    assert error_of(path, make(path)) == message


@pytest.mark.quick
@pytest.mark.parametrize(("view", "why"), [
    ("SELECT 1 id, 1 frame, 1 pos_x, random() pos_y", "not authorized to use function: random"),
    ("SELECT id, frame, pos_x, pos_y FROM old", "access to old.id is prohibited"),
    ("SELECT key id, key frame, key pos_x, key pos_y FROM metadata", "access to metadata.key is prohibited"),
    ("WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 1 frame, 1 pos_x, 1 pos_y FROM n",
     "not authorized")])
def test_a_view_that_passes_for_a_table_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: str,
                                                    why: str) -> None:
    monkeypatch.setattr(trajectory_files, "IS_TABLE", "SELECT 1 WHERE ? > ''")
    path = tmp_path / "walks.sqlite"
    assert error_of(path, changed(path, f"CREATE VIEW trajectory_data AS {view}")) == f": not JuPedSim's database ({why})"


@pytest.mark.quick
def test_a_database_is_read_for_some_seconds_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory_files, "MAX_S", 0.0)
    path = tmp_path / "walks.sqlite"
    assert error_of(path, database(path, [(1, frame, 0, 0) for frame in range(20_000)])) == ": takes longer than 0 s to read"


@pytest.mark.quick
def test_a_damaged_geometry_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "walks.sqlite"
    assert error_of(path, database(path, area="POLYGON ((0 0, 1 0")).startswith(": geometry:1: ")
    assert error_of(tmp_path / "walks.txt", text(head="# geometry: POLYGON ((0 0, 1 x))\n")).startswith(": geometry:1: ")


@pytest.mark.quick
def test_a_frame_rate_that_is_not_a_number_is_none(tmp_path: Path) -> None:
    path = tmp_path / "walks.sqlite"
    for fps, expected in (("fast", 0), (None, 0), (b"25", 0), (25, 25), ("33.333333333333336", 33.333333333333336)):
        path.write_bytes(database(path, fps=fps))
        assert read_paths(path).fps == expected


@pytest.mark.quick
@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_rows_that_are_not_in_the_database_yet_are_not_left_out(tmp_path: Path, mode: str) -> None:
    path, copy = tmp_path / "walks.sqlite", tmp_path / "copy.sqlite"
    database(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute(f"PRAGMA journal_mode = {mode}")
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO trajectory_data VALUES (?, 9, 1, 1, 1, 0)", ((frame,) for frame in range(5000)))
        if mode == "WAL":
            writer.execute("COMMIT")
        beside = "-wal" if mode == "WAL" else "-journal"
        for suffix in ("", beside):
            Path(f"{copy}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    with pytest.raises(MapError, match=rf"copy\.sqlite{beside}: has changes that are not in copy.sqlite yet"):
        read_paths(copy)
    assert sorted(file.name for file in tmp_path.iterdir() if "copy" in file.name) == ["copy.sqlite", f"copy.sqlite{beside}"]
    Path(f"{copy}{beside}").write_bytes(b"")
    assert len(read_paths(copy).ids) >= 2  # those that are in the file


@pytest.mark.quick
def test_bounds_hold_and_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory_files, "MAX_ROWS", 4)
    assert error_of(tmp_path / "many.txt", text()) == ": too many rows (over 4)"
    path = tmp_path / "many.sqlite"
    assert error_of(path, database(path)) == ": too many rows (over 4)"
    monkeypatch.setattr(trajectory_files, "MAX_BYTES", 100)
    assert error_of(tmp_path / "large.txt", text()).startswith(": too large")
    make_fifo(tmp_path / "pipe.sqlite")
    for name, why in (("none.txt", "No such file or directory"), ("pipe.sqlite", "not a regular file")):
        with pytest.raises(MapError, match=why):
            read_paths(tmp_path / name)


@pytest.mark.quick
def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(text())
    first = read_paths(path)
    assert read_paths(path) is first
    path.write_bytes(text([(1, 1, 1, 1)]))
    assert read_paths(path).ids.tolist() == [1]


# --- what other people write -------------------------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize(("comment", "scale"), [
    ("# id frame x/m y/m z/m", 1), ("# id frame x/cm y/cm z/cm", 100), ("# PersID\tFrame\tX/cm\tY/cm\tZ/cm", 100),
    ("# id frame x [in cm] y [in cm]", 100), ("# id frame x y z (all positions in cm)", 100), ("# x,y [cm]", 100),
    ("# x y z/cm", 100), ("# x in cm, y in cm", 100), ("# id frame x_cm y_cm", 100), ("# id,frame,x [mm],y [mm]", 1000),
    ("# id frame x (millimetres) y (millimetres)", 1000), ("# x/cm y/cm\n# id frame x y", 100),
    ("# camera: X / mm\n# id frame x/m y/m", 1), ("# id frame x/m y/m\n# all other lengths in cm", 1),
    ("# calibrated with matrix X (see protocol)", 1), ("# position of camera: x (left) y (up)", 1),
    ("# functions x(t), y(t) of every person", 1), ("# error: 2 cm, speeds in cm/s, density in 1/m^2", 1),
    ("# positions in metres", 1), ("# geometry: /data/cm [cm]", 1),
    ("# x in cm", 0), ("# unit: cm", 0), ("# all positions in cm", 0), ("# X / mm", 0), ("# id frame x/cm y/m", 0),
    ("# id frame x/px y/px", 0), ("# id frame x [feet] y [feet]", 0), ("# coordinates in pixels", 0)])
def test_the_names_of_columns_decide_the_unit_and_prose_makes_it_unclear(tmp_path: Path, comment: str, scale: int) -> None:
    path = tmp_path / "walks.txt"
    path.write_text(f"{comment}\n# geometry: POLYGON ((0 0, 600 0, 600 400, 0 400, 0 0))\n1 0 160.5 820.25\n", "utf-8")
    if scale == 0:
        with pytest.raises(MapError, match=rf"the unit of x and y is unclear \(.*\): {UNIT}"):
            read_paths(path)
    for unit, expected in (("auto", scale), ("m", 1), ("cm", 100), ("mm", 1000)):
        if expected:
            found = read_paths(path, Metres(unit=unit))
            assert (found.x.tolist(), found.y.tolist()) == ([160.5 / expected], [820.25 / expected])
            assert "/data" in comment or max(map(float, re.findall(r"[\d.]+", found.geometry))) == 600 / expected


@pytest.mark.quick
@pytest.mark.parametrize(("suffix", "data", "columns"), [
    (".csv", "sep=;\nid;frame;x;y\n7;3;1,5;2,25\n7;4;1,75;2,5\n", ""),
    (".csv", '"sep=,"\n"id","frame","x","y"\n"7","3","1.5","2.25"\n"7","4","1.75","2.5"\n', ""),
    (".csv", "# framerate: 10\n# frame,id,x,y\n3,7,1.5,2.25\n4,7,1.75,2.5\n", ""),
    (".csv", "note\tid\tframe\tx\ty\n\t7\t3\t1.5\t2.25\na b\t7\t4\t1.75\t2.5\n", ""),
    (".csv", "id, frame, x, y\r\n7, 3, 1.5, 2.25\r\n7, 4, 1.75, 2.5\r\n", ""),
    (".csv", "id,frame,x,y\r7,3,1.5,2.25\r7,4,1.75,2.5\r", ""),
    (".txt", "id frame x y z\n7 3 1.5 2.25 1\n7 4 1.75 2.5\n", ""),
    (".txt", "7 3 1,5 2,25 0,5\n7 4 1,75 2,5\n", ""), (".txt", "7,3,1.5,2.25\n7,4,1.75,2.5\n", ""),
    (".txt", "7\t3 1.5\t2.25\t\n 7 4 1.75 2.5 # here\n", ""),
    (".txt", "3.0 7.0 2.25 0 1.5\n4.0 7.0 2.5 0 1.75\n", "frame, id, y, z, x"),
    (".csv", "t,who,right,up\n3,7,1.5,2.25\n4,7,1.75,2.5\n", "Frame,ID,x,y")])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_separators_names_and_order_of_columns_are_found_or_given(tmp_path: Path, suffix: str, data: str, columns: str,
                                                                  encoding: str) -> None:
    path = tmp_path / f"walks{suffix}"
    path.write_bytes(data.encode(encoding))
    found = read_paths(path, Metres(columns=columns))
    assert (found.ids.tolist(), found.x.tolist(), found.y.tolist()) == ([7], [1.5, 1.75], [2.25, 2.5])


@pytest.mark.quick
@pytest.mark.parametrize(("comment", "fps"), [
    ("# framerate: 25 fps", 25), ("#framerate:\t16.000", 16), ("# frame rate = 10", 10), (" # FPS: 12,5", 12.5),
    ("# framerate: 25fps", 25), ("# Bl\xe4tter\n# framerate: 25", 25), ("# framerate: 0", 0), ("# framerate: 1.6e1", 0),
    ("# framerate: 1.2.3", 0), ("# framerate: 30000/1001", 0), ("# framerate: unknown", 0), ("# the framerate: 25", 0),
    ("# framerate 1 000", 0), ("# framerate: 10\n# framerate: 20", 0), ("# framerate: 10\n# fps 10.0", 10)])
def test_a_frame_rate_is_read_as_a_whole_or_not_at_all(tmp_path: Path, comment: str, fps: float) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(comment.encode("latin-1") + b"\n1 0 1 1\n")
    assert read_paths(path).fps == fps


@pytest.mark.quick
@pytest.mark.parametrize("said", ["geometry.xml", "../geometry.xml", "none", "'geo.wkt", "see (1)", "polygon (see paper)",
                                  "../../../etc/passwd", "/etc/passwd", "../outside.wkt", "link.wkt", "folder.wkt",
                                  "C:\\geo.wkt", "a" * 100_000, "\0.wkt", "\N{SNOWMAN}" * 60 + ".wkt"])
def test_other_words_as_a_geometry_are_an_open_place_and_a_note(tmp_path: Path, said: str) -> None:
    folder = tmp_path / "walks"
    (folder / "folder.wkt").mkdir(parents=True)
    (tmp_path / "outside.wkt").write_text(AREA, "utf-8")
    if hasattr(os, "symlink") and sys.platform != "win32":
        (folder / "link.wkt").symlink_to(tmp_path / "outside.wkt")
    path = folder / "walks.txt"
    path.write_text(f"# geometry: {said}\n1 0 1 1\n1 1 2 1\n", "utf-8")
    found = map_of_paths(path, Metres(26, 26))
    assert found.kinds.shape == (3, 3) and len(found.notes) == 1
    assert "neither Well-Known Text nor a .wkt file beside it" in found.notes[0] and len(found.notes[0]) < 400


@pytest.mark.quick
def test_a_geometry_beside_the_file_is_read_in_metres(tmp_path: Path) -> None:
    path = tmp_path / "walks.txt"
    path.write_text("# geometry: <geo 1 b.wkt>\n# id frame x/cm y/cm\n1 0 100 100\n", "utf-8")
    (tmp_path / "geo 1 b.wkt").write_text(AREA, "utf-8")
    found = map_of_paths(path, Metres(26, 26))
    assert found.kinds.shape == (6, 8) and not found.notes
    (tmp_path / "geo 1 b.wkt").write_text("POLYGON ((0 0, 6 0", "utf-8")
    with pytest.raises(MapError, match=r"geo 1 b\.wkt:1: "):
        map_of_paths(path, Metres(26, 26))


@pytest.mark.quick
@pytest.mark.parametrize("data", [b"#" * 3_000_000, (b"#" * 1000 + b"\n") * 2000, b"# unit" + b" " * 3_000_000 + b"x",
                                  (b"# " + b"(" * 990 + b"\n") * 1000, b"# geometry: " + b"(" * 3_000_000,
                                  b"# id frame x/cm y/cm\n# geometry: POLYGON((0 0, " + b"1" * 1_000_000 + b"x, 0 0))",
                                  b" " * 3_000_000 + b"x", b"id,frame,x,y" + b"[" * 90_000,
                                  b'1 1 1 "1 \n' * 30_000, b"1 1 1 x\n" * 300_000])
def test_long_texts_take_linear_time(tmp_path: Path, data: bytes) -> None:
    path, begin = tmp_path / "walks.csv", time.process_time()
    path.write_bytes(data + b"\n1 0 1 1\n")
    with suppress(MapError):
        read_paths(path)
    assert time.process_time() - begin < 10


@pytest.mark.quick
@pytest.mark.parametrize(("rows", "doubt"), [
    ([(person, frame, 1 + frame * 0.1, person) for person in range(3) for frame in range(9)], ""),
    ([(person, frame, 160.5 + 40 * person, 820 - 9 * frame) for person in range(3) for frame in range(9)],
     "people move at 90 m/s"),
    ([(frame * 10, person, 1 + frame * 0.1, person) for person in range(3) for frame in range(9)],
     "id and frame look swapped"),
    ([(1, 0, 1, 1)], ""), ([(1, 0, 1, 1), (1, 1, 1, 1), (2, 0, 1, 1)], "")])
def test_people_that_move_like_no_person_raise_doubts(tmp_path: Path, rows: list[Row], doubt: str) -> None:
    path = tmp_path / "walks.txt"
    path.write_bytes(text(rows, ""))
    found = list(read_paths(path).doubts(10))
    assert len(found) == bool(doubt) and "".join(found).startswith(doubt)


# --- played files ----------------------------------------------------------------------------------------------------

METRE, EVERY = 26.0, 6
WALKS = "# framerate: 10\n# geometry: POLYGON ((0 0, 9 0, 9 6, 0 6, 0 0))\n" + "".join(
    f"{person} {frame} {1 + frame / 10} {1 + person}\n" for frame in range(20) for person in range(4))


def config_of(*arguments: object) -> Config:
    """The configuration that `play` makes of its arguments."""
    config = PLAY.read(parser_of("play", PLAY).parse_args(list(map(str, arguments))))
    assert isinstance(config, Config)
    return config


@pytest.mark.parametrize(("suffix", "options"), [(".txt", ()), (".sqlite", ()), (".csv", ("--fps", "10", "--y", "down"))])
def test_a_run_that_was_exported_is_played_where_it_was(tmp_path: Path, suffix: str, options: tuple[str, ...]) -> None:
    of, path = source("station", 3, **LEAVING), tmp_path / f"run{suffix}"
    write(asked(of, path))
    sim, numbers, shift = Simulation(config_of(path, *options)), PersonNumbers(), None
    for frame in frames(of, EVERY):
        found, people = sim.agents.by_id(), numbers.of(frame)
        order = np.argsort(people)
        apart = np.stack((found.x - frame.columns.x[order], found.y - frame.columns.y[order]))
        shift = apart.mean(axis=1) if shift is None else shift  # the walkable area may begin elsewhere
        assert np.abs(apart - shift[:, None]).max() < 2e-3
        sim.step(EVERY)
    if suffix != ".csv":
        assert (sim.terrain.kinds == WALL).mean() > 0.2


@pytest.mark.quick
def test_a_play_ends_with_its_file_and_is_recorded_and_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, recording, report = tmp_path / "walks.txt", tmp_path / "run.replay", tmp_path / "run.json"
    path.write_text(WALKS, encoding="utf-8")
    assert main(["play", str(path), "--headless", "--no-render", "--record", str(recording), "--report", str(report)]) == 0
    found = json.loads(report.read_text("utf-8"))
    assert (found["frames"], found["agents"]) == (114, 4)  # 1.9 s
    assert main(["replay", str(recording), "--headless"]) == 0
    path.write_text(WALKS.replace("1 19 2.9 ", "1 19 2.4 "), encoding="utf-8")
    assert main(["replay", str(recording), "--headless"]) == 1  # not the same file any more


@pytest.mark.quick
def test_geometry_tile_rate_and_direction_are_chosen(tmp_path: Path) -> None:
    path, area = tmp_path / "walks.txt", tmp_path / "hall.wkt"
    path.write_text(WALKS, encoding="utf-8")
    area.write_text("POLYGON ((-2 -2, 12 -2, 12 8, -2 8, -2 -2))", encoding="utf-8")
    config = config_of(path, "--geometry", area, "--fps", "20", "--y", "down", "--set", "world.tile=1 m", "--size", "800x600")
    assert (config.world.width, config.world.height) == (16 * METRE, 12 * METRE)
    assert (config.window.width, config.window.height, config.agents) == (800, 600, 4)
    sim = Simulation(config)
    for seconds in (0.0, 0.5):
        assert sim.agents.by_id().x == pytest.approx([(1 + seconds * 2 + 3) * METRE] * 4, rel=1e-5)
        assert sim.agents.by_id().y == pytest.approx([(1 + person + 3) * METRE for person in range(4)], rel=1e-5)
        sim.step(30)


@pytest.mark.quick
@pytest.mark.parametrize(("corner", "outside"), [(0, 0), (2, 4), (32_500_000, 4), (1.5, 0), (1.6, 4), (-9.5, 4)])
def test_people_outside_of_a_floor_plan_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str], corner: float,
                                                    outside: int) -> None:
    path, area, end = tmp_path / "walks.txt", tmp_path / "hall.wkt", corner + 9
    path.write_text(WALKS, encoding="utf-8")
    area.write_text(f"POLYGON (({corner} 0, {end} 0, {end} 6, {corner} 6, {corner} 0))", encoding="utf-8")
    Simulation(config_of(path, "--geometry", area))
    assert capsys.readouterr().err == (
        f"crowd-demo: {path}: {outside} of 4 people are outside; they are shown at the edge\n" * (outside > 0))


@pytest.mark.quick
@pytest.mark.parametrize(("name", "text", "options", "said"), [
    ("walks.txt", None, (), "walks.txt: cannot be read (No such file or directory)"),
    ("walks.txt", WALKS + "5 x 1 1\n", (), "walks.txt:83: must be numbers: id, frame, x, y, not '5 x 1 1'"),
    ("walks.doc", WALKS, (), "walks.doc: must end in one of .txt, .csv, .sqlite"),
    ("walks.csv", "id,frame,x,y\n1,1,1,1\n", (), "walks.csv: has no frame rate; --fps N specifies it"),
    ("walks.txt", "1 27 160.5 820\n1 28 160.5 811\n", (),
     "walks.txt: has no frame rate; --fps N specifies it; at 25 per second people move at 225 m/s, as if x and y were"),
    ("walks.txt", WALKS.replace("10\n", "12:5\n", 1), (), "walks.txt: has no frame rate; --fps N specifies it"),
    ("walks.txt", WALKS.replace("10\n", "5000\n", 1), (), "play: playback.fps: "),
    ("walks.csv", 'id,frame,x,y\n1,0,1,"1\n1,1,1,1\n', ("--fps", "10"),
     "walks.csv:2: a row must have at most 100,000 characters, and an even number of quotes"),
    ("walks.txt", WALKS, ("--columns", "id,frame,x"),
     "walks.txt: the columns must be named id, frame, x, y, each once, not so y"),
    ("walks.txt", "# framerate: 10\n1 1 1 1\n1 2 40000 1\n", (), "play: map: /"),
    ("walks.txt", "# all positions in cm\n" + WALKS, (), "walks.txt: the unit of x and y is unclear (cm, m): --unit m, cm or"),
    ("walks.txt", WALKS, ("--set", "world.tile=-1"), "--set:1: world.tile"),
    ("walks.txt", WALKS, ("--geometry", "no.wkt"), "play: map: 'no.wkt' is neither a file"),
    ("walks.txt", WALKS, ("--geometry", "a.png"), "--geometry: 'a.png': must be a map in metres (.wkt, .json, .geojson, "),
    ("walks.txt", WALKS, ("--geometry", "plaza"), "--geometry: 'plaza': must be a map in metres (.wkt, .json,"),
    ("walks.sqlite", "what?", (), "walks.sqlite: not JuPedSim's database (file is not a database)"),
])
@pytest.mark.usefixtures("in_tmp_path")
def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str], name: str,
                               text: str | None, options: tuple[str, ...], said: str) -> None:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    assert main(["play", name, *options, "--headless"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith(said)


@pytest.mark.quick
@pytest.mark.parametrize(("text", "options", "said"), [
    (WALKS, (), ""),
    (WALKS.replace("POLYGON", "geo.wkt #"), (), "its geometry, 'geo.wkt # ((0 0, 9 0, 9 6, 0 6, 0 0))', is neither"),
    ("1 27 160.5 820\n2 27 200.5 820\n1 28 160.5 811\n2 28 200.5 811\n", ("--fps", "16"), "people move at 144 m/s, as if"),
    ("1 27 160.5 820\n2 27 200.5 820\n1 28 160.5 811\n2 28 200.5 811\n", ("--fps", "16", "--unit", "cm"), ""),
    ("0 1 1 1\n0 2 9 1\n10 1 1.1 1\n10 2 9.1 1\n", ("--fps", "2"), "id and frame look swapped: --columns frame,id,x,y"),
    ("0 1 1 1\n0 2 9 1\n10 1 1.1 1\n10 2 9.1 1\n", ("--fps", "2", "--columns", "frame,id,x,y"), "")])
def test_a_file_is_played_with_a_note_of_what_looks_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str,
                                                          options: tuple[str, ...], said: str) -> None:
    path = tmp_path / "walks.txt"
    path.write_text(text, encoding="utf-8")
    assert main(["play", str(path), *options, "--headless", "--no-render", "--frames", "2"]) == 0
    error = capsys.readouterr().err
    assert error.count("\n") == bool(said) and (not said or error.startswith(f"crowd-demo: {path}: {said}"))


# --- with JuPedSim -------------------------------------------------------------------------------------------------------

def test_jupedsim_opens_what_is_exported(tmp_path: Path) -> None:
    jupedsim = pytest.importorskip("jupedsim", reason="JuPedSim comes with the extra [validation]")
    path = tmp_path / "run.sqlite"
    write(asked(source("station", 1, **LEAVING), path))
    recording = jupedsim.Recording(str(path))
    assert recording.num_frames == 11 and recording.fps == 10
    frame = recording.frame(5)
    assert len(frame.agents) == 60 and recording.geometry().area > 500
    bounds = recording.bounds()
    assert all(bounds.xmin <= agent.position[0] <= bounds.xmax and bounds.ymin <= agent.position[1] <= bounds.ymax
               for agent in frame.agents)


def test_what_jupedsim_writes_is_played(tmp_path: Path) -> None:
    jupedsim = pytest.importorskip("jupedsim", reason="JuPedSim comes with the extra [validation]")
    path, corners = tmp_path / "jps.sqlite", [(-5, -3), (15, -3), (15, 4), (-5, 4)]
    simulation = jupedsim.Simulation(
        model=jupedsim.CollisionFreeSpeedModel(), geometry=corners,
        trajectory_writer=jupedsim.SqliteTrajectoryWriter(output_file=path, every_nth_frame=4))
    leave = simulation.add_exit_stage([(14, -3), (15, -3), (15, 4), (14, 4)])
    journey = simulation.add_journey(jupedsim.JourneyDescription([leave]))
    for row in range(5):
        simulation.add_agent(jupedsim.CollisionFreeSpeedModelAgentParameters(
            position=(-4, -2 + row), journey_id=journey, stage_id=leave))
    while simulation.agent_count() and simulation.iteration_count() < 3000:
        simulation.iterate()
    del simulation
    recording = jupedsim.Recording(str(path))
    sim = Simulation(config_of(path, "--set", "time.step_hz=50"))
    for number in (0, 3, 40):
        sim.step(round(number / recording.fps * 50) - sim.tick)
        agents = sorted(recording.frame(number).agents, key=lambda agent: agent.id)
        found = sim.agents.by_id()
        assert found.x / METRE - 5.5 == pytest.approx([agent.position[0] for agent in agents], abs=1e-4)
        assert 4.5 - found.y / METRE == pytest.approx([agent.position[1] for agent in agents], abs=1e-4)
    sim.step(60 * 50)
    assert sim.agents.count == len(recording.frame(recording.num_frames - 1).agents)
