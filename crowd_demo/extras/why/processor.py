"""What the processor did while a stage ran: its counters, samples of where it was, and the hot loop of a kernel.

The counters are those of Linux's `perf_event_open`, summed over the threads of this process. Most virtual machines have
none, and many systems forbid them (`kernel.perf_event_paranoid` above 2): then the reason is returned. Counters run in
user space only. Where the processor has too few, Linux takes turns, and counts are scaled up.

Capstone (the extra `why`) disassembles object code for x86-64 (SSE2, AVX2, AVX-512) and ARM (NEON). A loop is a jump back
and all instructions from its target on. Kernels are inlined as a whole, so nesting does not show which loop is hot: rare
branches have loops, too. Samples do, which Linux takes by its clock where counters of the processor are absent.
"""

from __future__ import annotations

import ctypes
import errno
import math
import mmap
import os
import platform
import re
import struct
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import cycle, product, zip_longest
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from llvmlite import binding

# --- counters and samples ---------------------------------------------------------------------------------------------

SYSCALL = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
ENABLE, DISABLE = 0x2400, 0x2401  # ioctl
HARDWARE, SOFTWARE, CACHE, LEVEL_1_READ_MISS = 0, 1, 3, 1 << 16  # types, and what of a cache
EVENTS = {"cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "last-level misses": (HARDWARE, 3),
          "branch misses": (HARDWARE, 5), "L1 misses": (CACHE, LEVEL_1_READ_MISS)}
CLOCK = SOFTWARE, 0
SIZE = 112  # of perf_event_attr
FLAGS, TIMES = 1 | 1 << 5 | 1 << 6, 3  # disabled, without kernel and hypervisor; read enabled and running times, too
FREQUENT, PER_S, PLACE = 1 << 10, 25_000, 1  # samples per second of a thread's time, each with the place in memory
PAGES, SAMPLE, ANY_MODE = 16, np.uint64(9 | 16 << 48), np.uint64(0xFFFF << 32)  # of samples; the head of one, its mode
WHY_NOT = {
    **dict.fromkeys((errno.EPERM, errno.EACCES),
                    "sudo sysctl kernel.perf_event_paranoid=2 enables them, except in a container that forbids them"),
    **dict.fromkeys((errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP),
                    "this machine has none. Physical ones, and virtual ones with a PMU, have counters")}


def counted(run: Callable[[], object]) -> Mapping[str, int] | str:
    """Run a function and return each event's count over all threads, or return why not. Threads must exist before."""
    with ExitStack() as files:
        try:
            opened = opened_for_threads(files, EVENTS.values())
        except OSError as error:
            return f"no counters: {WHY_NOT.get(error.errno or 0, error.strerror)}"
        switch(opened, ENABLE)
        run()
        counts = dict.fromkeys(EVENTS, 0)
        for name, file in zip(cycle(EVENTS), opened):
            value, enabled, running = struct.unpack("3Q", os.read(file, 24))
            counts[name] += value * enabled // max(running, 1)
        return counts


def opened_for_threads(files: ExitStack, events: Iterable[tuple[int, int]], per_s: int = 0) -> list[int]:
    """Return the files of counters, or of samples, of each thread, which are off. Raises OSError if there are none."""
    if sys.platform != "linux" or SYSCALL is None:
        raise OSError(0, "only Linux on x86-64 and ARM provides them")
    opened, library = list[int](), ctypes.CDLL(None, use_errno=True)
    for thread, (kind, config) in product(Path("/proc/self/task").iterdir(), events):
        attributes = struct.pack("IIQQQQQ", kind, SIZE, config, per_s, PLACE, TIMES, FLAGS | FREQUENT * bool(per_s))
        if (file := library.syscall(SYSCALL, attributes.ljust(SIZE, b"\0"), int(thread.name), -1, -1, 0)) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        files.callback(os.close, file)
        opened.append(file)
    return opened


def switch(opened: Iterable[int], on: int) -> None:
    if sys.platform != "win32":
        import fcntl

        for file in opened:
            fcntl.ioctl(file, on, 0)


