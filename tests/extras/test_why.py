"""Why a stage takes its time: loops that are known, in machine code for several processors, and a small crowd."""

import json
import platform
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from crowds import CRATES, CROWD, FLOCK, NEAREST, run_through, simulation
from llvmlite import binding
from reference_traffic import (
    Memory,
    Trace,
    asks,
    bound,
    cut,
    headings,
    index,
    interaction,
    load_agents,
    move_apart,
    reorder,
    search,
    sight,
    snapshot,
    sort_within_cells,
)
from reference_traffic import touch as reference_touch
from single_step import single_steps

from crowd_demo.cli.main import main
from crowd_demo.compute.arrays import Ints
from crowd_demo.compute.jit import machine_code, max_threads
from crowd_demo.config.model import Cache
from crowd_demo.extras import why as why_module
from crowd_demo.extras.why import StageWatch, Work, bottleneck, copy_bandwidth, explained, per_item, why, work_of
from crowd_demo.extras.why.processor import (
    ALIKE,
    EVENTS,
    MachineLoop,
    counted,
    disassembled,
    hot_loop,
    instruction,
    stepping_loops,
    text_in,
)
from crowd_demo.grid.cells import Cells
from crowd_demo.sim.behaviours.people_rules import WAITING, people_of
from crowd_demo.sim.metrics.locality import FILES, TYPICAL, candidates_of, locality, machine_caches, missed_lines, touch
from crowd_demo.sim.neighbours.trees import TreeStructure
from crowd_demo.sim.neighbours.z_grid import ZGrid
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sim.terrain.ground import in_sight

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


ROWS = ["time", "pairs", "instructions", "vector work", "bytes", "bandwidth", "lines missed", "processor", "bottleneck"]


def loop_for(triple: str, cpu: str, lanes: int) -> MachineLoop:
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
    found, samples = hot_loop(machine.emit_object(module))
    assert found and not samples
    return found


@pytest.mark.parametrize(("triple", "cpu", "lanes", "bits", "arithmetic"), [
    ("x86_64-linux-gnu", "skylake-avx512", 16, 512, 2), ("x86_64-linux-gnu", "haswell", 8, 256, 2),
    ("x86_64-linux-gnu", "haswell", 16, 256, 4), ("x86_64-linux-gnu", "x86-64", 4, 128, 2),
    ("x86_64-linux-gnu", "haswell", 1, 0, 2), ("aarch64-linux-gnu", "cortex-a72", 4, 128, 2),
    ("aarch64-linux-gnu", "cortex-a72", 1, 0, 2)])
