"""What ships is found, from any folder, and loads."""

import struct
from pathlib import Path

import pytest

from crowd_demo import ConfigError, load_config
from crowd_demo.config.keys import keys_of
from crowd_demo.config.resources import (
    TRY,
    WATCH,
    about,
    data_folder,
    find_config,
    find_map,
    list_configs,
    list_maps,
    note_of,
    own_files,
    picture_of,
)
from crowd_demo.registry.techniques import BY_PATH, inactive
from crowd_demo.sim.simulation import Simulation

pytestmark = pytest.mark.quick

SHIPPED = list(list_configs())


def test_the_shipped_configurations_are_listed_by_size():
    assert SHIPPED[:7] == ["1k", "5k", "20k", "20k-flock", "100k", "1m", "1m-flock"]
    assert {"maze", "open-world"} <= set(SHIPPED[7:])


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.usefixtures("in_tmp_path")
def test_a_shipped_configuration_loads_from_any_folder_and_says_what_it_is(name):
    assert load_config(name) == load_config(f"{name}.yaml")
    text = list_configs()[name].read_text("utf-8")
    assert text.startswith("# yaml-language-server: $schema=schema.json\n# ")
    assert len(about(list_configs()[name])) > 20
    config = load_config(name)
    x, y = config.camera.center or (0, 0)  # the first view lies in the world
    assert 0 <= x <= config.world.width and 0 <= y <= config.world.height


def test_the_names_keep_their_promise():
    expected = {"1k": (1_000, "crowd"), "5k": (5_000, "crowd"), "20k": (20_000, "crowd"), "20k-flock": (20_000, "flock"),
                "100k": (100_000, "crowd"), "1m": (1_000_000, "crowd"), "1m-flock": (1_000_000, "flock"),
                "maze": (3_000, "crowd"), "open-world": (18_000, "crowd")}
    loaded = {name: load_config(name) for name in expected}
    assert {name: (config.agents, config.behaviour) for name, config in loaded.items()} == expected


@pytest.mark.usefixtures("in_tmp_path")
def test_a_path_wins_over_configs_and_configs_over_what_ships(tmp_path):
    (tmp_path / "20k").mkdir()  # a folder is no configuration
    assert find_config("20k") == list_configs()["20k"] == data_folder() / "configs" / "20k.yaml"
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "20k.yaml").write_text("agents: 2\n", "utf-8")
    assert load_config("20k").agents == load_config("20k.yaml").agents == 2
    (tmp_path / "20k.yaml").write_text("agents: 3\n", "utf-8")
    assert load_config("20k").agents == load_config("20k.yaml").agents == 3


@pytest.mark.parametrize("name", ["plaza", "plaza.map"])
@pytest.mark.usefixtures("in_tmp_path")
def test_a_shipped_map_is_found_by_its_name(name):
    assert find_map(name) == list_maps()["plaza"].resolve()


def test_a_map_of_ones_own_wins_over_a_shipped_file_of_that_name(tmp_path):
    (tmp_path / "plaza.map").write_text("type octile\n", "utf-8")
    assert find_map("plaza.map", tmp_path) == tmp_path / "plaza.map"
    assert find_map("plaza", tmp_path) == list_maps()["plaza"]


def test_an_unknown_map_names_those_there_are():
    known = r"\(citadel, concert, corridor, crossing, doorway, hall, maze, meadow, metropolis, plaza, station, theatre\)"
    with pytest.raises(ValueError, match=rf"'plazza' is neither .* {known} \(did you mean plaza\?\)"):
        find_map("plazza")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_configuration_says_what_one_sees_and_watches_has_a_picture_and_a_hint_whose_key_does_something(name):
    path = list_configs()[name]
    assert 60 < len(note_of(path, WATCH)) < 140
    picture = picture_of(path)
    assert picture and 5_000 < picture.stat().st_size < 80_000
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    assert (width, height) == (256, 144)
    sentence, (action, _, hint) = about(path), note_of(path, TRY).partition(", ")
    assert 4 <= len(sentence.split()) <= 12 and sentence.endswith(".") and len(hint.split()) <= 9
    config = load_config(name)
    assert keys_of(config.keys, action) and hint
    if action in BY_PATH:
        assert action not in inactive(Simulation(config.model_copy(update={"agents": 10})).situation)
    if action == "happen":
        assert hint in [event.hand for event in config.events]


@pytest.mark.usefixtures("in_tmp_path")
def test_the_users_own_files_are_those_that_are_not_shipped(tmp_path):
    assert own_files("configs", []) == {}
    (tmp_path / "configs").mkdir()
    for name in ("b.yaml", "2k.yaml", "a.yaml", "c.txt"):
        (tmp_path / "configs" / name).write_text("agents: 2\n", "utf-8")
    (tmp_path / "configs" / "folder.yaml").mkdir()
    assert list(own_files("configs", [tmp_path / "configs" / "b.yaml"])) == ["2k", "a"]


def test_a_picture_beside_a_configuration_of_ones_own_is_its_picture(tmp_path):
    path = tmp_path / "20k.yaml"
    assert picture_of(path) is None
    (tmp_path / "20k.png").write_bytes(b"")
    assert picture_of(path) == tmp_path / "20k.png"


@pytest.mark.usefixtures("in_tmp_path")
def test_yml_is_as_good_as_yaml(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "mine.yml").write_text("agents: 2\n", "utf-8")
    assert load_config("mine").agents == load_config("mine.yml").agents == load_config("configs/mine").agents == 2
    assert own_files("configs", list_configs().values()) == {"mine": Path("configs", "mine.yml")}
    with pytest.raises(ConfigError, match="did you mean mine"):
        load_config("mime.yml")
    (tmp_path / "configs" / "mine.yaml").write_text("agents: 3\n", "utf-8")
    assert load_config("mine").agents == 3
    assert own_files("configs", list_configs().values()) == {"mine": Path("configs", "mine.yaml")}
