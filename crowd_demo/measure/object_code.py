"""What a compiled kernel does in its hot loop, read from its machine code: how much of it is vector work, and how wide.

The object code is disassembled by Capstone (the extra `why`), for x86-64 (SSE2, AVX2, AVX-512) and ARM (NEON). A loop is a
jump back and all instructions from its target on. Kernels are inlined as a whole, so the hot loop is the innermost one that is
nested deepest, and of several the one with most arithmetic: in the interaction the loop over candidates.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from llvmlite import binding

FLOAT_BITS = 32
ELF_MACHINE, ELF_ARM = slice(18, 20), b"\xb7\x00"  # where an object file names its processor
VECTOR, NEON = {"zmm": 512, "ymm": 256, "xmm": 128}, 128
KINDS = {  # of instructions by their mnemonics; the first that matches counts, and others are moves within registers
    "branch": re.compile(r"j|b$|b\.|cbn?z|tbn?z|ret|call"),
    "arithmetic": re.compile(r"v?p?(add|sub|mul|div|sqrt|rcp|rsqrt|max|min|fn?m(add|sub)|dot|abs|neg)"
                             r"|f(add|sub|mul|div|mla|mls|madd|sqrt)|inc|dec|imul|madd"),
    "compare": re.compile(r"v?p?(u?comis|cmp|test)|fcm|cm[a-z]|tst|kortest"),
    "logic": re.compile(r"v?p?(and|or|xor|sh|sa|ro|ternlog|blend|cmov|set|bsl|eor|orr|lsl|lsr|asr)|k|csel"),
}
ONE_NUMBER = re.compile(  # of a vector register
    r"v?(mov|add|sub|mul|div|sqrt|min|max|u?comi|cmp\w*|fn?m\w+|cvt\w+|rcp\w*|rsqrt\w*|round|and|xor)s[sd]$"
    r"|v?mov[dq]$|v?p(ins|ext)r|v?cvt\w*2si$|v?cvtsi2\w+$")


class Instruction(NamedTuple):
    address: int
    text: str
    kind: str  # one of KINDS, "load", "store" or "move"
    bits: int  # of its vector registers; 0: it has none, or uses one number of them
    target: int | None = None  # of a jump


class InnerLoop(NamedTuple):
    """An innermost loop."""

    instructions: Sequence[Instruction]
    depth: int  # loops around it and itself

    def count(self, kind: str) -> int:
        return sum(each.kind == kind for each in self.instructions)

    @property
    def vector_share(self) -> float:
        return sum(each.bits > 0 for each in self.instructions) / len(self.instructions)

    @property
    def bits(self) -> int:
        """The width of its widest vector instructions; 0 without any."""
        return max(each.bits for each in self.instructions)

    @property
    def lanes(self) -> int:
        """How many float32 numbers its widest instructions take."""
        return max(self.bits // FLOAT_BITS, 1)


def hot_loop(code: bytes) -> InnerLoop | None:
    """Return the hot loop of a kernel's object file; None if it has no loop. Raises ImportError without Capstone."""
    loops = innermost_loops(list(disassembled(code)))
    return max(loops, key=lambda loop: (loop.depth, loop.count("arithmetic"), loop.bits), default=None)


def innermost_loops(code: Sequence[Instruction]) -> list[InnerLoop]:
    """Return the loops without another loop in them, in the order of their addresses."""
    spans = sorted({(each.target, each.address) for each in code if each.target is not None and each.target <= each.address})
    ends: dict[int, int] = {}
    for begin, end in spans:  # several jumps back to one place are one loop
        ends[begin] = max(end, ends.get(begin, 0))
    spans = sorted(ends.items())
    innermost = [span for span, following in pairwise([*spans, (1 << 62, 0)]) if following[0] > span[1]]
    return [InnerLoop([each for each in code if begin <= each.address <= end], sum(a <= begin and end <= b for a, b in spans))
            for begin, end in innermost]


def disassembled(code: bytes) -> Iterator[Instruction]:
    """Yield the instructions of an object file."""
    import capstone

    is_arm = code[ELF_MACHINE] == ELF_ARM if code.startswith(b"\x7fELF") else platform.machine().lower() == "arm64"
    reader = (capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM) if is_arm
              else capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64))
    sections = binding.ObjectFileRef.from_data(code).sections()
    text = next(section.data() for section in sections if section.is_text() and section.size())
    for address, _, name, operands in reader.disasm_lite(text, 0):
        yield instruction(address, name, operands)


def instruction(address: int, name: str, operands: str) -> Instruction:
    """Classify one instruction by its mnemonic and operands."""
    kind = next((kind for kind, pattern in KINDS.items() if pattern.match(name)), "move")
    if kind == "move" and ("[" in operands or name.startswith(("ld", "st"))):
        stores = name.startswith("st") or (not name.startswith("ld") and "[" in operands.partition(", ")[0])
        kind = "store" if stores else "load"
    bits = 0 if ONE_NUMBER.match(name) else next((bits for register, bits in VECTOR.items() if register in operands), 0)
    bits = bits or (NEON if re.search(r"v\d+\.(4s|2d|8h|16b)", operands) else 0)
    jump = re.search(r"#?\b(0x[0-9a-f]+|[0-9])$", operands) if kind == "branch" and name not in ("call", "bl", "ret") else None
    return Instruction(address, f"{name} {operands}".strip(), kind, bits, int(jump[1], 0) if jump else None)