def test_a_known_loop(triple: str, cpu: str, lanes: int, bits: int, arithmetic: int) -> None:
    loop = loop_for(triple, cpu, lanes)
    kinds = [each.kind for each in loop.instructions]
    assert loop.depth == 2 and loop.bits == bits and loop.lanes == max(bits // 32, 1)
    floats = [each for each in loop.instructions if each.kind == "arithmetic" and ("mul" in each.text or "addps" in each.text
              or "addss" in each.text or each.text.startswith("fadd"))]
    assert len(floats) == arithmetic and kinds.count("store") >= 1 and kinds.count("branch") == 1
    assert (loop.vector_share > 0.2) == (bits > 0)
    assert {each[1:] for each in stepping_loops(loop.code)} == {(len(kinds), len(kinds), lanes, lanes == 1)}


def test_samples_show_which_loop_is_hot() -> None:
    pytest.importorskip("capstone")
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(ADD.format(kind="float", step=1))
    module.triple = "x86_64-linux-gnu"
    code = binding.Target.from_triple(module.triple).create_target_machine(cpu="x86-64", opt=0).emit_object(module)
    text, start = text_in(code), 0x7F00_0000_0000
    inner, _ = hot_loop(code)
    assert inner and inner.depth == 2
    outer = [each for each in disassembled(code) if each.target is not None and each.target < inner.instructions[0].address]

    def seen(*addresses: int) -> list[tuple[int, bytes]]:
        return [(start + at, text[at:at + 16]) for at in addresses] * 40

    for addresses, depth in {(inner.instructions[0].address,): 2, (outer[-1].address,): 1}.items():
        loop, samples = hot_loop(code, seen(*addresses))
        assert loop and loop.depth == depth and samples == 40
        assert {each.address for each in loop.instructions} >= set(addresses)
    assert hot_loop(code, seen(inner.instructions[0].address)[:9])[1] == 0, "too few"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes samples")
def test_samples_are_taken_in_the_stage() -> None:
    sim = simulation("20k-flock", agents=5000)
    source = {figure.name: figure for figure in why({"": sim}, "interaction", 20)[""]}["vector work"].source
    assert re.search(r"interact_lanes: (the smallest loop with a third of [\d,]+ samples|its innermost loop)", source)


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="single steps of x86-64")
@pytest.mark.parametrize("simd", [True, False])
def test_instructions_per_pair_are_those_of_single_steps(simd: bool) -> None:
    pytest.importorskip("capstone")
    sim = simulation(**{**DENSE, "agents": 60, "world__width": 150, "world__height": 120, "optimizations__simd": simd,
                        "optimizations__threads": 1})
    sim.step(9)
    sim.profile = watch = StageWatch()
    launch = next(each for each in sim.launches() if watch.running == "interaction" or each.run())
    try:
        seen, there = single_steps(launch.run, ALIKE)
    except OSError as error:
        pytest.skip(str(error))
    launch.run()
    (work, _), code = work_of(launch, sim), machine_code(launch)
    assert code
    text = text_in(code)
    ((start, _),) = Counter(at - text.find(each) for at, each in there.items() if text.count(each) == 1).most_common(1)
    loop, samples = hot_loop(code)
    assert loop and not samples
    weights = Counter({each.address: seen[start + each.address] for each in loop.code})
    told = per_item(launch.name, loop._replace(weights=weights), weights.total(), work.together / work.tests if simd else 1)
    assert told
    best = max(stepping_loops(loop.code), key=lambda each: sum(weights[at] for at in each[0]))
    executed, passes = sum(weights[at] for at in best[0]), min(weights[at] for at in best[0])
    pairs = work.together if simd else best[3] * passes
    assert told[0] == f"{executed / pairs:.1f} per pair" and (passes == work.tests or not simd) and pairs <= work.tested


def test_code_without_a_loop() -> None:
    pytest.importorskip("capstone")
    binding.initialize_all_targets()
    machine = binding.Target.from_triple("x86_64-linux-gnu").create_target_machine()
    module = binding.parse_assembly("define i32 @one() {\n ret i32 1\n}")
    assert hot_loop(machine.emit_object(module)) == (None, 0)


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
    figures = {figure.name: figure for figure in why({"": simulation(**FLOCK)}, "interaction", 2)[""]}
    assert list(figures) == ROWS and all(figure.source for figure in figures.values())
    assert "bits wide" in figures["vector work"].value and "interact_lanes" in figures["instructions"].source
    assert len(figures["instructions"].detail.splitlines()) == 5 and "not known" not in figures["lines missed"].value


def test_it_leaves_the_crowd_as_steps_do() -> None:
    seen, plain = simulation(**FLOCK), simulation(**FLOCK)
    why({"": seen}, "interaction", 2)
    plain.step(seen.tick)
    assert seen.state_hash() == plain.state_hash()


def test_counters_or_the_reason() -> None:
    ran = list[int]()
    found = counted(lambda: ran.append(1))
    assert len(ran) == (not isinstance(found, str))
    assert found.startswith(("no counters: ", "only Linux")) if isinstance(found, str) else set(found) == set(EVENTS)


def test_a_stage_with_and_without_a_technique(capsys: pytest.CaptureFixture[str],
                                              errors_of: Callable[..., list[str]], tmp_path: Path) -> None:
    report = tmp_path / "why.json"
    crowd = "--config", "20k-flock", "--agents", "300", "--steps", "2"
    assert main(["why", *crowd, "--without", "neighbours", "--report", str(report)]) == 0
    said = capsys.readouterr().out
    assert "without neighbours" in said and said.count(" tested, ") == 2
    assert list(json.loads(report.read_text("utf-8"))) == ["20k-flock", "without neighbours"]
    assert "no kernel of this crowd runs in stage 'nothing'; stages: index" in errors_of("why", "nothing", *crowd)[0]
    assert errors_of("--headless", "--report", str(report), "--why", "contcat")[0].startswith(
        "--why: a step has no stage 'contcat'; stages: life, ")


