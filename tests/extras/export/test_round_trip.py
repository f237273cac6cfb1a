"""What is played or read as a map in metres is exported with the ids, positions and polygons of the file."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from exported import READERS, Table, asked, queried
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_demo import Simulation
from crowd_demo.config.loader import as_overrides
from crowd_demo.extras.export.sources import Source, frames, read_source
from crowd_demo.extras.export.trajectories import FORMATS, TrajectoryTable, write
from crowd_demo.extras.importing.trajectory_files import read_paths
from crowd_demo.sim.actions import Place

shapely = pytest.importorskip("shapely", reason="shapely comes with the extra [validation]")
FPS = 10.0
HALL = ("POLYGON ((1000 -500, 1020.5 -500, 1023.25 -490.7, 1000 -488, 1000 -500),"
        " (1004.1 -496, 1004.1 -493.3, 1007 -494, 1004.1 -496))")
LARGEST, FAR = 2**31 - 1, 10**7 - 100
WALKS: Table = {(LARGEST, 5): (1000.1, -499.9), (LARGEST, 6): (1000.123456, -499.25),
                (-4, 5): (1022.25, -491), (-4, 6): (1022, -491.5), (-4, 7): (1021.7, -491.875),
                (1001, 6): (1010, -495.000001), (1001, 7): (1010.3, -495)}


class Kind(NamedTuple):
    """How a file of trajectories is written."""

    y_axis: str = "up"
    metre: float = 1.0  # units of its numbers
    unit: str = "m"


METRES = Kind()


def text_of(walks: Table, kind: Kind = METRES, area: str = HALL, fps: float = FPS) -> str:
    lines = [f"# framerate: {fps}", f"# y: {kind.y_axis}", f"# id frame x/{kind.unit} y/{kind.unit}"]
    lines += [f"# geometry: {area}"] if area else []
    return "\n".join([*lines, *(f"{person} {frame} {x * kind.metre!r} {y * kind.metre!r}"
                                for (person, frame), (x, y) in sorted(walks.items())), ""])


def played(folder: Path, file: str, steps: int, **options: object) -> Source:
    """The source that plays a file for so many frames."""
    (folder / "play.yaml").write_text(f"behaviour: playback\nplayback: {{file: {file}}}\n", "utf-8")
    return read_source(str(folder / "play.yaml"), steps / FPS, as_overrides(options))


def from_first_frame(table: Table) -> Table:
    first = min(frame for _, frame in table)
    return {(person, frame - first): place for (person, frame), place in table.items()}


def table_of(table: TrajectoryTable) -> Table:
    return {(person, frame): (x, y) for person, frame, x, y in table.tolist()}


def areas_in(path: Path) -> list[str]:
    if path.suffix == ".sqlite":
        return [wkt for wkt, in queried(path, "SELECT wkt FROM geometry")]
    if path.suffix == ".parquet":
        from pyarrow.parquet import read_schema

        return [read_schema(path).metadata[b"geometry"].decode()]
    return [line.removeprefix("# geometry: ") for line in path.read_text("utf-8").splitlines()
            if line.startswith("# geometry: ")]


@pytest.mark.parametrize(("suffix", "kind"), [
    (".txt", METRES), (".sqlite", Kind("down")), (".parquet", Kind("up", 100, "cm")), (".csv", Kind("down", 1000, "mm"))])
def test_a_played_file_comes_out_as_it_went_in(tmp_path: Path, kind: Kind, suffix: str) -> None:
    (tmp_path / "walks.txt").write_text(text_of(WALKS, kind, area=HALL if kind.metre == 1 else ""), "utf-8")
    path, again = tmp_path / f"out{suffix}", tmp_path / "again"
    write(asked(played(tmp_path, "walks.txt", 2), path, fps=FPS))
    found, expected = READERS[suffix](path), from_first_frame(WALKS)
    assert found.keys() == expected.keys()
    for key, place in expected.items():
        assert found[key] == pytest.approx(place, abs=0.5000001e-6 if suffix in (".txt", ".csv") else 1e-12)
    for area in areas_in(path):
        if kind.metre == 1:
            assert shapely.equals(shapely.from_wkt(area), shapely.from_wkt(HALL))
    if suffix in (".txt", ".sqlite"):  # and once more
        assert read_paths(path).y_axis == ("down" if kind.y_axis == "down" else "")
        again.mkdir()
        write(asked(played(tmp_path, path.name, 2), again / path.name, fps=FPS))
        assert READERS[suffix](again / path.name) == found and areas_in(again / path.name) == areas_in(path)


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(-LARGEST, LARGEST), st.tuples(st.integers(0, 9), st.integers(1, 6)), min_size=1,
                       max_size=4),
       st.tuples(st.integers(-FAR, FAR), st.integers(-FAR, FAR)), st.sampled_from(["up", "down"]),
       st.sampled_from([(10.0, 60.0), (25.0, 25.0), (30.0, 60.0)]), st.integers(0, 99))
def test_any_file_comes_out_as_it_went_in(tmp_path_factory: pytest.TempPathFactory, people: dict[int, tuple[int, int]],
                                          origin: tuple[int, int], y_axis: str, rates: tuple[float, float], seed: int) -> None:
    folder, (fps, step_hz), numbers = tmp_path_factory.mktemp("play"), rates, np.random.default_rng(seed)
    walks = {(person, frame): (origin[0] + round(numbers.uniform(0, 60), 6), origin[1] + round(numbers.uniform(0, 30), 6))
             for person, (first, count) in people.items() for frame in range(first, first + count)}
    (folder / "walks.txt").write_text(text_of(walks, Kind(y_axis), area="", fps=fps), "utf-8")
    expected, path = from_first_frame(walks), folder / "out.sqlite"
    of = played(folder, "walks.txt", 1, **{"time.step_hz": step_hz})
    of = of._replace(steps=round(max(frame for _, frame in expected) * step_hz / fps))
    write(asked(of, path, fps=fps))
    found = READERS[".sqlite"](path)
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(place, abs=1e-8) for key, place in expected.items())
    (area,) = areas_in(path)
    assert all(shapely.from_wkt(area).distance(shapely.Point(place)) <= 1e-8 for place in found.values())  # as exact as places


def test_a_table_of_a_played_file_has_its_ids_and_positions(tmp_path: Path) -> None:
    (tmp_path / "walks.txt").write_text(text_of(WALKS), "utf-8")
    sim = Simulation(played(tmp_path, "walks.txt", 2).config)
    assert table_of(sim.trajectories(every=6, steps=12)) == from_first_frame(WALKS)
    far = sim.trajectories(every=6, steps=0, metres=False)
    columns = sim.agents.by_id()
    assert far.id.tolist() == [-4, LARGEST] and far.x.tolist() == columns.x.tolist()


def test_who_is_moved_by_hand_or_taken_out_is_where_the_crowd_has_them(tmp_path: Path) -> None:
    (tmp_path / "walks.txt").write_text(text_of(WALKS), "utf-8")
    of = played(tmp_path, "walks.txt", 2)
    states, metre = of.states, of.config.measure.metre

    def moved() -> object:
        for number, (crowd, sim) in enumerate(states()):
            if number == 6:
                sim.apply(Place(0, 5 * metre, 4 * metre))
                sim.remove_agents(np.array([2], np.int32))
            yield crowd, sim

    path = tmp_path / "out.sqlite"
    said = write(asked(of._replace(states=moved), path, fps=FPS))  # type: ignore[arg-type]
    found, expected = READERS[".sqlite"](path), from_first_frame(WALKS)
    assert said[0].startswith(f"{path}: 3 people in 3 frames")
    assert found.pop((-4, 1)) == pytest.approx((999.5 + 5, -487.5 - 4), abs=1e-5)  # a ring of tiles is around the area
    assert found == {key: place for key, place in expected.items() if key not in ((-4, 1), (LARGEST, 1))}


# --- a crowd in a map in metres ----------------------------------------------------------------------------------------

@pytest.mark.parametrize(("suffix", "y_axis"), [*zip(FORMATS, ("up", "down") * 2, strict=True)])
def test_a_crowd_is_where_its_map_in_metres_is(tmp_path: Path, suffix: str, y_axis: str) -> None:
    area = ("POLYGON ((1000 -500, 1020 -500, 1020 -490, 1000 -490, 1000 -500),"
            " (1008 -496, 1008 -494, 1009 -494, 1009 -496, 1008 -496))")
    start = "start x'; DROP TABLE geometry; --: POLYGON ((1000 -500, 1002 -500, 1002 -498, 1000 -498, 1000 -500))"
    (tmp_path / "room.wkt").write_text(f"{area}\n{start}\n", "utf-8")
    (tmp_path / "room.yaml").write_text(f"map: room.wkt\nagents: 30\nworld: {{y_axis: {y_axis}}}\n", "utf-8")
    of, path, in_units = read_source(str(tmp_path / "room.yaml"), 1), tmp_path / f"out{suffix}", tmp_path / f"units{suffix}"
    write(asked(of, path))
    found = READERS[suffix](path)
    assert all(1000 <= x <= 1002 and -500 <= y <= -498 for (_, frame), (x, y) in found.items() if frame == 0)
    assert all(shapely.from_wkt(area).distance(shapely.Point(place)) <= 1e-8 for place in found.values())  # as exact as places
    for written in areas_in(path):
        assert shapely.equals(shapely.from_wkt(written), shapely.from_wkt(area))
        assert shapely.from_wkt(written).exterior.is_ccw
    table = table_of(Simulation(of.config).trajectories(steps=60))
    assert table.keys() == found.keys()
    assert all(found[key] == pytest.approx(place, abs=1e-6) for key, place in table.items())
    write(asked(of, in_units, metres=False))
    columns, units = next(frames(of)).sim.agents.by_id(), READERS[suffix](in_units)
    assert [units[each, 0][0] for each in range(30)] == pytest.approx(columns.x.tolist(), abs=1e-6)
    assert [units[each, 0][1] for each in range(30)] == pytest.approx(columns.y.tolist(), abs=1e-6)
