"""An action is one entry of the registry: all lists of actions derive from it."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature
from operator import attrgetter
from pathlib import Path

from driven import Driven

from crowd_demo.config.keys import ACTIONS

ONE_MORE = """
from crowd_demo.registry import actions
wave = ("controls.populate", 7)
actions.PROGRAM["wave"] = actions.ActionEntry(("f13",), "all agents wave", wave, heading="Time", changes=True)
from driven import Driven
from crowd_demo.cli import main
from crowd_demo.config.model import Config
main(["--list-keys"])
print(Config.model_json_schema()["$defs"]["Keys"]["properties"]["wave"])
driven = Driven()
driven.press("f1")
print([(row.group, row.text, row.detail) for row in driven.status().view.rows if "wave" in row.text])
driven.press("escape")
driven.program.menus.open_main()
driven.keys(*"wave")
print([(row.group, row.text, row.detail) for row in driven.status().view.rows if "wave" in row.text])
driven.keys("escape", "escape", "f13")
print(driven.program.sim.agents.count)
"""


def test_every_action_calls_a_method_that_takes_its_arguments(driven: Driven) -> None:
    for name, action in ACTIONS.items():
        for method, *arguments in filter(None, (action.do, action.shifted)):
            assert signature(attrgetter(str(method))(driven.program)).bind(*arguments), name


def test_one_entry_adds_an_action_to_keys_lists_schema_help_and_menu() -> None:
    done = subprocess.run([sys.executable, "-c", ONE_MORE], cwd=Path(__file__).parents[1], capture_output=True,
                          encoding="utf-8", check=True)
    assert "  f13           wave               all agents wave\n" in done.stdout
    schema, in_help, in_menu, agents = done.stdout.splitlines()[-4:]
    assert "'default': ['f13'], 'description': 'all agents wave'" in schema
    assert in_help == in_menu == "[('Time', 'all agents wave', 'F13')]" and agents == "7"