def places_in(samples: mmap.mmap) -> list[int]:
    """Return where a thread was at each of its samples: what follows their heads."""
    words = np.frombuffer(samples, np.uint64)
    return cast("list[int]", words[1:][words[:-1] & ~ANY_MODE == SAMPLE].tolist())


# --- machine code -----------------------------------------------------------------------------------------------------

LONG = "q", "pd"  # how instructions end that take numbers of 64 bits
ENOUGH, ALIKE = 30, 16  # samples in a kernel; bytes by which its code is found in memory
ELF_MACHINE, ELF_ARM = slice(18, 20), b"\xb7\x00"  # where an object file names its processor
VECTOR, NEON = {"zmm": 512, "ymm": 256, "xmm": 128}, 128
KINDS = {  # of instructions by their mnemonics; the first that matches counts, and others are moves within registers
    "branch": re.compile(r"j|b$|b\.|cbn?z|tbn?z|ret|call"),
    "arithmetic": re.compile(r"v?p?(add|sub|mul|div|sqrt|rcp|rsqrt|max|min|fn?m(add|sub)|dot|abs|neg)"
                             r"|f(add|sub|mul|div|mla|mls|madd|sqrt)|inc|dec|imul|madd"),
    "compare": re.compile(r"v?p?(u?comis|cmp|test)|fcm|cm(?!ov)[a-z]|tst|kortest"),
    "logic": re.compile(r"v?p?(and|or|xor|sh|sa|ro|ternlog|blend|cmov|set|bsl|eor|orr|lsl|lsr|asr)|k|csel"),
}
STEP = re.compile(  # of a register, by a constant
    r"(?:(?:inc|dec|adds?|subs?) (\w+)(?:, \1)?|(?:ld|st).*\[(\w+)\])(?:, #?(-?(?:0x[0-9a-f]+|\d+)))?$")
ADDRESS, PART = re.compile(r"\[(.+?)\]"), re.compile(r"(?:^|\+ |, )([a-z]\w*)(?:\*(\d)|, [lsu]\w+ #(\d))?")
NO_NEXT = re.compile(r"(jmp|ret|br?)\b(?!\.)")
IMPLICIT = re.compile(  # these change other registers, too
    r"(call|blr?|xchg|mulx?|i?div|cdqe?|cqo|rep|pop|ldp [xw])\b|imul \w+$|ld.*\]!")
SINGLE = re.compile(r"dword|ld1r|[ls][dt]r [sw]")
OTHER_SIZE = re.compile(r"lea|\b(byte|word|qword) ptr|ldr[bh]|ldr [dx]")
ONE_NUMBER = re.compile(  # of a vector register
    r"v?(mov|add|sub|mul|div|sqrt|min|max|u?comi|cmp\w*|fn?m\w+|cvt\w+|rcp\w*|rsqrt\w*|round|and|xor)s[sd]$"
    r"|v?mov[dq]$|v?p(ins|ext)r|v?cvt\w*2si$|v?cvtsi2\w+$")


Place = tuple[int, bytes]
"""Where a thread was in memory, and the code there."""


class Instruction(NamedTuple):
    address: int
    text: str
    kind: str  # one of KINDS, "load", "store" or "move"
    bits: int  # of its vector registers; 0: it has none, or uses one number of them
    target: int | None = None  # of a jump


# A loop that steps through arrays: addresses of its instructions, how many of these the shortest and the longest way from
# one step to the next has (infinite: with a loop), by how many elements of 4 bytes a step goes on, and whether it loads and
# stores one of these at a time.
SteppingLoop = tuple[set[int], float, float, int, bool]