# --- bytes -------------------------------------------------------------------------------------------------------------

DENSE = {**FLOCK, "optimizations__stagger__avoidance": 1}


def work_in(sim: Simulation, stage: str) -> Work:
    """What the formulas give for a stage of the next step, which is made."""
    works = list[Work]()
    sim.profile = watch = StageWatch()
    for launch in sim.launches():
        launch.run()
        if watch.running == stage:
            works.append(work_of(launch, sim)[0])
    return Work(*map(sum, zip(*works, strict=True)))


def bytes_in(sim: Simulation, stage: str) -> tuple[float, float]:
    return work_in(Simulation.from_snapshot(sim.snapshot()), stage)[:2]


def test_bytes_are_those_of_a_reference_that_counts_each_access() -> None:
    sim = simulation(**DENSE)
    agents, memory = sim.agents, Memory()
    x, y, columns = agents.view.x[:agents.count], agents.view.y[:agents.count], len(agents.names)
    cells = [int(y[slot] / sim.grid.cell) * sim.grid.columns + int(x[slot] / sim.grid.cell) for slot in range(agents.count)]
    order = index(memory, cells, sim.grid.cells)
    assert bytes_in(sim, "index") == memory.bytes()
    memory = Memory()
    reorder(memory, order, columns)
    assert bytes_in(sim, "reorder") == memory.bytes()
    for simd in (True, False):
        sim.optimizations.simd = simd
        memory = Memory()
        interaction(memory, order, cells, sim.grid.columns, sim.grid.reach, len(sim.behaviour.observed))
        assert bytes_in(sim, "interaction") == memory.bytes()


def kernels_in(sim: Simulation, stage: str) -> dict[str, list[tuple[float, float]]]:
    """The bytes by the formulas of the kernels of a stage in the next step, which is made."""
    found = dict[str, list[tuple[float, float]]]()
    sim.profile = watch = StageWatch()
    for launch in sim.launches():
        launch.run()
        if watch.running == stage:
            found.setdefault(launch.name, []).append(work_of(launch, sim)[0][:2])
    return found


def moved(reference: Callable[..., object], *args: object) -> tuple[float, float]:
    """The bytes by a reference."""
    reference(memory := Memory(), *args)
    return memory.bytes()


@pytest.mark.parametrize("tree", ["kd_tree", "aabb_tree"])
@pytest.mark.parametrize("crowd", [DENSE, CRATES])
def test_bytes_of_trees_are_those_of_a_reference(tree: str, crowd: dict[str, object]) -> None:
    sim = simulation(**{**crowd, "optimizations__neighbours": tree, "optimizations__threads": 1,  # type: ignore[arg-type]
                        "optimizations__leaf_size": 8, "optimizations__stagger__avoidance": 1}, steps=3)
    before = sim.snapshot()
    sim = Simulation.from_snapshot(before)
    view, count, extents = sim.agents.view, sim.agents.count, [] if crowd is DENSE else ["half"]
    x, y, observed = view.x[:count].tolist(), view.y[:count].tolist(), len(sim.behaviour.observed)
    found = kernels_in(sim, "index")
    structure = cast(TreeStructure, sim.structure)
    depth, top = structure.depth, structure.top
    assert depth > top > 1 and found["load_agents"] == [moved(load_agents, count)]
    memory, levels = Memory(), [*([level] for level in range(top)), range(top, depth)]
    order = cut(memory, x, y, levels, structure.domain.width, structure.domain.height)
    assert tuple(map(sum, zip(*found["cut_subtrees"], strict=True))) == memory.bytes()
    assert sorted(order) == list(range(count))
    columns = ["x", "y", *extents] if tree == "aabb_tree" else extents
    if columns:
        read, written = moved(bound, order, depth, top, columns)
        regions = 16 * (1 << depth) if tree == "kd_tree" else 0
        assert found["bound_nodes"] == [(read + regions, written), moved(bound, order, top, 0, ())]
    for simd in (True, False):
        copies = [Simulation.from_snapshot(before) for _ in range(2)]
        for copy in copies:
            copy.optimizations.simd = simd
        found = kernels_in(copies[0], "query") | kernels_in(copies[1], "interaction")
        runs = cast(TreeStructure, copies[0].structure).runs
        assert found["find_leaves"] == [moved(search, order, runs.count[:runs.groups[0]].tolist())]
        check_runs(found, order, observed, simd)


