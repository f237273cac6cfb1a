"""The table of renames: former names in files and in the code of plugins; files of earlier versions are in tests/old."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.config.keys import keys_of
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.registry import renames
from crowd_demo.registry.techniques import BY_PATH
from crowd_demo.sim.store.columns import MovingColumns, dtypes_of, with_present_names

pytestmark = pytest.mark.quick


def test_no_name_is_both_former_and_present() -> None:
    assert not renames.TECHNIQUES.keys() & BY_PATH.keys() and set(renames.TECHNIQUES.values()) <= BY_PATH.keys()
    assert not renames.COLUMNS.keys() & set(MovingColumns._fields)


def test_a_key_that_is_given_by_both_names_is_refused_where_the_former_one_stands(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    path.write_text("crowd:\n  max_speed_factor: 1.2\n  cap: 1.3\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert caught.value.lines == [f"{path}:3: crowd.cap: is called max_speed_factor now, and that is given as well"]


def test_options_take_former_names_and_a_mistake_has_the_present_one() -> None:
    config = load_config("1k", ["crowd.push=2", "optimizations.cap=first", "keys.cap=ctrl+k"])
    assert (config.crowd.avoid_weight, config.optimizations.neighbour_limit) == (2, "first")
    assert keys_of(config.keys, "neighbour_limit") == ("ctrl+k",)
    with pytest.raises(ConfigError, match=r"^overrides:1: crowd\.avoid_weight: must be"):
        load_config("1k", ["crowd.push=-2"])


def test_a_technique_is_read_and_set_by_its_former_path() -> None:
    options = Optimizations()
    options.set("cap", "nearest")
    assert options.get("cap") == options.neighbour_limit == options.cap == "nearest"


def test_a_plugins_record_of_columns_gets_the_present_names() -> None:
    class Own(NamedTuple):
        id: Ints
        push_x: Floats
        glow: Floats

    own: Any = Own
    assert tuple(dtypes_of(with_present_names(own))) == ("id", "avoidance_x", "glow")
    assert with_present_names(MovingColumns) is MovingColumns


def test_a_plugins_class_gets_the_present_names_of_its_methods() -> None:
    class Stage:
        def calls(self) -> int:
            return 7

    stage: Any = renames.with_present_methods(Stage)()
    assert stage.launches() == 7
