"""The switches: made from the registry, assignable, and never at a value that is not legal."""

import pytest

from crowd_demo.config import optimizations
from crowd_demo.config.optimizations import Optimizations
from crowd_demo.registry.entries import EXACT, Technique
from crowd_demo.registry.techniques import TECHNIQUES

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.path)
def test_every_choice_of_the_registry_can_be_set(technique):
    switches = Optimizations()
    for choice in technique.choices:
        switches.set(technique.path, choice)
        assert switches.get(technique.path) == choice


@pytest.mark.parametrize(("path", "value"), [
    ("reorder.every", 1000), ("stagger.avoidance", 16), ("threads", 64), ("cell_size", 4096), ("cell_size", 1.5),
])
def test_numbers_between_the_choices_are_legal(path, value):
    switches = Optimizations()
    switches.set(path, value)
    assert switches.get(path) == value


@pytest.mark.parametrize(("path", "value", "said"), [
    ("stagger.avoidance", 17, "stagger.avoidance: must be a whole number from 1 to 16, not 17"),
    ("stagger.avoidance", True, "stagger.avoidance: must be a whole number from 1 to 16, not true"),
    ("threads", "all", "threads: must be auto or a whole number from 1 to 64, not 'all'"),
    ("reorder.every", 0, "reorder.every: must be a whole number from 1 to 1000, not 0"),
    ("cull", False, "cull: must be one of off, agents, grid, not false"),
    ("depth", "band", "depth: must be one of off, full, bands, not 'band' (did you mean bands?)"),
    ("simd", 1, "simd: must be true or false, not 1"),
    ("stager.sight", 1, "unknown technique 'stager.sight' (did you mean stagger.sight?)"),
    ("stagger", 1, "unknown technique 'stagger'"),
])
def test_a_bad_value_is_refused_in_plain_words_and_changes_nothing(path, value, said):
    switches = Optimizations()
    with pytest.raises(ValueError) as caught:
        switches.set(path, value)
    assert str(caught.value).startswith(said)
    assert switches == Optimizations()


def test_plain_assignment_is_checked_too():
    switches = Optimizations()
    with pytest.raises(ValueError):
        switches.stagger.sight = 0
    with pytest.raises(ValueError):
        switches.neighbors = "none"
    switches.stagger.sight = 4
    assert switches.get("stagger.sight") == 4


def test_get_knows_only_the_registry():
    with pytest.raises(ValueError, match="unknown technique 'model_config'"):
        Optimizations().get("model_config")


def test_a_new_technique_appears_by_its_registry_entry_alone(monkeypatch):
    added = (Technique("sky.clouds", ("none", "few"), "few", EXACT, "clouds", "what they are", key="z"),
             Technique("sky.height", (1, 2, 4), 2, EXACT, "height", "how high"))
    monkeypatch.setattr(optimizations, "TECHNIQUES", (*TECHNIQUES, *added))
    sky = optimizations._model("Optimizations", optimizations._Techniques, "")().sky
    assert (sky.clouds, sky.height) == ("few", 2)
    for name, value in (("clouds", "many"), ("height", 5)):
        with pytest.raises(ValueError):
            setattr(sky, name, value)