def check_runs(found: dict[str, list[tuple[float, float]]], order: Sequence[int], observed: int, simd: bool) -> None:
    """All runs together have all agents, each of whom is due."""
    everybody = len(order) * [0]
    if simd:
        assert found["take_snapshot"] == [moved(snapshot, order, observed)]
        assert found["interact_runs_lanes"] == [moved(interaction, order, everybody, 1, 1, 0)]
    else:
        assert found["interact_runs_scalar"] == [moved(interaction, order, everybody, 1, 1, observed)]


@pytest.mark.parametrize("simd", [True, False])
def test_bytes_of_runs_of_cells_are_those_of_a_reference(simd: bool) -> None:
    sim = simulation(**{**DENSE, "optimizations__neighbours": "z_grid", "optimizations__simd": simd})
    found = kernels_in(copy := Simulation.from_snapshot(sim.snapshot()), "query")
    runs = cast(ZGrid, copy.structure).runs
    order = runs.order[:sim.agents.count].tolist()
    assert found == {"count_squares": [(0, 0)],
                     "find_z_runs": [moved(search, order, runs.count[:runs.groups[0]].tolist())]}
    check_runs(kernels_in(Simulation.from_snapshot(sim.snapshot()), "interaction"), order, 4, simd)


@pytest.mark.parametrize(("crowd", "limit"), [(DENSE, "first"), (DENSE, "nearest"), (NEAREST, "none")])
def test_bytes_with_a_limit_of_neighbours_are_those_of_a_reference(crowd: dict[str, object], limit: str) -> None:
    sim = simulation(**{**crowd, "optimizations__neighbour_limit": limit, "optimizations__threads": 1,  # type: ignore[arg-type]
                        "optimizations__stagger__avoidance": 1}, steps=9)
    sim.agents.columns.id[:sim.agents.count] = np.random.default_rng(1).permutation(sim.agents.count)
    found = kernels_in(copy := Simulation.from_snapshot(sim.snapshot()), "index")
    if "sort_buckets" in found:
        x, y, grid = sim.agents.view.x, sim.agents.view.y, sim.grid
        cells = [int(y[slot] / grid.cell) * grid.columns + int(x[slot] / grid.cell) for slot in range(sim.agents.count)]
        order, start = index(Memory(), cells, grid.cells), [0, *np.bincount(cells, minlength=grid.cells).cumsum().tolist()]
        assert found["sort_buckets"] == [moved(sort_within_cells, order, start, sim.agents.view.id.tolist())]
    rows = copy.grid.view()
    order = rows.order[:sim.agents.count].tolist()
    holder = np.repeat(np.arange(rows.rows * rows.columns), np.diff(rows.start[:rows.rows * rows.columns + 1]))
    cell_of = dict(zip(order, holder.tolist(), strict=True))
    found = kernels_in(Simulation.from_snapshot(sim.snapshot()), "interaction")
    assert found == {"interact_limited": [moved(interaction, order, [cell_of[slot] for slot in range(len(order))],
                                                rows.columns, rows.reach, 4)]}


def test_bytes_of_agents_that_are_not_due_are_an_upper_bound() -> None:
    sim = simulation(**{**FLOCK, "optimizations__stagger__avoidance": 4}, steps=9)
    figures = {figure.name: figure for figure in why({"": sim}, "interaction", 4)[""]}
    assert figures["bytes"].value.startswith("up to 24.0 read, ")


WALLS = {"name": "1k", "agents": 300, "optimizations__threads": 1}


