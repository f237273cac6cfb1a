"""A program whose cards are on, with a clock that tests move on."""

from typing import Any

from crowd_demo.app.cards import LASTS_S, LONGEST_S, Cards
from driven import Driven

from crowd_demo.render.hud.card import Card
from crowd_demo.sim.actions import Action, Switch

LOOK_S = 3e-4


class Clock:
    """A frame takes a 60th of a second, and every look at the clock three tenths of a millisecond."""

    def __init__(self) -> None:
        self.now_s, self.looks, self.look_s = 0.0, 0, LOOK_S

    def __call__(self) -> float:
        self.now_s, self.looks = self.now_s + self.look_s, self.looks + 1
        return self.now_s


def rounds_of(card: Card) -> int:
    """The rounds of two copies that the card shows."""
    count, what, *_ = card.state.split()
    assert what == "rounds"
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
        """Until the card's time is over; after a hundred frames they are as long as can be, and little is measured in each."""
        self.frames(100)
        self.clock.look_s = 0.05
        for _ in range(round(LASTS_S / LONGEST_S) + 2):
            self.clock.now_s += LONGEST_S
            self.frames()
        self.clock.look_s = LOOK_S
