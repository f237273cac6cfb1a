"""The public face: what scripts and notebooks rely on."""

# Wrong arguments are what is tested.
# mypy: disable-error-code="arg-type, list-item, dict-item"

import copy
import itertools
import json
import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowd_demo
from crowd_demo import Config, ConfigError, Simulation, ensemble, load_config
from crowd_demo.config.model import Optimizations
from crowd_demo.sim.actions import Populate, as_data
from crowd_demo.sim.edits import BringIn
from crowd_demo.sim.events import Event


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config("1k", {"agents": 200})


def test_dir_shows_what_there_is() -> None:
    assert dir(crowd_demo) == ["Config", "ConfigError", "Simulation", "__version__", "ensemble", "load_config"]
    assert all(getattr(crowd_demo, name) for name in dir(crowd_demo))
    with pytest.raises(AttributeError, match="no attribute 'Simulatoin'"):
        crowd_demo.Simulatoin  # noqa: B018


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, crowd_demo; print(sorted({'numba', 'numpy', 'pygame', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout == "[]\n"


def test_the_public_surface_of_a_simulation(config: Config) -> None:
    public = {name for name in dir(Simulation(config)) if not name.startswith("_")}
    assert public >= {"step", "agents", "optimizations", "profile", "config", "tick", "dt", "terrain", "state_hash", "states",
                      "population", "picture", "show", "trajectories", "apply", "history", "populate", "set_walls",
                      "prepare_picture"}


def test_steps_count_and_cannot_be_negative(config: Config) -> None:
    sim = Simulation(config)
    sim.step(0)
    sim.step(3)
    assert sim.tick == 3
    with pytest.raises(ValueError, match="cannot make -1 steps"):
        sim.step(-1)
    assert sim.play(np.uint8(2)) == 2 and sim.tick == 5
    for n in (1.5, "1", None):
        with pytest.raises(TypeError, match=r"^n: must be a whole number, not "):
            sim.step(n)


def test_numbers_of_numpy_and_paths_are_taken_where_numbers_and_texts_are(config: Config) -> None:
    read = load_config(Path("1k"), {
        "agents": np.int64(60), "crowd.radius": np.float32(20), "optimizations.simd": np.bool_(False), "map": Path("doorway"),
        "camera": {"center": np.array([5, 6])}, "measure.areas.a": (np.int8(0), 0, np.float64(5), 5)})
    assert (read.agents, read.crowd.radius, read.optimizations.simd, read.map) == (60, 20, False, "doorway")
    assert read.camera.center == (5, 6) and read.measure.areas == {"a": (0, 0, 5, 5)} and type(read.agents) is int
    numbers: dict[str, Any] = {"agents": np.int32(7), "seed": np.uint8(3)}
    assert Config(**numbers) == Config.model_validate({"agents": 7, "seed": 3})
    sim = Simulation(config)
    sim.optimizations.set("threads", np.int64(1))
    sim.optimizations.simd = np.bool_(False)
    assert type(sim.optimizations.threads) is int and sim.optimizations.get("simd") is False
    sim.populate(np.int16(90))
    sim.place(np.int64(3), np.float32(100), np.int16(50))
    sim.set_walls(np.array([0, 0, 1, 1]), np.bool_(True))
    sim.apply(Populate(np.int64(80)))
    sim.apply(BringIn(np.int64(2), np.float32(100), 100, 50))
    assert sim.history[0] == (0, Populate(80)) and [as_data(action) for _, action in sim.history]
    plan = ensemble.make_plan("1k", seeds=np.arange(1, 3), vary={"crowd.radius": np.array([20, 30])}, steps=np.int64(20))
    assert [(run.settings, run.seed) for run in plan.runs] == [((20,), 1), ((20,), 2), ((30,), 1), ((30,), 2)]
    assert json.loads(plan.job(plan.runs[-1]).model_dump_json())["steps"] == 20


WRONG: list[tuple[Callable[[Simulation], object], str]] = [
    (lambda sim: sim.populate(1.5), "count: must be a whole number from 0 to 32000000, not 1.5"),
    (lambda sim: sim.populate(-3), "count: must be a whole number from 0 to 32000000, not -3"),
    (lambda sim: sim.populate(2**31), "count: must be a whole number from 0 to 32000000, not 2147483648"),
    (lambda sim: sim.place(0.5, 1, 2), "id: must be a whole number from 0 to 2147483647, not 0.5"),
    (lambda sim: sim.place(1, math.nan, 2), "x: must be a number from -2147483648 to 2147483648, not nan"),
    (lambda sim: sim.set_walls((1.5, 2, 3, 4), True), "rectangle: must be [a whole number from "),
    (lambda sim: sim.set_walls((1, 2, 3, 4), "yes"), "wall: must be true or false, not 'yes'"),
    (lambda sim: sim.apply(Populate(1.5)), "action populate: count: must be a whole number"),
    (lambda sim: sim.apply(BringIn(-5, 1, 1, 1)), "action bring_in: count: must be a whole number from 0 to 32000000, not -5"),
    (lambda sim: sim.apply(Event(-1)), "action event: number: must be a whole number from 0 to 99, not -1"),
    (lambda sim: sim.apply(5), "action: must be one such as Populate(500), not 5"),
    (lambda sim: sim.events.happen(-1, sim), "event -1: there is none"),
    (lambda sim: sim.restore(None), "snapshot: must be a Snapshot, not None"),
    (lambda sim: Simulation.from_snapshot(5), "snapshot: must be a Snapshot, not 5"),
    (lambda sim: Simulation(None), "config: must be a Config, not None"),
    (lambda sim: Simulation("1k"), "config: must be a Config, not '1k'"),
    (lambda sim: sim.optimizations.set(5, 1), "unknown technique '5'; techniques: neighbours"),
    (lambda sim: sim.optimizations.set(["a"], 1), "unknown technique \"['a']\""),
    (lambda sim: sim.optimizations.set("threads", None), "threads: must be auto or a whole number from 1 to 64, not null"),
    (lambda sim: load_config(None), "None: expected str, bytes or os.PathLike object, not NoneType"),
    (lambda sim: load_config("1k", 5), "overrides:1: 5: must be key.path=value, not 5"),
    (lambda sim: load_config("1k", [None]), "overrides:1: None: must be key.path=value, not None"),
    (lambda sim: load_config("1k", {"agents": object}), "agents: must be a whole number from 0 to 32000000, not <class"),
    (lambda sim: ensemble.make_plan("1k", seeds=itertools.count()), "100,001 runs; at most 100,000"),
    (lambda sim: ensemble.make_plan("1k", seeds=1.5), "seeds: must be a list, not 1.5"),
    (lambda sim: ensemble.make_plan("1k", seeds=[1.5]), "seeds: must be a whole number, not 1.5"),
    (lambda sim: ensemble.make_plan("1k", steps=1.5), "steps: must be a whole number, not 1.5"),
    (lambda sim: ensemble.make_plan("1k", every=None), "every: must be a whole number, not None"),
    (lambda sim: ensemble.make_plan("1k", measures=5), "measures: must be a list, not 5"),
    (lambda sim: ensemble.make_plan("1k", vary=5), "vary: must be a Mapping, not 5"),
    (lambda sim: ensemble.make_plan("1k", vary={"crowd.radius": 5}), "vary: crowd.radius: must be a list, not 5"),
    (lambda sim: ensemble.make_plan("1k", vary={"crowd.radius": []}), "crowd.radius: no values are given"),
    (lambda sim: next(ensemble.run(None, "out")), "plan: must be a Plan, not None"),
    (lambda sim: ensemble.table(5, "out"), "plan: must be a Plan, not 5"),
]


@pytest.fixture(scope="module")
def few() -> Simulation:
    return Simulation(load_config("1k", {"agents": 40}))


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_another_kind_of_argument_is_named_in_one_line(
        few: Simulation, call: Callable[[Simulation], object], said: str) -> None:
    before = few.state_hash()
    with pytest.raises((ValueError, TypeError)) as caught:
        call(few)
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert few.state_hash() == before and not few.history


def test_columns_are_read_only_and_in_the_order_of_ids(config: Config) -> None:
    sim = Simulation(config)
    sim.step(70)
    columns = sim.agents.by_id()
    assert columns.id.tolist() == list(range(200))
    for column in columns:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    before = sim.state_hash()
    assert sim.state_hash() == before


@pytest.mark.parametrize(("assign", "said"), [
    (lambda options: setattr(options, "neighbours", "bukets"), "did you mean buckets"),
    (lambda options: setattr(options, "neighbors", "none"), "did you mean neighbours"),
    (lambda options: setattr(options.reorder, "every", 0), "reorder.every: must be a whole number from 1 to 1000, not 0"),
    (lambda options: setattr(options, "simd", "yes"), "did you mean true"),
])
def test_a_setters_mistake_is_one_line_and_changes_nothing(config: Config, assign: Callable[[Optimizations], None],
                                                           said: str) -> None:
    sim = Simulation(config)
    before = sim.optimizations.model_dump()
    with pytest.raises(ValueError, match=said) as caught:
        assign(sim.optimizations)
    assert "\n" not in str(caught.value) and sim.optimizations.model_dump() == before


def test_optimizations_are_replaced_by_others_only(config: Config) -> None:
    sim = Simulation(config)
    with pytest.raises(ValueError, match=r"optimizations: must be the techniques of .*, not 5"):
        sim.optimizations = 5  # type: ignore[assignment]
    sim.optimizations = load_config("1k", {"optimizations.simd": False}).optimizations.model_copy(deep=True)
    assert sim.optimizations.simd is False


def test_a_mistake_of_a_configuration_is_one_line() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("1k", {"agents": -1})
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("settings", [
    {"agents": 300}, {"behaviour": "flock"}, {"behaviour": "crates"}, {"optimizations.neighbours": "aabb_tree"},
    {"optimizations.reorder.when": "drift"}, {"life.births_per_s": 600, "life.deaths_per_s": 900},
    {"links.pattern": "rope", "behaviour": "flock"}])
def test_pickles_and_copies_go_on_alike(settings: dict[str, object]) -> None:
    sim = Simulation(load_config("1k", {"agents": 200, **settings}))
    sim.step(25)
    sim.set_walls((3, 3, 6, 5), True)
    sim.step(5)
    twins = [copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    hashes = set()
    for each in (sim, *twins):
        each.step(40)
        hashes.add(each.state_hash())
    assert len(hashes) == 1 and all(type(twin) is Simulation for twin in twins)


def test_a_picture_is_an_array_and_leaves_the_crowd_alone(config: Config) -> None:
    sim = Simulation(config)
    sim.step(2)
    before = pickle.dumps(sim)
    picture = sim.picture(320, 180)
    assert picture.shape == (180, 320, 3) and picture.dtype == np.uint8 and len(np.unique(picture)) > 10
    assert np.array_equal(picture, sim.picture(320, 180)) and pickle.dumps(sim) == before
    assert not np.array_equal(picture, sim.picture(320, 180, center=(0, 0), zoom=2))
    closer = sim.picture(320, 180, center=(500, 400), zoom=2)
    assert np.array_equal(closer, sim.picture(np.int64(320), np.uint8(180), np.array([500, 400]), np.float32(2)))
    assert np.array_equal(closer, sim.picture(320, 180, (500.0, 400.0), np.array(2)[()]))


@pytest.mark.quick
def test_a_picture_that_cannot_be_is_one_line(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    sim: Any = Simulation(config)
    for kind, call, said in (
            (ValueError, lambda: sim.picture(0, 5), "width: must be from 1 to 16,384, not 0"),
            (ValueError, lambda: sim.picture(10**6, 10**6), "width: must be from 1 to 16,384, not 1,000,000"),
            (TypeError, lambda: sim.picture(32, 18.5), "height: must be a whole number, not 18.5"),
            (ValueError, lambda: sim.picture(32, 18, zoom=0), "zoom: must be above 0 pixels per unit, not 0"),
            (ValueError, lambda: sim.picture(32, 18, zoom=-1), "zoom: must be above 0 pixels per unit, not -1"),
            (ValueError, lambda: sim.picture(32, 18, zoom=float("inf")), "zoom: must be a finite number, not inf"),
            (ValueError, lambda: sim.picture(32, 18, zoom="2"), "zoom: must be a finite number, not '2'"),
            (ValueError, lambda: sim.picture(32, 18, center="12"), "center: must be 2 finite numbers, not '12'"),
            (ValueError, lambda: sim.picture(32, 18, center=(1, [2])), "center: must be 2 finite numbers, not (1, [2])"),
            (ValueError, lambda: sim.picture(32, 18, center=5), "center: must be 2 finite numbers, not 5"),
            (ValueError, lambda: sim.picture(32, 18, center=(1, np.nan)), "center: must be 2 finite numbers, not (1, nan)")):
        with pytest.raises(kind, match=f"^{re.escape(said)}$"):
            call()
    monkeypatch.setattr("crowd_demo.config.memory.available_bytes", lambda: 1 << 20)
    with pytest.raises(ValueError, match=r"^a picture of 16,384 x 16,384 pixels needs about 4,096 MB of memory, and 1 MB are"):
        sim.picture(16_384, 16_384)
