"""Why a stage takes its time: loops that are known, in machine code for several processors, and a small crowd."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from crowds import FLOCK, simulation
from llvmlite import binding

from crowd_demo.cli.main import main
from crowd_demo.extras.why import EVENTS, InnerLoop, counted, hot_loop, instruction, why

ADD = """
define void @add(ptr %a, ptr %b, i64 %n) {{
entry:
  br label %outer
outer:
  %round = phi i64 [0, %entry], [%next, %after]
  br label %loop
loop:
  %i = phi i64 [0, %outer], [%j, %loop]
  %pa = getelementptr float, ptr %a, i64 %i
  %pb = getelementptr float, ptr %b, i64 %i
  %x = load {kind}, ptr %pa, align 4
  %y = load {kind}, ptr %pb, align 4
  %p = fmul {kind} %x, %y
  %s = fadd {kind} %p, %y
  store {kind} %s, ptr %pa, align 4
  %j = add i64 %i, {step}
  %more = icmp ult i64 %j, %n
  br i1 %more, label %loop, label %after
after:
  %next = add i64 %round, 1
  %again = icmp ult i64 %next, 9
  br i1 %again, label %outer, label %end
end:
  ret void
}}
"""


def loop_for(triple: str, cpu: str, lanes: int) -> InnerLoop:
    """The hot loop of a * b + b, compiled for a processor."""
    pytest.importorskip("capstone")
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    try:
        machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2)
    except RuntimeError as error:
        pytest.skip(f"this LLVM has no {triple}: {error}")
    module = binding.parse_assembly(ADD.format(kind=f"<{lanes} x float>" if lanes > 1 else "float", step=lanes))
    module.triple = triple
    found = hot_loop(machine.emit_object(module))
    assert found
    return found


@pytest.mark.parametrize(("triple", "cpu", "lanes", "bits", "arithmetic"), [
    ("x86_64-linux-gnu", "skylake-avx512", 16, 512, 2), ("x86_64-linux-gnu", "haswell", 8, 256, 2),
    ("x86_64-linux-gnu", "haswell", 16, 256, 4), ("x86_64-linux-gnu", "x86-64", 4, 128, 2),
    ("x86_64-linux-gnu", "haswell", 1, 0, 2), ("aarch64-linux-gnu", "cortex-a72", 4, 128, 2),
    ("aarch64-linux-gnu", "cortex-a72", 1, 0, 2)])
def test_a_known_loop(triple: str, cpu: str, lanes: int, bits: int, arithmetic: int) -> None:
    loop = loop_for(triple, cpu, lanes)
    assert loop.depth == 2 and loop.bits == bits and loop.lanes == max(bits // 32, 1)
    floats = [each for each in loop.instructions if each.kind == "arithmetic" and ("mul" in each.text or "addps" in each.text
              or "addss" in each.text or each.text.startswith("fadd"))]
    assert len(floats) == arithmetic and loop.count("store") >= 1 and loop.count("branch") == 1
    assert (loop.vector_share > 0.2) == (bits > 0)


def test_code_without_a_loop() -> None:
    pytest.importorskip("capstone")
    binding.initialize_all_targets()
    machine = binding.Target.from_triple("x86_64-linux-gnu").create_target_machine()
    module = binding.parse_assembly("define i32 @one() {\n ret i32 1\n}")
    assert hot_loop(machine.emit_object(module)) is None


@pytest.mark.parametrize(("text", "kind", "bits"), [
    ("vpaddd zmm20 {k1}, zmm20, dword ptr [rcx + r9*4]{1to16}", "arithmetic", 512),
    ("vsubss xmm5, xmm0, xmm28", "arithmetic", 0),
    ("vcmpleps k0, zmm31, zmm27", "compare", 512), ("vbroadcastss zmm4, dword ptr [r12]", "load", 512),
    ("mov qword ptr [rax], rcx", "store", 0), ("mov rcx, qword ptr [rax]", "load", 0), ("jb 0x3950", "branch", 0),
    ("fmla v0.4s, v1.4s, v2.4s", "arithmetic", 128), ("fadd s0, s1, s2", "arithmetic", 0), ("ldr q0, [x0]", "load", 0),
    ("st1 {v0.4s}, [x0]", "store", 128), ("cbnz x0, #0x10", "branch", 0), ("vpxor xmm1, xmm1, xmm1", "logic", 128)])
def test_instructions(text: str, kind: str, bits: int) -> None:
    found = instruction(0, *text.split(" ", 1))
    assert (found.kind, found.bits) == (kind, bits)


def test_lanes_of_birds_are_vector_work() -> None:
    pytest.importorskip("capstone")
    sim = simulation(**FLOCK)
    figures = {figure.name: figure for figure in why(sim, "interaction", 2)}
    assert list(figures)[:5] == ["time", "pairs", "hot loop", "vectorised", "assembly"]
    assert "bits wide" in figures["vectorised"].value and "interact_lanes" in figures["hot loop"].source
    assert len(figures["assembly"].value.splitlines()) == 5 and all(figure.source for figure in figures.values())


def test_it_leaves_the_crowd_as_steps_do() -> None:
    explained, plain = simulation(**FLOCK), simulation(**FLOCK)
    why(explained, "interaction", 2)
    plain.step(explained.tick)
    assert explained.state_hash() == plain.state_hash()


def test_counters_or_the_reason() -> None:
    ran = list[int]()
    found = counted(lambda: ran.append(1))
    assert ran == [1]
    assert found.startswith(("not available: ", "only Linux")) if isinstance(found, str) else set(found) == set(EVENTS)


def test_a_stage_with_and_without_a_technique(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "why.json"
    crowd = "--config", "20k-flock", "--agents", "300", "--steps", "2"
    assert main(["why", *crowd, "--without", "neighbours", "--report", str(report)]) == 0
    said = capsys.readouterr().out
    assert "without neighbours" in said and said.count(" tested per agent, ") == 2
    assert list(json.loads(report.read_text("utf-8"))) == ["20k-flock", "without neighbours"]
    assert main(["why", "nothing", *crowd]) == 2
    assert "no kernel of this crowd runs in stage 'nothing'; stages: index" in capsys.readouterr().err
