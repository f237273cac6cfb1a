"""The registry of actions: what the program can be told to do, but for techniques and overlays.

An action is one entry here: keys, text, the method that it calls, and flags. The menu, the help screen, `keys:` of the
configuration with its schema, and what a key press does derive from it.
"""

from __future__ import annotations

from typing import NamedTuple

Call = tuple[object, ...]
"""A method of `Program` or of one of its parts, such as "controls.pause", and its arguments."""
OFTEN_S, SLOWLY_S = 0.06, 0.2  # between repetitions; slowly where a few steps lead far


class ActionEntry(NamedTuple):
    keys: tuple[str, ...]  # by default
    what: str
    do: Call
    shifted: Call = ()  # what it does with Shift, where that is something else
    heading: str = ""  # of the lists that name it
    changes: bool = False  # the crowd, so replays refuse it
    at_once: bool = False  # concerns the window alone: done in the middle of a step that takes long
    queued: bool = False  # done by the thread that makes the steps, before the next step
    over_dialog: bool = False  # its key also acts while a dialog is open
    repeats_s: float = 0.0  # its key repeats it so often while held; 0: never
    pans: tuple[int, int] = (0, 0)  # the direction in which the camera moves while its key is held
    in_menu: bool = True
    in_help: bool = True


def _pan(keys: tuple[str, ...], what: str, x: int, y: int) -> ActionEntry:
    return ActionEntry(keys, what, ("camera.pan", x, y), at_once=True, pans=(x, y), in_menu=False)


def _tool(key: str, what: str, name: str) -> ActionEntry:
    return ActionEntry((key,), what, ("tools.take", name), at_once=True)


def _bookmark(number: int, what: str, *, is_listed: bool = False) -> ActionEntry:
    return ActionEntry((f"ctrl+{number}",), what, ("seeing.go_to", number), ("seeing.keep", number), at_once=True,
                       in_menu=is_listed, in_help=is_listed)


