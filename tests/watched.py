"""A program whose cards are on, with a clock that tests move on."""

from __future__ import annotations

from typing import Any

from driven import Driven

from crowd_demo.app.card.cards import Cards
from crowd_demo.app.card.trial import LASTS_S
from crowd_demo.render.hud.card import Card
from crowd_demo.sim.actions import Action, Switch

LOOK_S = 3e-4


class Clock:
    """A frame takes a 60th of a second, and every look at the clock three tenths of a millisecond."""

    def __init__(self) -> None:
        self.now_s, self.looks = 0.0, 0

    def __call__(self) -> float:
        self.now_s, self.looks = self.now_s + LOOK_S, self.looks + 1
        return self.now_s


def turns_of(card: Card) -> int:
    """The turns of copies that the card tells of."""
    count, what, *_ = card.state.split()
    assert what == "turns"
    return int(count)


class Watched(Driven):
    """A program whose cards are on."""

    def __init__(self, *settings: str) -> None:
        super().__init__(*settings)
        self.clock = Clock()
        self.program.cards = Cards(self.program.measured, self.clock)
        self.program.cards.on = True

    def frames(self, count: int = 1) -> None:
        for _ in range(count):
            self.clock.now_s += 1 / 60
            super().frames()

    def switch(self, path: str, value: Any, frames: int = 0) -> None:
        """With no compiler in between; then go on for so many frames."""
        self.apply(Switch(path, value), frames)

    def apply(self, action: Action, frames: int = 0) -> None:
        self.program.crowd.apply(action)
        self.frames(1 + frames)

    @property
    def card(self) -> Card:
        card = self.program.cards.card()
        assert card
        return card

    @property
    def has_card(self) -> bool:
        return self.program.cards.card() is not None

    def last(self) -> None:
        """Until the card's time is over."""
        self.frames(round(LASTS_S * 60) + 10)