class MachineLoop(NamedTuple):
    """A jump back and all instructions from its target on. `weights` are samples, or else 1, by address."""

    instructions: Sequence[Instruction]
    weights: Mapping[int, int]
    depth: int = 1  # loops around it and itself
    code: Sequence[Instruction] = ()  # of the whole kernel

    @property
    def weight(self) -> int:
        return sum(self.weights.get(each.address, 0) for each in self.instructions)

    @property
    def vector_share(self) -> float:
        return sum(self.weights.get(each.address, 0) for each in self.instructions if each.bits) / self.weight

    @property
    def bits(self) -> int:
        """The width of its widest vector instructions; 0 without any."""
        return max(each.bits for each in self.instructions if each.address in self.weights)

    @property
    def arithmetic(self) -> list[str]:
        """The texts of these instructions, those with most samples first."""
        found = sorted(self.instructions, key=lambda each: -self.weights.get(each.address, 0))
        return [each.text for each in found if each.kind == "arithmetic"]

    @property
    def lanes(self) -> int:
        """How many numbers an instruction takes at most that calculates with vectors; of 64 bits where all do."""
        return max((each.bits // (64 if each.text.split()[0].endswith(LONG) else 32) for each in self.instructions
                    if each.kind == "arithmetic" and each.address in self.weights), default=0) or 1


def hot_loop(code: bytes, places: Sequence[Place] = ()) -> tuple[MachineLoop | None, int]:
    """Return the hot loop of a kernel's object file, if it has one, and how many samples in the kernel show that.

    It is the smallest loop with a third of these, if they are enough. Else it is the innermost one that is nested deepest,
    and of several the one with most arithmetic. Raises ImportError without Capstone.
    """
    text, instructions = text_in(code), list(disassembled(code))
    starts = Counter(place - text.find(there) for place, there in {*places} if text.count(there) == 1)
    start = max(starts, key=lambda each: starts[each], default=0)
    seen = Counter(place - start for place, _ in places if start <= place < start + len(text))
    if (samples := seen.total()) >= ENOUGH:
        hot = [loop for loop in loops_in(instructions, seen) if 3 * loop.weight >= samples]
        return min(hot, key=lambda loop: len(loop.instructions), default=None), samples
    loops = loops_in(instructions, Counter(each.address for each in instructions))
    inner = [loop for loop, behind in zip_longest(loops, loops[1:])
             if not behind or behind.instructions[0].address > loop.instructions[-1].address]
    return max(inner, key=lambda loop: (loop.depth, len(loop.arithmetic), loop.bits), default=None), 0


def loops_in(code: Sequence[Instruction], weights: Mapping[int, int]) -> list[MachineLoop]:
    ends = dict(sorted({  # several jumps back to one place are one loop
        (each.target, each.address) for each in code if each.target is not None and each.target <= each.address}))
    return [MachineLoop([each for each in code if begin <= each.address <= end], weights,
                 sum(a <= begin and end <= b for a, b in ends.items()), code) for begin, end in ends.items()]


