"""The inspector in the program: it finds an agent, follows it, says when it is gone, and counts those in a box."""

from typing import Any

import numpy as np
import pygame
from driven import Driven

from crowd_demo.render.hud.status import Inspection
from crowd_demo.sim.actions import Populate
from crowd_demo.sim.behaviours.people_rules import STUCK, WAITING, WALKING
from crowd_demo.sim.inspection import sentence_of


def told(driven: Driven) -> Inspection:
    driven.frames()
    found = driven.status().inspection
    assert found
    return found


def rows(driven: Driven) -> dict[str, str]:
    found = told(driven)
    return dict((*found.rows, *found.raw, ("", found.sentence)))


def inspected(driven: Driven) -> int:
    """The id of the agent that the panel is about."""
    return int(told(driven).title.removeprefix("agent ").replace(",", ""))


def inspect_last(driven: Driven) -> None:
    driven.press("f6")
    while inspected(driven) != 199:
        driven.press(";")


def test_a_click_inspects_who_is_there_and_a_click_beside_everybody_ends_it(driven: Driven) -> None:
    driven.press("space")
    columns = driven.program.sim.agents.columns
    driven.program.inspector.click(*driven.program.camera.world_to_screen(float(columns.x[7]), float(columns.y[7])))
    assert inspected(driven) == columns.id[7] and rows(driven)["slot"] == "7 of 200"
    driven.program.inspector.click(-500.0, -500.0)
    driven.frames()
    assert driven.status().inspection is None and not driven.program.inspector.active


def test_a_key_inspects_who_is_nearest_to_the_middle_and_others_go_on_by_id(driven: Driven) -> None:
    driven.frames(3)
    driven.keys("space", "f6")
    sim, camera = driven.program.sim, driven.program.camera
    x, y = sim.agents.columns.x[:200], sim.agents.columns.y[:200]
    first = inspected(driven)
    assert first == sim.agents.columns.id[np.hypot(x - camera.x, y - camera.y).argmin()]
    driven.press(";")
    assert inspected(driven) == (first + 1) % 200
    driven.keys(";", ";", mod=pygame.KMOD_LSHIFT)
    assert inspected(driven) == (first - 1) % 200
    driven.press("f6", frames=2)
    assert driven.status().inspection is None


def test_an_agent_is_followed_through_sorts_and_restarts(driven: Driven) -> None:
    driven.program.sim.optimizations.reorder.every = 1
    driven.press("f6")
    identity, slots = inspected(driven), set()
    for curve in ["row"] * 3 + ["hilbert"] * 5:
        driven.program.sim.optimizations.curve = curve
        driven.frames()
        slot = int(rows(driven)["slot"].split()[0].replace(",", ""))
        assert driven.program.sim.agents.columns.id[slot] == identity
        slots.add(slot)
    assert len(slots) > 1, "sorts have moved it"
    driven.press("r")
    assert inspected(driven) == identity and "gone" not in str(rows(driven))


def test_one_that_dies_is_said_to_be_gone_and_is_there_again_in_the_past(driven: Driven) -> None:
    inspect_last(driven)
    driven.frames(4)
    tick = driven.program.sim.tick
    driven.program.crowd.apply(Populate(100))
    driven.frames(3)
    assert inspected(driven) == 199 and "gone" in str(rows(driven))
    driven.press("space")
    while driven.program.sim.tick > tick - 2:
        driven.press("backspace")
    assert "slot" in rows(driven), "rewound to a time at which it lived"


def test_another_agent_with_the_id_of_a_dead_one_is_not_taken_for_it(driven: Driven) -> None:
    inspect_last(driven)
    for count in (100, 200):
        driven.program.crowd.apply(Populate(count))
        driven.frames(2)
    assert driven.program.sim.agents.handles.has(np.array([199]))[0] and "gone" in str(rows(driven))


