"""Bets of a tour: a guess that is typed or set along a scale, and how it compares with what was measured."""

from __future__ import annotations

import math

from crowd_demo.app.tours.live_numbers import COMPARED, Numbers, interval_of, number_text
from crowd_demo.config.tour import Bet
from crowd_demo.registry.texts import digits_text
from crowd_demo.render.hud.status import BetOutcome, BetView

DIGITS = frozenset("0123456789.")
MAX_DIGITS = 7
UNITS = {"fps": "frames per second", "near_reads": "%"}


class Guess:
    """A guess under way, as it is typed; a place on the scale of the bet is written as its value."""

    def __init__(self, bet: Bet) -> None:
        self.bet, self.typed = bet, ""

    @property
    def value(self) -> float | None:
        """The number; None as long as there is none."""
        return float(self.typed) if self.typed.strip(".") else None

    def type(self, key: str) -> bool:
        """Take a digit, a point or backspace; return whether it was taken."""
        if key == "backspace":
            was, self.typed = self.typed, self.typed[:-1]
            return was != ""
        if key not in DIGITS:
            return False
        if len(self.typed) < MAX_DIGITS and not (key == "." and "." in self.typed):
            self.typed += key
        return True

    def place(self, share: float) -> None:
        self.typed = f"{self.bet.value_at(share):.10g}"

    def view(self, is_open: bool, outcome: BetOutcome | None = None) -> BetView:
        bet = self.bet
        share = None if self.value is None else bet.share_of(self.value)
        ends = f"{bet.low:,.10g}", f"{bet.high:,.10g}"
        return BetView(ends, self.typed, unit_of(bet.name), share, outcome, is_open)

    def outcome(self, before: Numbers, now: Numbers) -> BetOutcome | None:
        """How the guess compares with the numbers of two moments; None without a guess."""
        return None if self.value is None else outcome_of(self.bet, self.value, before, now)


def outcome_of(bet: Bet, guess: float, before: Numbers, now: Numbers) -> BetOutcome:
    """How a guess compares with the measured interval. What is shown is what is compared, with as many digits."""
    value, low, high = interval_of(bet.name, before, now)
    if math.isnan(value):
        return BetOutcome("not known here", None, "This number could not be measured here.", is_right=False)
    shown, least, most = (  # factors as the card has them, other numbers as the texts of tours do
        digits_text(number, 2, ",") if bet.name in COMPARED else number_text(bet.name, number)
        for number in (value, low, high))
    measured = f"{shown} {unit_of(bet.name)}".rstrip() + f" ({least} to {most})" * (least != most)
    shares = bet.share_of(low), bet.share_of(high)
    if min(number_of(least), low) <= guess <= max(number_of(most), high) or guess == number_of(shown):
        return BetOutcome(measured, shares, f"Your guess of {guess:,.10g} lies within what was measured.", is_right=True)
    decimals = max(len(f"{guess:.10g}".partition(".")[2]), len(shown.partition(".")[2]))
    distance = f"{abs(guess - number_of(shown)):,.{decimals}f}"
    return BetOutcome(measured, shares, f"Your guess of {guess:,.10g} is too {'high' if guess > value else 'low'}"
                                        f" by {distance}.", is_right=False)


def unit_of(name: str) -> str:
    if name in COMPARED:
        return "times as fast"
    return "ms" if name.endswith("_ms") else UNITS.get(name, name)


def number_of(shown: str) -> float:
    return float(shown.replace(",", ""))
