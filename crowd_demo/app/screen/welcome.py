"""What a window says first: which keys to press. It goes when one is pressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowd_demo.app.screen.notices import Notices
from crowd_demo.config.keys import key_text

TOPIC = "welcome"
LASTS_S = 15.0
FIRST = {"simd": "SIMD lanes", "tour": "a tour", "scenarios": "other crowds", "help": "all keys"}  # by action


def welcome(notices: Notices, keys: Mapping[str, Sequence[str]]) -> None:
    """Show it; `keys` are those of each action as they are shown."""
    named = [f"{key_text(keys[action][0])} for {what}" for action, what in FIRST.items() if keys.get(action)]
    if named:
        notices.add(f"Press {', '.join(named)}", TOPIC, LASTS_S)
