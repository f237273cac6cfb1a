"""Slow, obvious storage: a list for the dense side, closed gap by gap."""

from __future__ import annotations


class ListedIds:
    """What a sparse set holds, as a list of ids by slot; None is a gap."""

    def __init__(self) -> None:
        self.slots: list[int | None] = []
        self.removed: dict[int, int] = {}

    def add(self, identity: int) -> None:
        if identity not in self.slots:
            self.slots.append(identity)

    def discard_many(self, ids: list[int], mode: str) -> None:
        for identity in set(ids) & set(self.slots):
            self.slots[self.slots.index(identity)] = None
            self.removed[identity] = self.removed.get(identity, 0) + 1
        if mode == "swap_back":
            self.swap_back()
        elif mode == "shift":
            self.compact()

    def swap_back(self) -> None:
        while None in self.slots:
            last = self.slots.pop()
            if last is not None:
                self.slots[self.slots.index(None)] = last

    def compact(self) -> None:
        self.slots = [identity for identity in self.slots if identity is not None]


def linear_bytes(component: int, entities: int) -> int:
    """The plain table: an array by entity id, and one bit an entity that says whether it is there."""
    return component * entities + -(-entities // 8)


def sparse_bytes(component: int, entities: int, used: float) -> float:
    """A sparse set: two ints an entity, and components only for the used share of them."""
    return 2 * 4 * entities + component * entities * used