def stepping_loops(code: Sequence[Instruction]) -> Iterator[SteppingLoop]:
    """Yield the loops that step through arrays: they change a register of addresses by a constant, and not otherwise.

    A test of such a register for the end of the loop is passed on the side that leads to the next step.
    """
    after, before, tested = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set), dict[int, str]()
    steps, changes = defaultdict[str, dict[int, int]](dict), defaultdict[str, set[int]](set)
    accesses = dict[int, tuple[dict[str, int], bool]]()  # the registers of an address, by what they are multiplied
    for each, behind in zip_longest(code, code[1:]):
        for to in (each.target, behind.address if behind and not NO_NEXT.match(each.text) else None):
            if to is not None:
                after[each.address].add(to)
                before[to].add(each.address)
        name = "" if IMPLICIT.match(each.text) else whole(*each.text.replace(",", "").split()[1:2])
        if (step := STEP.match(each.text)) and (step[1] or step[3]):
            steps[whole(step[1] or step[2])][each.address] = abs(int(step[3] or "1", 0))
        if not (step and step[1]) and (not name or each.kind not in ("branch", "store", "compare")):
            changes[name].add(each.address)
        if behind and (step or each.text.startswith("cmp")):
            tested[behind.address] = name
        if (place := ADDRESS.search(each.text)) and not OTHER_SIZE.search(each.text):
            accesses[each.address] = {whole(part): int(times or "1") << int(shift or "0")
                                      for part, times, shift in PART.findall(place[1])}, bool(SINGLE.search(each.text))
    for name in sorted({name for names, _ in accesses.values() for name in names}.intersection(steps)):
        left, stops = dict(steps[name]), changes[name] | changes[""]
        while left:
            start, by = left.popitem()
            body = reached(after, start, stops) & reached(before, start, stops)
            ends = {start, *body.intersection(left)}
            unsteady = {one for one, places in changes.items() if not body.isdisjoint(places)}
            counting = {one for one, places in steps.items() if not body.isdisjoint(places)} - unsteady
            found = {(by * names[name], single)
                     for names, single in (accesses[at] for at in body.intersection(accesses))
                     if counting.intersection(names) == {name} and (names[name] == 4 or unsteady.isdisjoint(names))}
            if all(left.pop(at, by) == by for at in ends) and len({size for size, _ in found if size >= 4}) == 1:
                ways = {at: after[at] & body for at in body}
                for at in [at for at in body if tested.get(at) in counting]:
                    ways[at] = {min(ways[at], key=lambda to: next(passes(ways, {to}, ends), math.inf))}
                lengths = list(passes(ways, {to for at in ends for to in ways[at]}, ends))
                yield (reached(ways, start), lengths[0], lengths[-1], max(found)[0] // 4,
                       all(single for _, single in found))


def reached(ways: Mapping[int, set[int]], start: int, stops: Collection[int] = ()) -> set[int]:
    """Return the instructions that are reached from one; that one only if there is a way back."""
    found, new = set[int](), [start]
    while new:
        more = ways[new.pop()].difference(stops, found)
        found |= more
        new += more
    return found


def passes(ways: Mapping[int, set[int]], front: set[int], ends: set[int]) -> Iterator[float]:
    """Yield the lengths of ways to one of the ends, with that, the shortest first; infinite where there is a loop."""
    count = 1
    while front and count <= len(ways):
        if not front.isdisjoint(ends):
            yield count
        front, count = {to for at in front - ends for to in ways[at]}, count + 1
    if front:
        yield math.inf


def whole(register: str = " ") -> str:
    """Return a name for all parts of a register."""
    name = re.sub(
        r"^(?:[re](?=[a-z]{2}$)|[wx](?=\d))|(?<=^r\d)[dwb]$|(?<=^r\d\d)[dwb]$|(?<=^[sbd][ip])l$", "", register)
    return f"{name[0]}x" if re.fullmatch("[abcd][lh]", name) else name


def text_in(code: bytes) -> bytes:
    return next(section.data() for section in binding.ObjectFileRef.from_data(code).sections()
                if section.is_text() and section.size())


def disassembled(code: bytes) -> Iterator[Instruction]:
    import capstone

    is_arm = code[ELF_MACHINE] == ELF_ARM if code.startswith(b"\x7fELF") else platform.machine().lower() == "arm64"
    reader = (capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM) if is_arm
              else capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64))
    for address, _, name, operands in reader.disasm_lite(text_in(code), 0):
        yield instruction(address, name, operands)


def instruction(address: int, name: str, operands: str) -> Instruction:
    kind = next((kind for kind, pattern in KINDS.items() if pattern.match(name)), "move")
    if kind == "move" and ("[" in operands or name.startswith(("ld", "st"))):
        stores = name.startswith("st") or (not name.startswith("ld") and "[" in operands.partition(", ")[0])
        kind = "store" if stores else "load"
    bits = 0 if ONE_NUMBER.match(name) else next((bits for register, bits in VECTOR.items() if register in operands), 0)
    bits = bits or (NEON if re.search(r"v\d+\.(4s|2d|8h|16b)", operands) else 0)
    jump = re.search(r"#?\b(0x[0-9a-f]+|[0-9])$", operands) if kind == "branch" and name not in ("call", "bl", "ret") else None
    return Instruction(address, f"{name} {operands}".strip(), kind, bits, int(jump[1], 0) if jump else None)