@pytest.mark.parametrize("simd", [True, False])
def test_bytes_and_pairs_of_contact_are_those_of_a_reference(simd: bool) -> None:
    sim = simulation(**{**CROWD, "agents": 900, "optimizations__simd": simd, "optimizations__threads": 1,
                        "crowd__shoulders": 0}, steps=100)
    run_through(sim, "move")
    view, cells = sim.agents.view, sim.structure.rows_within(2 * sim.needs.body + 2 * sim.max_step)
    x, y, slots = view.x[:sim.agents.count], view.y[:sim.agents.count], cells.order[:sim.agents.count].tolist()
    holder = np.repeat(np.arange(cells.rows * cells.columns), np.diff(cells.start[:cells.rows * cells.columns + 1]))
    cell_of = dict(zip(slots, holder.tolist(), strict=True))
    memory = Memory()
    overlap = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 < np.float32(2 * sim.needs.body) ** 2
    touching = int(overlap.sum()) - len(slots)
    if simd:  # each pair is tested and added up once
        overlapping = np.flatnonzero(overlap.sum(axis=1) > 1).tolist()
        reference_touch(memory, slots, overlapping)
        move_apart(memory, overlapping, ())
        touching //= 2
    else:
        interaction(memory, slots, [cell_of[slot] for slot in range(len(slots))], cells.columns, cells.reach, 6,
                    ("shift_x", "shift_y", "next_update"))
        move_apart(memory, slots)
    stage, *_ = (each for each in sim.stages if each.name == "contact" and each.wanted(sim))
    works = list[Work]()
    for launch in stage.launches(sim):
        launch.run()
        works.append(work_of(launch, sim)[0])
    found = Work(*map(sum, zip(*works, strict=True)))
    assert found[:2] == memory.bytes() and found.due == len(slots) and touching > 20
    assert found.kept == touching and found.tested == all_tested(cells, holder.tolist(), 16 if simd else 1, simd)


