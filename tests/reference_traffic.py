"""Slow, obvious versions of kernels that note each access to memory, to count bytes.

What a kernel reads after it has written it does not count as read, and nothing counts twice. Histograms, strips and
cells are working memory.
"""

from collections.abc import Sequence
from itertools import pairwise

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


def touch(memory: Memory, order: Sequence[int], overlapping: Sequence[int]) -> None:
    """The first kernel of contact in lanes: where all agents are, and what else matters of those that overlap."""
    for slot in order:
        for each in ("x", "y"):
            memory.read(each, slot)
        memory.read("order", slot)
    for slot in overlapping:
        for each in ("state", "heading_x", "heading_y", "id"):
            memory.read(each, slot)
    memory.end_kernel()


def move_apart(memory: Memory, slots: Sequence[int], shifts: Sequence[str] = ("shift_x", "shift_y")) -> None:
    """The second kernel of contact."""
    for slot in slots:
        for each in ("x", "y", *shifts):
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


def sort_within_cells(memory: Memory, order: list[int], start: Sequence[int], rank: Sequence[int]) -> None:
    """Sort the slots of each cell by rank: Shell's sort."""
    for first, last in pairwise(start):
        gap = 1
        while 3 * gap < last - first:
            gap = 3 * gap + 1
        while gap:
            for k in range(first + gap, last):
                memory.read("order", k)
                item, at = order[k], k
                memory.read("rank", item)
                while at >= first + gap:
                    memory.read("order", at - gap)
                    memory.read("rank", order[at - gap])
                    if rank[order[at - gap]] < rank[item]:
                        break
                    memory.write("order", at)
                    order[at] = order[at - gap]
                    at -= gap
                memory.write("order", at)
                order[at] = item
            gap //= 3
    memory.end_kernel()


# --- trees -------------------------------------------------------------------------------------------------------------

def load_agents(memory: Memory, agents: int) -> None:
    for slot in range(agents):
        for array in ("x", "y"):
            memory.read(array, slot)
            memory.write(f"tree {array}", slot)
        memory.write("order", slot)
    memory.end_kernel()


def select_nth(memory: Memory, key: list[float], others: Sequence[list[float]], first: int, last: int, nth: int) -> None:
    """Quickselect, moving the others along. A pass is one kernel: what it has written is read by the next one."""
    left, right = first, last - 1
    while left < right:
        a, b, c = key[left], key[(left + right) // 2], key[right]
        pivot = sorted((a, b, c))[1]
        i, j = left, right
        while i <= j:
            while key[i] < pivot:
                memory.read("key", i)
                i += 1
            while key[j] > pivot:
                memory.read("key", j)
                j -= 1
            memory.read("key", i)
            memory.read("key", j)
            if i <= j:
                for number, array in enumerate((key, *others)):
                    for at in (i, j):
                        memory.read(f"other {number}" if number else "key", at)
                    for at in (i, j):
                        memory.write(f"other {number}" if number else "key", at)
                    array[i], array[j] = array[j], array[i]
                i, j = i + 1, j - 1
        memory.end_kernel()
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            return


def cut(memory: Memory, x: list[float], y: list[float], levels: Sequence[Sequence[int]], width: float,
        height: float) -> list[int]:
    """Cut the nodes of some levels in each kernel; return the order of the agents."""
    agents, regions, boxes = len(x), {1: [0.0, 0.0, width, height]}, Memory()
    order = [float(slot) for slot in range(agents)]
    for kernel in levels:
        for level in kernel:
            for j in range(1 << level):
                node, low, high = (1 << level) + j, 2 * ((1 << level) + j), 2 * ((1 << level) + j) + 1
                for side in range(4):
                    boxes.read("region", 4 * node + side)
                    boxes.write("region", 4 * low + side)
                    boxes.write("region", 4 * high + side)
                first, middle, last = agents * j >> level, agents * (2 * j + 1) >> level + 1, agents * (j + 1) >> level
                region = regions[node]
                regions[low], regions[high] = list(region), list(region)
                wide = region[2] - region[0] > region[3] - region[1]
                key, other = (x, y) if wide else (y, x)
                select_nth(memory, key, (other, order), first, last, middle)
                regions[low][2 if wide else 3] = regions[high][0 if wide else 1] = key[middle]
        boxes.end_kernel()
    read, written = boxes.bytes()
    for at in range(round(read / WORD)):
        memory.read("regions", at)
    for at in range(round(written / WORD)):
        memory.write("regions of children", at)
    memory.end_kernel()
    return [int(slot) for slot in order]


def bound(memory: Memory, order: Sequence[int], depth: int, top: int, columns: Sequence[str]) -> None:
    """Fit the boxes of leaves, if they read columns, and those of the nodes above."""
    for leaf in range(1 << depth) if columns else ():
        for k in range(len(order) * leaf >> depth, len(order) * (leaf + 1) >> depth):
            memory.read("order", k)
            for column in columns:
                memory.read(column, order[k])
        for side in range(4):
            memory.write("box", 4 * ((1 << depth) + leaf) + side)
    for node in range((1 << depth) - 1, (1 << top) - 1, -1):
        for side in range(8):
            memory.read("box", 8 * node + side)
        for side in range(4):
            memory.write("box", 4 * node + side)
    memory.end_kernel()


def search(memory: Memory, order: Sequence[int], runs: Sequence[int]) -> None:
    """Find the runs of each group, which are so many; all agents are due."""
    for k, slot in enumerate(order):
        memory.read("order", k)
        memory.read("next_update", slot)
    for group, count in enumerate(runs):
        memory.write("start", group)
        memory.write("count", group)
        for run in range(count):
            memory.write(f"first of {group}", run)
            memory.write(f"last of {group}", run)
    memory.write("start", len(runs))
    memory.end_kernel()


def snapshot(memory: Memory, order: Sequence[int], observed: int) -> None:
    for k, slot in enumerate(order):
        memory.read("order", k)
        for each in range(observed):
            memory.read(f"observed {each}", slot)
    memory.end_kernel()
