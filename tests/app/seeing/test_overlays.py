"""Overlays in the program: the list of them, the legend, when they are drawn, and that all shows a crowd without a step."""

import pygame
import pytest
from driven import Driven

from crowd_demo.app.screen import screen
from crowd_demo.registry.built_in import BEHAVIOURS, COLOURS, OVERLAYS
from crowd_demo.sim.metrics.readings import METERS
from crowd_demo.sim.simulation import Simulation


def rows(driven: Driven) -> dict[str, tuple[str, str]]:
    return {row.text: (row.detail, row.about) for row in driven.view().rows}


def show_all(driven: Driven) -> None:
    for name in OVERLAYS:
        driven.program.act(name)
    driven.frames(2)
    assert len(driven.status().legend_items) == len(OVERLAYS)


def test_the_list_has_every_overlay_says_which_has_nothing_to_show_and_stays_open(driven: Driven) -> None:
    driven.press("f10")
    found = rows(driven)
    assert list(found) == ["hide all", *(entry.label for entry in OVERLAYS.values())]
    situation = driven.program.sim.situation
    for entry in OVERLAYS.values():
        value, about = found[entry.label]
        why = entry.inactive(situation)
        assert ("nothing to show" in value) == bool(why) and why in about and entry.why in about
    assert "no links" in found["links"][1] and found["freeze"][0] == "F"
    first = next(iter(OVERLAYS))
    driven.press("return")
    assert driven.program.overlays.shown == {first} and "shown" in rows(driven)[OVERLAYS[first].label][0]
    driven.keys("down", "return")
    assert driven.program.overlays.shown == set(list(OVERLAYS)[:2])
    driven.frames()
    assert [item.name for item in driven.status().legend_items] == [entry.label for entry in list(OVERLAYS.values())[:2]]
    driven.keys("return", "up", "return", frames=2)
    assert not driven.program.overlays.shown and not driven.status().legend_items


def test_overlays_are_drawn_while_paused_after_a_step_back_and_after_a_restart(driven: Driven) -> None:
    show_all(driven)
    driven.frames(2)
    for key in ("space", "backspace", "r", ".", "-", "=", "1"):
        driven.settled(key)
        driven.frames(2)
        assert len(driven.status().legend_items) == len(OVERLAYS)


def test_the_flow_field_is_that_of_the_destination_under_the_cursor(driven: Driven) -> None:
    driven.program.act("show_flow")
    driven.frames(3)
    fields, camera = driven.program.sim.flow_fields.fields, driven.program.camera
    for goal in range(2):
        at = camera.world_to_screen(float(fields.goal_x[goal]), float(fields.goal_y[goal]))
        driven.program.pointer.at, driven.program.pointer.in_window = at, True
        driven.program.overlays.draw(screen(), driven.program.panels.now)
        assert f"destination {goal}" in driven.program.overlays.legend_items[0].text


def test_a_configuration_may_begin_with_overlays() -> None:
    driven = Driven("scene.overlays=[streams, cells]")
    driven.frames()
    assert driven.program.overlays.shown == {"show_streams", "show_cells"}
    assert driven.program.overlays.at_first == ("streams", "cells")
    assert [item.name for item in driven.status().legend_items] == ["streams", "cells"]


def test_all_are_hidden_at_once_by_shift_and_by_the_menu(driven: Driven) -> None:
    overlays = driven.program.overlays
    for keys in (("f10", pygame.KMOD_SHIFT),), (("f10", 0), ("home", 0), ("return", 0)):
        show_all(driven)
        assert overlays.frozen
        for key, mod in keys:
            driven.press(key, mod)
        driven.frames()
        assert not overlays.shown and not overlays.frozen and not driven.status().legend_items


# --- A crowd that has made no step is shown, too ---------------------------------------------------------------------

def look_at_everything(driven: Driven) -> None:
    """Every overlay at once, every colour mode in turn, an agent and a box in the inspector, every meter."""
    driven.program.inspector.stop()
    driven.program.act("inspect")
    for name in COLOURS:
        driven.program.seeing.show_colours(name)
        driven.frames()
        assert driven.program.seeing.colours == name and len(driven.status().legend_items) == len(OVERLAYS)
    assert bool(driven.status().inspection) == (driven.program.sim.agents.count > 0)
    driven.program.inspector.select((0.0, 0.0), (300.0, 300.0))
    driven.frames()
    assert driven.status().inspection
    for meter in METERS.values():
        if meter.applies(driven.program.sim):
            meter.measure(driven.program.sim)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_everything_that_can_be_seen_is_seen_of_a_crowd_without_a_step(behaviour: str) -> None:
    driven = Driven(f"behaviour={behaviour}")
    crowd = driven.program.crowd
    driven.press("space")
    for name in OVERLAYS:
        driven.program.act(name)
    walked = Simulation(crowd.sim.config)
    walked.step(3)
    nobody = Simulation(crowd.sim.config)
    nobody.populate(0)
    for sim in (Simulation(crowd.sim.config), Simulation.from_snapshot(walked.snapshot()), nobody):
        crowd.go_on_with(sim, crowd.sim.tick)
        state = sim.tick, sim.state_hash()
        look_at_everything(driven)
        assert (sim.tick, sim.state_hash()) == state and crowd.sim is sim