def all_tested(cells: Cells, holder: Sequence[int], together: int, later: bool = False) -> int:
    """How many candidates agents have, who test together those in the cells around any of them; `later` ones in order only."""
    found = 0
    for row in range(cells.rows):
        mine = [k for k, cell in enumerate(holder) if cell // cells.columns == row]
        for group in (mine[at:at + together] for at in range(0, len(mine), together)):
            columns = [holder[k] % cells.columns for k in group]
            left, right = min(columns) - cells.reach, max(columns) + cells.reach
            around = [k for k, cell in enumerate(holder) if abs(cell // cells.columns - row) <= cells.reach
                      and left <= cell % cells.columns <= right and (k >= group[0] or not later)]
            found += len(around) * len(group)
    return found


@pytest.mark.parametrize("crowd", [{**CROWD, "optimizations__threads": 1}, WALLS, {**WALLS, "crowd__choice_length": 0}])
def test_bytes_and_pairs_of_sight_and_paths_are_those_of_a_reference(crowd: dict[str, object]) -> None:
    sim = simulation(**crowd, steps=300)  # type: ignore[arg-type]
    columns, count = people_of(sim).columns, sim.agents.count
    for period in (1, 4):
        sim.optimizations.stagger.sight = sim.optimizations.stagger.paths = period
        due, waits = (sim.tick + columns.id[:count]) % period == 0, columns.state[:count] == WAITING
        memory = Memory()
        sight(memory, due.tolist(), waits.tolist(), bool(sim.ground.any_solid))
        found = work_in(Simulation.from_snapshot(sim.snapshot()), "sight")
        assert found[:3] == (*memory.bytes(), due.sum()) and waits.any()
        seen = [in_sight(sim.terrain.walls, columns.x[slot], columns.y[slot], columns.goal_x[slot], columns.goal_y[slot])
                for slot in np.flatnonzero(due & ~waits)]
        assert (found.tested, found.kept) == (len(seen), sum(seen))
        memory, copy = Memory(), Simulation.from_snapshot(sim.snapshot())
        run_through(seeing := Simulation.from_snapshot(sim.snapshot()), "sight")
        view = people_of(seeing).view
        found, made = work_in(copy, "paths"), copy.flow_fields.made
        if "crowd__choice_length" in crowd:  # else all fields are asked for
            asks(memory, ((sim.tick + view.id[:count]) % period == 0).tolist(), (view.goal_visible[:count] > 0).tolist())
        headings(memory, due.tolist())
        read, written = memory.bytes()
        for goal in np.flatnonzero(made):
            assert copy.ways
            layout = copy.ways.at_present()
            reached = (copy.flow_fields.lengths(layout.targets, layout.steps, int(goal)) >= 0).sum()
            read, written = read + layout.targets.nbytes + 2 * reached, written + layout.targets.size
        assert made.any() and found[:2] == (read, written)


def test_counting_people_for_the_prices_of_tiles_is_work_too() -> None:
    sim = simulation(**CROWD, steps=1)
    sim.step(sim.crowding.every - 1)
    copy = Simulation.from_snapshot(sim.snapshot())
    (found,) = (work_of(launch, copy)[0] for launch in copy.launches() if launch.run() or launch.name == "set_prices")
    assert found[:2] == (8 * sim.agents.count, sim.terrain.blocked.size)


def after(sim: Simulation, stage: str, column: int | None = None) -> tuple[Ints, Ints]:
    """The columns before and after a stage of the next step; those of one column are given to other agents before."""
    copy = Simulation.from_snapshot(sim.snapshot())
    copy.begin()
    own = [number for number, each in enumerate(copy.stages) if each.name == stage and not each.before_index]
    for number, each in enumerate(copy.stages[:own[-1] + 1]):
        if number == own[0]:
            if column is not None:
                row = copy.agents.front[column, :copy.agents.count]
                row[:] = np.roll(row, 1)
            before = copy.agents.matrix[:, :copy.agents.count].copy()
        if each.wanted(copy):
            for launch in each.launches(copy):
                launch.run()
            each.commit(copy)
    return before, copy.agents.matrix[:, :copy.agents.count].copy()


def columns_of(sim: Simulation, stage: str) -> tuple[set[str], set[str]]:
    """The columns that a stage is seen to read, and to write: a change of them changes others."""
    before, plain = after(sim, stage)
    names = sim.agents.names
    written = {name for name, one, other in zip(names, before, plain, strict=True) if (one != other).any()}
    results = {name: after(sim, stage, number)[1] != plain for number, name in enumerate(names)}
    return {name for name, changed in results.items() if any(
        row.any() for other, row in zip(names, changed, strict=True) if other != name or other in written)}, written


@pytest.mark.parametrize(("crowd", "steps", "seldom_read", "seldom_written"), [
    (DENSE, 10, set(), set()),
    ({**CROWD, "optimizations__stagger__avoidance": 1}, 300, {"id", "goal"}, {"state"})])
def test_columns_of_the_formulas_are_those_that_kernels_use(
        crowd: dict[str, object], steps: int, seldom_read: set[str], seldom_written: set[str]) -> None:
    sim = simulation(**crowd, steps=steps)  # type: ignore[arg-type]
    read, written = columns_of(sim, "interaction")
    assert (4 * (len(read | {"next_update"}) + 1), 4 * len(written | {"next_update"})) == tuple(
        moved / sim.agents.count for moved in bytes_in(sim, "interaction"))
    read, written = columns_of(sim, "move")
    assert (4 * len(read | seldom_read), 4 * len(written | seldom_written)) == tuple(
        moved / sim.agents.count for moved in bytes_in(sim, "move"))


def test_columns_that_people_read_are_those_of_the_formulas() -> None:
    sim = simulation(**{**WALLS, "agents": 900}, steps=300)  # type: ignore[arg-type]
    sim.optimizations.stagger.sight = sim.optimizations.stagger.paths = 1
    seldom = {"id", "state", "heading_x", "heading_y", "goal_visible"}
    for stage, rows in {"contact": {"avoidance_x"}, "sight": {"goal_visible"}, "paths": {"heading_x", "heading_y"}}.items():
        copy = Simulation.from_snapshot(sim.snapshot())
        copy.profile = watch = StageWatch()
        known = {name for launch in copy.launches() if launch.run() or watch.running == stage
                 for _, columns, _ in work_of(launch, copy)[1] or () for name in columns}
        read, _ = columns_of(sim, stage)
        assert read <= known | rows and known - read <= {*seldom, "shift_x", "shift_y"}, stage


def test_a_kernel_without_a_formula_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(why_module.TRAFFIC, "interact_lanes")
    figures = {figure.name: figure for figure in why({"": simulation(**FLOCK)}, "interaction", 8)[""]}
    assert figures["bytes"].value == figures["bandwidth"].value == "not known"
    assert "nan" not in str(figures)


@pytest.mark.parametrize("stage", ["contact", "sight", "paths", "move"])
@pytest.mark.parametrize("simd", [True, False])
def test_each_stage_of_people_has_its_figures(stage: str, simd: bool) -> None:
    sim = simulation(**CROWD, steps=20)
    sim.optimizations.simd = simd
    figures = {figure.name: figure for figure in why({"": sim}, stage, 8)[""]}
    known = {name for name, figure in figures.items() if figure.value != "not known"}
    assert known >= {"time", "pairs", "bytes", "bandwidth", "lines missed"} and "nan" not in str(figures)


def test_the_bandwidth_of_copying_is_measured_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = [2e9, 1e9]
    monkeypatch.setattr(why_module, "folder", lambda: tmp_path)
    monkeypatch.setattr(why_module, "measured_bandwidth", rates.pop)
    for _ in range(2):
        copy_bandwidth.cache_clear()
        assert copy_bandwidth() == 1e9
    copy_bandwidth.cache_clear()
    (tmp_path / f"copy_bandwidth_{max_threads()}").write_text("nonsense", "utf-8")
    assert copy_bandwidth() == 2e9
    copy_bandwidth.cache_clear()


def test_a_copy_moves_some_gigabytes_per_second() -> None:
    assert 1e8 < why_module.measured_bandwidth(0.01, 1 << 20) < 1e13


# --- caches ------------------------------------------------------------------------------------------------------------

def test_sizes_of_caches_are_those_of_the_system(tmp_path: Path) -> None:
    said = (1, "Instruction", "64K", 4), (1, "Data", "48K", 12), (2, "Unified", "2048K", 0), (3, "Unified", "?", 16)
    for number, values in enumerate(said):
        (tmp_path / f"index{number}").mkdir()
        for name, value in zip(FILES, values, strict=True):
            (tmp_path / f"index{number}" / name).write_text(f"{value}\n", "utf-8")
    assert machine_caches(tmp_path) == {1: (48, 12), 2: (2048, 1), 3: (16_384, 16)}
    assert machine_caches(tmp_path / "none") == TYPICAL


def test_lines_missed_are_those_of_the_meter_and_repeat() -> None:
    sim = simulation(**FLOCK, steps=1)
    small, large = Cache(size_kb=1, ways=4), Cache(size_kb=1024, ways=16)
    sim.config = sim.config.model_copy(update={"cache": small})
    meter = locality(sim, sim.agents.count)
    pairs = meter.reads / sim.agents.count
    reads = [(candidates_of(sim), sim.behaviour.observed, sim.agents.count)]
    found = missed_lines(sim, small, reads, pairs) / sim.agents.count
    assert found == pytest.approx(meter.miss_rate * meter.reads * len(sim.behaviour.observed) / sim.agents.count)
    assert missed_lines(sim, small, reads, pairs) / sim.agents.count == found
    assert missed_lines(sim, large, reads, pairs) == 0, "all columns stay there"


@pytest.mark.parametrize(("size", "ways", "missed"), [
    (2048, 2, 37_717), (4096, 4, 20_971), (8192, 8, 4_431), (16_384, 8, 3_738)])
def test_the_simulated_cache_agrees_with_cachegrind_for_a_kernel(size: int, ways: int, missed: int) -> None:
    """The interaction of 500 birds: 41,380 accesses to 8 arrays of 512 numbers each, replayed in C from a list of places.

        for (long i = 0; i < n; i++) {
            uint32_t at = trace[i];
            if (at >> 31) data[at & 0x7fffffff] = sum; else sum += data[at];
        }

    The list and the arrays begin at multiples of 1 MB; bit 31 is a write. `missed` is what Cachegrind 3.19 counts with
    --D1=SIZE,WAYS,64 for the program. It has some hundred accesses beside the loop.
    """
    sim = simulation(**DENSE, steps=30)
    view, grid, trace = sim.agents.view, sim.grid, Trace()
    x, y = view.x[:sim.agents.count].tolist(), view.y[:sim.agents.count].tolist()
    cells = [int(b / grid.cell) * grid.columns + int(a / grid.cell) for a, b in zip(x, y, strict=True)]
    interaction(trace, index(Memory(), cells, grid.cells), cells, grid.columns, grid.reach, 4)
    arrays = list(dict.fromkeys(array for array, _ in trace.all))
    tags, found = np.full((size // 64 // ways, ways), -1), 0
    for number, (array, at) in enumerate(trace.all):
        found += touch(tags, 1 << 20 | number // 16) + touch(tags, (512 * arrays.index(array) + at) // 16)
    assert len(trace.all) == 41_380 and found == pytest.approx(missed, rel=0.005)


# --- the bottleneck, and the card --------------------------------------------------------------------------------------

def test_a_bottleneck_is_told_only_where_figures_support_it() -> None:
    wide = MachineLoop([instruction(0, "vaddps", "zmm1, zmm2, zmm3"), instruction(4, "jb", "0x0")], {0: 1, 4: 1})
    one = MachineLoop([instruction(0, "vaddss", "xmm1, xmm2, xmm3"), instruction(4, "jb", "0x0")], {0: 1, 4: 1})
    assert bottleneck(1, wide, 0.08, 0.1) == "compute bound: 50% 16-lane work, 1% of copy bandwidth beyond L2"
    assert bottleneck(1, one, 0.02, 0) == "compute bound: no vector work, 0% of copy bandwidth beyond L2"
    assert bottleneck(1, wide, 0.71, 1) == "memory bound: 71% of copy bandwidth beyond L2"
    assert bottleneck(1, wide, 0.71, np.nan) == "memory bound: 71% of copy bandwidth"
    assert bottleneck(1, wide, 0.71, 0.1).startswith("compute bound"), "most of it stays in L2"
    for ms, loop, share, beyond in ((1, wide, 0.3, 0.9), (1, wide, 0.1, 4), (1, None, 0.1, 0), (0.01, wide, 0.1, 0),
                                     (1, wide, np.nan, 0)):
        assert bottleneck(ms, loop, share, beyond) == "not known"


@pytest.mark.parametrize(("crowd", "stage"), [(FLOCK, "interaction"), (CROWD, "contact")])
def test_copies_are_explained_and_the_crowd_stays_as_it_is(crowd: dict[str, object], stage: str) -> None:
    sim = simulation(**crowd, steps=3)  # type: ignore[arg-type]
    before = sim.state_hash()
    *_, rows = explained(sim, {"simd": True}, {"simd": False}, stage)
    assert rows and [row.name for row in rows] == ROWS and sim.state_hash() == before and sim.optimizations.simd
    by_name = {row.name: row for row in rows}
    assert by_name["pairs"].before != by_name["pairs"].after and "read" in by_name["bytes"].before
    (drawn,) = explained(sim, {"cull": "grid"}, {"cull": "off"}, "cull")
    assert drawn and "part of drawing" in drawn[0].source


def test_order_in_memory_is_explained_as_if_agents_had_never_been_sorted() -> None:
    sim = simulation("20k-flock", steps=3)
    before = sim.state_hash()
    *_, rows = explained(sim, {"reorder.when": "off"}, {"reorder.when": "every"}, "interaction")
    assert rows and sim.state_hash() == before
    (row,) = (row for row in rows if row.name == "lines missed")
    missed = [float(value.split(",")[0]) for value in row[1:3]]
    assert missed[0] > 3 * missed[1] > 0


def test_no_text_of_a_figure_is_empty_or_has_a_semicolon() -> None:
    for figure in why({"": simulation(**NEAREST)}, "interaction", 2)[""]:
        assert figure.value and not re.search("; |nan", f"{figure.value} {figure.source}")
