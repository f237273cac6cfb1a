"""The registry of actions: what the program can be told to do, but for techniques and overlays.

Their keys, the menu, the help screen and `keys:` of the configuration derive from it.
"""

from __future__ import annotations

from typing import NamedTuple


class ActionEntry(NamedTuple):
    """What an action is called with, what it does, and under which heading it is listed."""

    keys: tuple[str, ...]  # by default
    what: str
    heading: str


OVERLAY_HEADING = "Look inside"
HEADINGS: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {  # of what one wants to do: name, keys and what it does
    "Time": {
        "pause": (("space",), "pause or continue"),
        "step": ((".",), "one step, then pause"),
        "step_back": (("backspace",), "one step back, then pause"),
        "restart": (("r",), "start again with the same seed"),
        "slower": ((",", "<"), "slower motion"),
        "faster": (("/", ">"), "faster motion"),
        "timeline": (("f7",), "show or hide the timeline"),
    },
    "Change the crowd": {
        "lower": (("[", "page down"), "a smaller number for the technique touched last"),
        "higher": (("]", "page up"), "a larger number for it"),
        "fewer": (("-", "delete"), "fewer agents"),
        "more": (("=", "+", "insert"), "more agents"),
        "agents": (("ctrl+a",), "type the number of agents"),
        "numbers": (("ctrl+n",), "numbers of the behaviour: show or fold"),
        "reset_numbers": ((), "all numbers as in the configuration"),
        "shipped_numbers": ((), "all numbers as the program ships them"),
        "happen": (("ctrl+l",), "what the scenario leaves to a hand, such as blocking a door"),
        "hawk": (("ctrl+h",), "the hawk follows the pointer, or hunts by itself"),
    },
    "Tools for the mouse": {
        "tools": (("ctrl+b",), "show or fold the tool bar"),
        "tool_hand": (("ctrl+space",), "the hand: click inspects, drag moves the camera"),
        "tool_wall": (("ctrl+w",), "build walls"),
        "tool_erase": (("ctrl+d",), "tear walls down"),
        "tool_in": (("ctrl+i",), "bring people or birds in"),
        "tool_out": (("ctrl+o",), "take people or birds out"),
        "tool_attract": (("ctrl+t",), "attract: draw all around to a place"),
        "tool_repel": (("ctrl+r",), "repel: push all around away from it"),
        "tool_goal": (("ctrl+g",), "add a destination, or drag one"),
        "tool_exit": (("ctrl+x",), "make a destination an exit, or ordinary"),
        "tool_scare": (("ctrl+f",), "scare who is near; lead the hawk"),
        "brush_larger": (("ctrl+]",), "a larger brush; the wheel with Ctrl, too"),
        "brush_smaller": (("ctrl+[",), "a smaller brush"),
        "undo": (("ctrl+z",), "undo the last edit; with Shift redo"),
        "redo": (("ctrl+y",), "do again what was undone"),
    },
    OVERLAY_HEADING: {
        "colours": (("q",), "what the colours of agents tell"),
        "overlays": (("f10",), "overlays; with Shift hide all"),
        "inspect": (("f6",), "inspect who is in the middle; with Shift: count all in view"),
        "inspect_next": ((";",), "inspect the next; with Shift the one before"),
    },
    "Move the camera": {
        "pan_left": (("a", "left"), "move the camera left"),
        "pan_right": (("d", "right"), "move the camera right"),
        "pan_up": (("w", "up"), "move the camera up"),
        "pan_down": (("s", "down"), "move the camera down"),
        "zoom_in": (("ctrl+up",), "zoom in"),
        "zoom_out": (("ctrl+down",), "zoom out"),
        "fit": (("home",), "fit the whole world into the window"),
        "bookmark_1": (("ctrl+1",), "kept views: Ctrl 1 to 9; Shift keeps"),
        **{f"bookmark_{n}": ((f"ctrl+{n}",), f"show bookmark {n}; with Shift keep this view") for n in range(2, 10)},
        "minimap": (("end",), "show or hide the minimap"),
    },
    "Measure and prove": {
        "card": (("i",), "what the last switch gave, again"),
        "measure": (("m",), "measure the technique touched last"),
        "ablate": (("n",), "what each technique buys: off in turn"),
        "largest": (("p",), "the largest crowd at 60 FPS here"),
        "split": (("\\",), "two values of a technique side by side"),
        "split_value": (("ctrl+\\",), "the next value there; Shift: backwards"),
        "slow_frames": (("f4",), "save the last second's times as CSV"),
    },
    "Scenarios, tours and files": {
        "scenarios": (("f2",), "scenarios: another crowd in this window"),
        "tour": (("f3",), "tours through the ideas; leave the tour"),
        "save_scenario": (("ctrl+s",), "save as a scenario: map and YAML"),
        "save": (("f5",), "save the crowd"),
        "load": (("f9",), "load the crowd saved last"),
        "record": (("f8",), "begin or end a recording"),
        "screenshot": (("f12",), "save a picture"),
        "export": (("ctrl+e",), "a web page of the last seconds; again: cancel"),
        "copy_command": (("y",), "copy as command; with Shift as YAML"),
    },
    "Panels and window": {
        "help": (("f1", "?"), "all keys"),
        "menu": (("return",), "menu of everything"),
        "hud": (("tab",), "HUD: full, compact, off"),
        "fit_graph": (("g",), "fit the graph's scale"),
        "theme": ((), "dark or light panels"),
        "units": ((), "FPS or milliseconds first"),
        "larger": (("ctrl+=", "ctrl++"), "larger text and panels"),
        "smaller": (("ctrl+-",), "smaller text and panels"),
        "normal_size": (("ctrl+0",), "text and panels in normal size"),
        "fullscreen": (("f11",), "full screen or window"),
        "quit": (("escape",), "close what is open, then quit"),
    },
}
PROGRAM = {name: ActionEntry(keys, what, heading)
           for heading, listed in HEADINGS.items() for name, (keys, what) in listed.items()}

TOLD_BY_OTHERS = tuple(f"bookmark_{number}" for number in range(2, 10))  # actions that need no line in help and menu
