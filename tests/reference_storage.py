"""Slow, obvious storage: a list for the dense side, closed gap by gap."""


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