OVERLAY_HEADING = "Look inside"
HEADINGS: dict[str, dict[str, ActionEntry]] = {  # of what one wants to do
    "Time": {
        "pause": ActionEntry(("space",), "pause or resume", ("controls.pause",), at_once=True),
        "step": ActionEntry((".",), "one step, then pause", ("controls.step_once",), repeats_s=OFTEN_S),
        "step_back": ActionEntry(("backspace",), "one step back, then pause", ("controls.step_back",), repeats_s=OFTEN_S),
        "restart": ActionEntry(("r",), "restart with the same seed", ("controls.restart",), changes=True, queued=True),
        "slower": ActionEntry((",", "<"), "slow down", ("controls.change_speed", -1), at_once=True,
                              repeats_s=SLOWLY_S),
        "faster": ActionEntry(("/", ">"), "speed up", ("controls.change_speed", 1), at_once=True, repeats_s=SLOWLY_S),
        "timeline": ActionEntry(("f7",), "show or hide the timeline", ("toggle", "timeline_shown"), at_once=True),
    },
    "Change the crowd": {
        "lower": ActionEntry(("[", "page down"), "decrease the selected technique's value",
                             ("techniques.change_number", -1), changes=True, repeats_s=OFTEN_S),
        "higher": ActionEntry(("]", "page up"), "increase the selected technique's value",
                              ("techniques.change_number", 1), changes=True, repeats_s=OFTEN_S),
        "fewer": ActionEntry(("-", "delete"), "remove agents", ("controls.change_agents", -1), changes=True,
                             repeats_s=SLOWLY_S),
        "more": ActionEntry(("=", "+", "insert"), "add agents", ("controls.change_agents", 1), changes=True,
                            repeats_s=SLOWLY_S),
        "agents": ActionEntry(("ctrl+a",), "type the number of agents", ("type_agents",), changes=True),
        "parameters": ActionEntry(("ctrl+n",), "show or fold the parameters", ("numbers.show",),
                                  at_once=True),
        "reset_parameters": ActionEntry((), "reset parameters to the configuration", ("numbers.reset_all",),
                                        changes=True),
        "default_parameters": ActionEntry((), "reset parameters to the program's defaults", ("numbers.reset_all", True),
                                          changes=True),
        "happen": ActionEntry(("ctrl+l",), "trigger the manual event, such as blocking a door",
                              ("controls.let_happen",), changes=True),
        "hawk": ActionEntry(("ctrl+h",), "lead the hawk with the pointer, or let it hunt", ("hawk.toggle",),
                            changes=True),
    },
    "Tools for the mouse": {
        "tools": ActionEntry(("ctrl+b",), "show or fold the tool bar", ("tools.toggle_bar",), at_once=True),
        "tool_pointer": _tool("ctrl+space", "pointer: click inspects, drag moves the camera", "pointer"),
        "tool_wall": _tool("ctrl+w", "build walls", "wall"),
        "tool_erase": _tool("ctrl+d", "tear walls down", "erase"),
        "tool_in": _tool("ctrl+i", "add people or birds", "in"),
        "tool_out": _tool("ctrl+o", "remove people or birds", "out"),
        "tool_attract": _tool("ctrl+t", "attract agents to a place", "attract"),
        "tool_repel": _tool("ctrl+r", "repel agents from a place", "repel"),
        "tool_goal": _tool("ctrl+g", "add or drag a destination", "goal"),
        "tool_exit": _tool("ctrl+x", "turn a destination into an exit, or back", "exit"),
        "tool_line": _tool("ctrl+j", "draw a line that counts crossings", "line"),
        "tool_scare": _tool("ctrl+f", "scare agents, or lead the hawk", "scare"),
        "brush_larger": ActionEntry(("ctrl+]",), "enlarge the brush (also Ctrl+wheel)", ("tools.resize", 1),
                                    at_once=True, repeats_s=OFTEN_S),
        "brush_smaller": ActionEntry(("ctrl+[",), "shrink the brush", ("tools.resize", -1), at_once=True,
                                     repeats_s=OFTEN_S),
        "undo": ActionEntry(("ctrl+z",), "undo the last change (Shift: redo)", ("tools.undo",), ("undo.redo",),
                            changes=True, queued=True),
        "redo": ActionEntry(("ctrl+y",), "redo", ("undo.redo",), changes=True, queued=True),
    },
    OVERLAY_HEADING: {
        "colours": ActionEntry(("q",), "next colour mode (Shift: previous)", ("seeing.next_colours",),
                               ("seeing.next_colours", True)),
        "overlays": ActionEntry(("f10",), "list overlays (Shift: hide all)", ("menus.open_overlays",),
                                ("overlays.hide_all",),
                                at_once=True),
        "inspect": ActionEntry(("f6",), "inspect the agent in the middle (Shift: count all in view)",
                               ("inspector.inspect_or_stop",), ("inspector.whole_view",)),
        "inspect_follow": ActionEntry(("ctrl+;",), "follow the inspected agent, or stop",
                                      ("inspector.follow",)),
        "inspect_next": ActionEntry((";",), "inspect the next agent (Shift: the previous one)", ("inspector.go_on", 1),
                                    ("inspector.go_on", -1)),
    },
    "Move the camera": {
        "pan_left": _pan(("a", "left"), "pan left", -1, 0),
        "pan_right": _pan(("d", "right"), "pan right", 1, 0),
        "pan_up": _pan(("w", "up"), "pan up", 0, -1),
        "pan_down": _pan(("s", "down"), "pan down", 0, 1),
        "zoom_in": ActionEntry(("ctrl+up",), "zoom in", ("seeing.zoom_middle", 1), at_once=True, repeats_s=OFTEN_S),
        "zoom_out": ActionEntry(("ctrl+down",), "zoom out", ("seeing.zoom_middle", -1), at_once=True,
                                repeats_s=OFTEN_S),
        "fit": ActionEntry(("home",), "fit the whole world into the window", ("seeing.fit",), at_once=True),
        "bookmark_1": _bookmark(1, "show bookmark 1 to 9 (Shift: keep this view)", is_listed=True),
        **{f"bookmark_{n}": _bookmark(n, f"show bookmark {n} (Shift: keep this view)") for n in range(2, 10)},
        "minimap": ActionEntry(("end",), "show or hide the minimap", ("toggle", "minimap_shown"), at_once=True),
    },
    "Measure and prove": {
        "card": ActionEntry(("i",), "show the last result card, then why", ("show_card",), at_once=True),
        "measure": ActionEntry(("m",), "measure the selected technique", ("experiments.measure",)),
        "ablate": ActionEntry(("n",), "measure every technique by turning it off", ("experiments.ablate",)),
        "largest": ActionEntry(("p",), "find the largest crowd at 60 FPS here", ("experiments.largest",)),
        "split": ActionEntry(("\\",), "compare two values side by side", ("split.toggle",)),
        "split_value": ActionEntry(("ctrl+\\",), "next value there (Shift: previous)", ("split.next_value",),
                                   ("split.next_value", True)),
        "slow_frames": ActionEntry(("f4",), "save the times of the last second as CSV", ("save_slow_frames",)),
    },
    "Scenarios, tours and files": {
        "scenarios": ActionEntry(("f2",), "open a scenario", ("open_scenarios",), changes=True,
                                 at_once=True),
        "tour": ActionEntry(("f3",), "start or leave a tour", ("open_tours",), changes=True),
        "save_scenario": ActionEntry(("ctrl+s",), "save as a scenario: map and YAML", ("scenario_files.save",),
                                     over_dialog=True),
        "save": ActionEntry(("f5",), "save the crowd", ("files.save",), queued=True),
        "load": ActionEntry(("f9",), "load the last saved crowd", ("load",), changes=True),
        "record": ActionEntry(("f8",), "start or stop recording", ("files.toggle_recording",), changes=True,
                              queued=True),
        "screenshot": ActionEntry(("f12",), "save a screenshot", ("ask_picture",), over_dialog=True),
        "export": ActionEntry(("ctrl+e",), "export the last seconds as a page (again: cancel)", ("export",),
                              queued=True),
        "copy_command": ActionEntry(("y",), "copy as a command (Shift: as YAML)", ("copy",), ("copy", True)),
    },
    "Panels and window": {
        "help": ActionEntry(("f1", "?"), "list all keys", ("menus.open_keys",), at_once=True, over_dialog=True),
        "menu": ActionEntry(("return",), "open the menu", ("menus.open_main",), at_once=True, in_menu=False),
        "hud": ActionEntry(("tab",), "HUD: compact, full, hidden", ("panels.next_mode",), ("panels.next_mode", True),
                           at_once=True),
        "fit_graph": ActionEntry(("g",), "fit the scale of the graph", ("panels.fit_graph",), at_once=True),
        "theme": ActionEntry((), "dark or light panels", ("panels.go_on", "theme"), at_once=True),
        "units": ActionEntry((), "show FPS or milliseconds first", ("panels.go_on", "units"), at_once=True),
        "larger": ActionEntry(("ctrl+=", "ctrl++"), "enlarge text and panels", ("panels.resize", 1), at_once=True,
                              over_dialog=True, repeats_s=SLOWLY_S),
        "smaller": ActionEntry(("ctrl+-",), "shrink text and panels", ("panels.resize", -1), at_once=True,
                               over_dialog=True, repeats_s=SLOWLY_S),
        "normal_size": ActionEntry(("ctrl+0",), "reset the size of text and panels", ("panels.resize", 0), at_once=True,
                                   over_dialog=True),
        "fullscreen": ActionEntry(("f11",), "toggle full screen", ("toggle_fullscreen",), at_once=True,
                                  over_dialog=True),
        "quit": ActionEntry(("escape",), "close a dialog, tool or inspector, then quit", ("close_or_quit",),
                            at_once=True, over_dialog=True),
    },
}
PROGRAM = {name: action._replace(heading=heading)
           for heading, actions in HEADINGS.items() for name, action in actions.items()}
