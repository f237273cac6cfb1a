"""The model: defaults that others rely on, everything frozen but the switches, everything documented."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import Config
from crowd_demo.registry.techniques import TECHNIQUES

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]


def fields(schema, prefix=""):
    """(path, schema) of every key that is no section."""
    definitions = Config.model_json_schema()["$defs"]
    for name, child in schema["properties"].items():
        target = definitions[child["$ref"].rpartition("/")[2]] if "$ref" in child else child
        if "properties" in target:
            yield from fields(target, f"{prefix}{name}.")
        else:
            yield prefix + name, child


FIELDS = dict(fields(Config.model_json_schema()))


def test_a_configuration_of_nothing_is_complete():
    config = Config.model_validate({})
    assert (config.agents, config.seed, config.behaviour, config.map) == (20_000, 1, "crowd", None)
    assert (config.world.width, config.time.step_hz, config.window.width, config.window.height) == (4000, 60, 1280, 720)
    assert (config.crowd.radius, config.flock.sight, config.camera.zoom) == (40, 24, None)


def test_the_defaults_of_the_switches_are_those_of_the_registry():
    optimizations = Config.model_validate({}).optimizations
    assert {t.path: optimizations.get(t.path) for t in TECHNIQUES} == {t.path: t.default for t in TECHNIQUES}


def test_numbers_have_the_type_that_they_are_declared_with():
    config = Config.model_validate({})
    numbers = config.crowd.radius, config.world.width, config.crowd.destinations
    assert [type(value) for value in numbers] == [float, float, int]


def test_all_but_the_switches_is_frozen():
    config = Config.model_validate({})
    for section, name in ((config, "agents"), (config.world, "width"), (config.crowd, "radius"), (config.keys, "pause")):
        with pytest.raises(ValidationError):
            setattr(section, name, getattr(section, name))


def test_two_configurations_share_no_switch():
    first, second = Config.model_validate({}), Config.model_validate({})
    first.optimizations.set("stagger.sight", 2)
    assert second.optimizations.stagger.sight == 8


def test_every_key_is_described():
    assert [path for path, schema in FIELDS.items() if not schema.get("description")] == []


def test_every_number_has_a_range_and_says_it():
    for path, schema in FIELDS.items():
        kinds = [schema, *schema.get("anyOf", [])]
        for number in (kind for kind in kinds if kind.get("type") in ("number", "integer")):
            assert "maximum" in number and {"minimum", "exclusiveMinimum"} & set(number), path
            assert " to " in schema["description"] or path.startswith("optimizations."), path


@pytest.mark.parametrize("path", [path for path, schema in FIELDS.items()
                                  if path.startswith(("crowd.", "flock.", "hunt.")) and "minimum" in schema])
def test_zero_is_legal_for_radius_speed_and_weight(path):
    section, name = path.split(".")
    lowest = FIELDS[path]["minimum"]
    assert lowest == (1 if name in ("destinations", "crowding", "follow_nearest", "square", "speed_draws") else 0)
    changes = {name: lowest, name.replace("speed_max", "speed_min"): lowest}
    assert getattr(getattr(Config.model_validate({section: changes}), section), name) == lowest


@pytest.mark.parametrize("data", [
    {"agents": True}, {"agents": "5"}, {"agents": 1.5}, {"agents": -1}, {"agents": 32_000_001}, {"seed": 2**63},
    {"world": {"width": 0}}, {"world": {"width": "9"}}, {"world": {"width": float("nan")}}, {"map": 3},
    {"crowd": {"radius": float("inf")}}, {"crowd": {"radius": False}}, {"window": {"hud": 1}}, {"window": []},
    {"camera": {"center": [1]}}, {"camera": {"center": [1, "2"]}}, {"camera": {"zoom": 0.01}}, {"time": {"step_hz": 0}},
    {"optimizations": {"simd": "yes"}}, {"optimizations": {"threads": 0}}, {"optimizations": {"cell_size": True}},
    {"crowd": {"speed_min": 9, "speed_max": 8}}, {"flok": {}}, {"window": {"title": "a\0"}},
])
def test_what_is_out_of_type_or_range_is_refused(data):
    with pytest.raises(ValidationError):
        Config.model_validate(data)


@pytest.mark.parametrize(("pattern", "links", "in_line"), [("rope", 2, 2), ("cloth", 4, 2), ("column", 1, 1)])
@pytest.mark.parametrize(("step_hz", "damping", "drag"), [(60, 4, 0.5), (25, 3, 2), (40, 0, 0)])
def test_links_are_as_stiff_as_a_step_can_bear(pattern, links, in_line, step_hz, damping, drag):
    stiffest = (2 - (2 * in_line * damping + drag) / step_hz) * step_hz**2 / links
    for stiffness in (0.999 * stiffest, 1.001 * stiffest):
        data = {"links": {"pattern": pattern, "stiffness": min(stiffness, 3000), "damping": damping, "drag": drag},
                "time": {"step_hz": step_hz}}
        if stiffness > stiffest and stiffest < 3000:
            with pytest.raises(ValidationError, match="unless time"):
                Config.model_validate(data)
        else:
            Config.model_validate(data)
    Config.model_validate({"links": {"stiffness": 3000, "damping": 15, "drag": 60}, "time": {"step_hz": 1}})  # no links


def test_a_whole_number_may_be_written_with_an_exponent():
    assert Config.model_validate({"agents": 1e5}).agents == 100_000
    assert type(Config.model_validate({"optimizations": {"threads": 2.0}}).optimizations.threads) is int


def test_an_empty_section_has_its_defaults():
    assert Config.model_validate({"window": None, "optimizations": {"stagger": None}}) == Config.model_validate({})


def test_the_shipped_schema_is_up_to_date():
    shipped = json.loads((ROOT / "configs" / "schema.json").read_text("utf-8"))
    assert shipped == Config.model_json_schema(), "crowd-demo --print-schema > configs/schema.json"


@pytest.mark.parametrize("changes, path, units", [
    ({"crowd.body": "0.25 m"}, "crowd.body", 6.5), ({"crowd.speed_max": "3 m/s"}, "crowd.speed_max", 78),
    ({"crowd.room": "1.5 m2"}, "crowd.room", 1014), ({"world.width": "100m"}, "world.width", 2600)])
def test_lengths_speeds_and_areas_of_people_can_be_had_in_metres(changes, path, units):
    section, name = path.split(".")
    assert getattr(getattr(load_config("20k", changes), section), name) == units


def test_text_that_is_not_in_metres_is_told_what_is_legal():
    with pytest.raises(ConfigError) as found:
        load_config("20k", {"crowd.body": "5 ft"})
    assert str(found.value) == (
        'overrides: crowd.body: must be a number from 0 to 1024 or text such as "0.46 m", not \'5 ft\'')
    with pytest.raises(ConfigError, match=r"from 0\.1 to 65536"):
        load_config("20k", {"world.width": "0 m"})