def test_a_box_is_selected_by_a_drag_with_shift_and_stays_on_the_ground(driven: Driven) -> None:
    driven.keys("space", "tab", "tab")
    pygame.key.set_mods(pygame.KMOD_LSHIFT)
    driven.drag((200, 100), (400, 250))
    pygame.key.set_mods(0)
    camera, box = driven.program.camera, driven.program.inspector.box
    assert box
    assert (box.left, box.top) == camera.screen_to_world(200, 100)
    assert (box.right, box.bottom) == camera.screen_to_world(400, 250)
    columns = driven.program.sim.agents.columns
    inside = sum(box.left <= columns.x[k] <= box.right and box.top <= columns.y[k] <= box.bottom for k in range(200))
    assert rows(driven)["agents"] == f"{inside}"
    x = camera.x
    camera.pan(50, 0)
    assert camera.x != x and driven.program.inspector.box == box
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    driven.press(";")
    assert inspected(driven) == columns.id[np.hypot(columns.x[:200] - middle[0], columns.y[:200] - middle[1]).argmin()]
    driven.press("home")
    driven.press("f6", pygame.KMOD_LSHIFT)
    assert told(driven).is_box and rows(driven)["agents"] == "200", "all in view"


def test_one_sentence_says_what_holds_a_person_up(driven: Driven) -> None:
    """Three people who come towards one who is stuck, a wall, and a person who waits."""
    driven.keys("space", "f6", frames=2)
    sim, identity = driven.program.sim, inspected(driven)
    c: Any = sim.agents.columns
    slot = int(sim.agents.handles.slots_of(np.array([identity]))[0])
    others = [each for each in range(200) if each != slot]
    c.x[:200], c.y[:200], c.x[slot], c.y[slot] = 20.0, 20.0, 320.0, 180.0
    c.state[slot], c.timer[slot], c.heading_x[slot], c.heading_y[slot] = STUCK, 2.2, 1.0, 0.0
    for number, other in enumerate(others[:3]):
        c.x[other], c.y[other], c.state[other] = 335.0, 170.0 + 10 * number, WALKING
        c.heading_x[other], c.heading_y[other] = -1.0, 0.0
    near = np.array(others)
    assert sentence_of(sim, slot, near) == "blocked by 3 oncoming people for 2.2 s, may choose another destination"
    never = sim.settings.crowd.model_copy(update={"reconsider_s": 0})
    sim.settings = sim.settings.model_copy(update={"crowd": never})
    assert sentence_of(sim, slot, near) == "blocked by 3 oncoming people for 2.2 s"
    c.state[others[0]], c.heading_x[others[1]], c.timer[slot] = WAITING, 1.0, 3.0
    assert sentence_of(sim, slot, near) == "blocked by 1 oncoming person and 1 waiting person and 1 slow person for over 3.0 s"
    assert sentence_of(sim, slot, near[:0]) == "blocked by the crowd around for over 3.0 s"
    c.heading_x[slot], c.x[slot] = -1.0, 2.0
    assert sentence_of(sim, slot, near[:0]).startswith("blocked by a wall")
    c.state[slot], c.timer[slot], c.goal[slot] = WAITING, 12.0, 1
    assert sentence_of(sim, slot, near) == "waits at destination 1 for another 12.0 s"


def test_raw_fields_are_folded_until_a_click_and_the_camera_follows(driven: Driven) -> None:
    driven.press("f6", frames=4)
    found = told(driven)
    assert found.sentence and len(found.rows) <= 4 and len(found.raw) >= 7 and not found.is_open
    assert rows(driven)["speed"].endswith(" m/s")
    driven.drag(driven.find("unfold", "raw fields"))
    assert told(driven).is_open
    driven.until(lambda: any(region.target == ("fold", "raw fields") for canvas in driven.program.hud._placed
                             for region in canvas.targets))
    driven.drag(driven.find("fold", "raw fields"))
    assert not told(driven).is_open
    camera, sim = driven.program.camera, driven.program.sim
    camera.zoom = 3.0
    driven.press(";", pygame.KMOD_LCTRL)
    for _ in range(3):
        driven.frames(10)
        slot = int(sim.agents.handles.slots_of(np.array([inspected(driven)]))[0])
        assert np.hypot(camera.x - sim.agents.columns.x[slot], camera.y - sim.agents.columns.y[slot]) < 8
    driven.press(";", pygame.KMOD_LCTRL)
    left = camera.x, camera.y
    driven.frames(10)
    assert (camera.x, camera.y) == left
