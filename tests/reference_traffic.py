"""Slow, obvious versions of kernels that note each access to memory, to count bytes.

What a kernel reads after it has written it does not count as read, and nothing counts twice. Histograms, strips and
cells are working memory.
"""

from collections.abc import Sequence

WORD = 4


class Memory:
    """Notes which elements of arrays kernels read and write."""

    def __init__(self) -> None:
        self._read, self._written = set[tuple[str, int]](), set[tuple[str, int]]()
        self._of_earlier = 0, 0

    def read(self, array: str, at: int) -> None:
        if (array, at) not in self._written:
            self._read.add((array, at))

    def write(self, array: str, at: int) -> None:
        self._written.add((array, at))

    def end_kernel(self) -> None:
        self._of_earlier = self._of_earlier[0] + len(self._read), self._of_earlier[1] + len(self._written)
        self._read, self._written = set(), set()

    def bytes(self) -> tuple[float, float]:
        self.end_kernel()
        return WORD * self._of_earlier[0], WORD * self._of_earlier[1]


class Trace(Memory):
    """Notes all accesses, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.all = list[tuple[str, int]]()

    def read(self, array: str, at: int) -> None:
        self.all.append((array, at))

    write = read


def index(memory: Memory, cells: Sequence[int], count: int) -> list[int]:
    """Sort the agents by their cell; return the order."""
    for slot in range(len(cells)):
        memory.read("x", slot)
        memory.read("y", slot)
        memory.write("key", slot)
    memory.end_kernel()
    cursor, at = [0] * count, 0
    for cell in range(count):
        memory.write("start", cell)
        cursor[cell], at = at, at + sum(each == cell for each in cells)
    memory.write("start", count)
    memory.end_kernel()
    order = [0] * len(cells)
    for slot, cell in enumerate(cells):
        memory.read("key", slot)
        memory.write("order", cursor[cell])
        order[cursor[cell]] = slot
        cursor[cell] += 1
    memory.end_kernel()
    return order


def reorder(memory: Memory, order: Sequence[int], columns: int) -> None:
    for column in range(columns):
        for k, slot in enumerate(order):
            memory.read("order", k)
            memory.read(f"from {column}", slot)
            memory.write(f"to {column}", k)
    memory.end_kernel()


def interaction(memory: Memory, order: Sequence[int], cells: Sequence[int], columns: int, reach: int, observed: int,
                results: Sequence[str] = ("avoidance_x", "avoidance_y", "next_update")) -> None:
    """Each agent reads what it observes of all agents in the cells around its own; all are due."""
    for k, me in enumerate(order):
        memory.read("order", k)
        if "next_update" in results:
            memory.read("next_update", me)
        row, column = divmod(cells[me], columns)
        for other_k, other in enumerate(order):
            other_row, other_column = divmod(cells[other], columns)
            if abs(row - other_row) <= reach and abs(column - other_column) <= reach:
                memory.read("order", other_k)
                for each in range(observed):
                    memory.read(f"observed {each}", other)
        for result in results:
            memory.write(result, me)
    memory.end_kernel()


def move_apart(memory: Memory, agents: int) -> None:
    """The second kernel of contact."""
    for slot in range(agents):
        for each in ("x", "y", "shift_x", "shift_y"):
            memory.read(each, slot)
        memory.write("x", slot)
        memory.write("y", slot)
    memory.end_kernel()


def sight(memory: Memory, due: Sequence[bool], waits: Sequence[bool], walls: bool) -> None:
    """Who is due looks for a goal, unless waiting; with walls the answer is read again."""
    for slot, is_due in enumerate(due):
        memory.read("id", slot)
        for each in ("x", "y", "goal_x", "goal_y", "state") if is_due else ():
            memory.read(each, slot)
        if is_due and not waits[slot]:
            memory.write("goal_visible", slot)
        if is_due and walls:
            memory.read("goal_visible", slot)
    memory.end_kernel()


def headings(memory: Memory, due: Sequence[bool]) -> None:
    for slot, is_due in enumerate(due):
        memory.read("id", slot)
        for each in ("x", "y", "goal", "goal_x", "goal_y", "goal_visible", "heading_x", "heading_y") if is_due else ():
            memory.read(each, slot)
        for each in ("heading_x", "heading_y") if is_due else ():
            memory.write(each, slot)
    memory.end_kernel()


def asks(memory: Memory, due: Sequence[bool], visible: Sequence[bool]) -> None:
    """Who is due asks for a flow field, if the goal is out of sight."""
    for slot, is_due in enumerate(due):
        memory.read("id", slot)
        if is_due:
            memory.read("goal_visible", slot)
            if not visible[slot]:
                memory.read("goal", slot)
    memory.end_kernel()
