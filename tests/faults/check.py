"""Plant each of some faults in a copy of the tree, and see that the named test catches it.

    python tests/faults/check.py [NAME ...]

Begins with the named tests on an unchanged copy, where they must pass. Exits with 1 if a fault is not caught. Most faults lie
in kernels, which are compiled anew for each: some twenty minutes in all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PASSED, FAILED = 0, 1  # exit codes of pytest; all others mean that the tests could not be run


class Fault(NamedTuple):
    """A small mistake. `right` stands exactly once in the package, and is replaced by `wrong`."""

    name: str
    area: str
    what: str  # goes wrong
    right: str
    wrong: str
    test: str  # catches it: path below tests/ and name


FAULTS = (
    Fault("none", "neighbours: none",
          "Without a structure the last agent in memory is in no row: the rows end one slot before the number of "
          "agents.",
          "np.minimum(np.arange(rows + 1 + LANES) * ROW, count)",
          "np.minimum(np.arange(rows + 1 + LANES) * ROW, count - 1)",
          "sim/interaction/test_interact.py::test_every_path_equals_brute_force"),
    Fault("linked", "neighbours: linked",
          "Linked cell lists leave out the agent in slot 0: the loop that links agents into their cells ends before it.",
          "for slot in range(agents - 1, -1, -1):",
          "for slot in range(agents - 1, 0, -1):",
          "sim/neighbours/test_structures.py::test_lists_hold_the_agents_of_each_cell_in_slot_order"),
    Fault("buckets", "neighbours: buckets (the grid)",
          "The grid searches too few cells on each side: the radius of perception over the side of a cell is rounded "
          "down, not up.",
          "reach = max(1, math.ceil(radius / side))",
          "reach = max(1, math.floor(radius / side))",
          "sim/neighbours/test_structures.py::test_a_whole_part_of_the_radius_is_not_looked_beyond"),
    Fault("sorted", "neighbours: sorted, along a curve",
          "After a sort along a curve the order of the cells still names the slots from before the move.",
          "curve_order.order[k] = at",
          "curve_order.order[k] = order[k]",
          "sim/test_one_hash.py::test_every_pair_of_values_gives_one_crowd"),
    Fault("z_grid", "neighbours: z_grid",
          "The grid in Z order does not search the rightmost column of cells within reach of a square.",
          "right, bottom = min(column + side + reach, floor.columns) - 1",
          "right, bottom = min(column + side + reach - 1, floor.columns) - 1",
          "sim/neighbours/test_structures.py::test_candidates_hold_every_neighbour"),
    Fault("kd_tree", "neighbours: kd_tree",
          "Where a node of the kd-tree is cut along x, the border between its children is the x of the node's first "
          "agent instead of the median's.",
          "low[2] = high[0] = tree.x[middle]",
          "low[2] = high[0] = tree.x[first]",
          "sim/neighbours/test_structures.py::test_candidates_hold_every_neighbour"),
    Fault("aabb_tree", "neighbours: aabb_tree",
          "The right side of a leaf's box in the box tree ignores the extent of the agents (crates).",
          "right, bottom = max(right, x[slot] + extent), max(bottom, y[slot] + extent)",
          "right, bottom = max(right, x[slot]), max(bottom, y[slot] + extent)",
          "sim/neighbours/test_structures.py::test_candidates_hold_every_neighbour"),
    Fault("field", "neighbours: field",
          "The smoothed field's cohesion is scaled by 2 * sight^2 / side^2 instead of 3 * sight^2 / side^2.",
          "(3 * field.sight_sq / (side * side))",
          "(2 * field.sight_sq / (side * side))",
          "sim/behaviours/test_hunt.py::test_field_is_what_its_formula_says"),
    Fault("lanes", "SIMD lanes",
          "A register that is not full writes the push of one lane too many.",
          "wanted = lane_numbers() < size",
          "wanted = lane_numbers() <= size",
          "sim/interaction/test_interact.py::test_every_path_equals_brute_force"),
    Fault("stagger", "staggering",
          "After the period of staggering is shortened, agents that would look later than a period from now are not "
          "due at once.",
          "return (next_update < schedule.due_below) | (next_update > schedule.due_above)",
          "return next_update < schedule.due_below",
          "sim/neighbours/test_structures.py::test_nobody_waits_longer_than_the_period_and_ages_tell"),
    Fault("neighbour_limit", "neighbour limit: nearest",
          "Of equally near neighbours the limit keeps those with the highest ids instead of the lowest.",
          "columns.id[slot] < columns.id[near[at - 1]]",
          "columns.id[slot] > columns.id[near[at - 1]]",
          "sim/interaction/test_neighbour_limit.py::test_an_agent_meets_whom_the_limit_leaves_it"),
    Fault("reorder", "reorder: drift",
          "The drift that asks for a sort is compared in world units instead of in cells: agents are sorted far too "
          "often.",
          "since.units > drift * cell",
          "since.units > drift",
          "sim/store/test_removal.py::test_drift_sorts_as_soon_as_somebody_may_have_moved_that_share_of_a_cell"),
    Fault("cull", "culling by cells",
          "Culling by cells takes agents without a test in cells whose agents may have moved out of the view since "
          "the grid was built.",
          "math.ceil((low + slack) / cell), first, last))",
          "math.ceil(low / cell), first, last))",
          "render/test_cull.py::test_only_the_cells_in_view_are_visited_and_only_those_on_its_border_are_tested"),
    Fault("depth", "depth: bands",
          "The merge that sorts a full band of the depth order takes the larger key first.",
          "pile.keys[left] < pile.keys[right]",
          "pile.keys[left] > pile.keys[right]",
          "render/test_cull.py::test_bands_and_the_full_sort_give_the_order_of_the_reference"),
    Fault("blit", "blitter: compiled",
          "The compiled blitter leaves out the last column of the screen of sprites that are cut by its edge.",
          "range(max(0, -x), min(columns, width - x))",
          "range(max(0, -x), min(columns, width - x - 1))",
          "render/figures/test_sprites.py::test_compiled_rows_paint_what_the_reference_paints"),
    Fault("swap_back", "removal: swap_back",
          "Removal by swap_back fills the first gap with the first of the last members instead of with the very last "
          "one.",
          "source = np.flatnonzero(self.ids[left:] >= 0)[::-1] + left",
          "source = np.flatnonzero(self.ids[left:] >= 0) + left",
          "sim/store/test_removal.py::test_a_set_and_its_data_follow_a_plain_list"),
    Fault("shift", "removal: shift and deferred",
          "Where gaps are closed in order (removal by shift, and compact after deferred removal), the members behind "
          "the first gap come out in reverse order.",
          "source = np.flatnonzero(self.ids[first:] >= 0) + first",
          "source = np.flatnonzero(self.ids[first:] >= 0)[::-1] + first",
          "sim/store/test_removal.py::test_a_set_and_its_data_follow_a_plain_list"),
    Fault("sparse_set", "sparse set",
          "The generation of an id is not counted up when it is removed, so an old handle finds whoever has the id "
          "next.",
          "self.generations[gone] += 1",
          "self.generations[gone] += 0",
          "sim/store/test_removal.py::test_a_set_and_its_data_follow_a_plain_list"),
    Fault("flow_field", "flow fields",
          "A diagonal step of a flow field may cut the corner of a wall on one of its two sides.",
          "if corners + blocked[row, to_column] + blocked[to_row, column] == 0:",
          "if corners + blocked[row, to_column] == 0:",
          "sim/terrain/test_tiles.py::test_ways_are_the_shortest_and_their_first_steps_the_lowest"),
    Fault("areas", "areas",
          "The area of a destination has no radius: it takes every tile that its point sees and to which it is nearest.",
          "if far_sq < min(nearest_sq, radius_sq[number]) and in_sight(",
          "if far_sq < nearest_sq and in_sight(",
          "sim/behaviours/test_destinations.py::test_areas_are_those_of_the_oracle"),
    Fault("exits", "exits",
          "Newborn people, who wait with a timer of 0, are exchanged as if they had arrived at an exit.",
          "return bool(c.state[slot] == WAITING and c.timer[slot] > 0)",
          "return bool(c.state[slot] == WAITING)",
          "sim/behaviours/test_destinations.py::test_who_comes_in_is_whom_the_oracle_says"),
    Fault("sent", "sending people",
          "Who is sent goes to the first of the destinations, not to the nearest.",
          "ways.argmin(axis=0)[slots]",
          "np.argmax(ways < NO_WAY, axis=0)[slots]",
          "sim/behaviours/test_destinations.py::test_who_goes_where_is_what_the_oracle_says"),
    Fault("springs", "springs",
          "The damping of a spring is not divided by its length.",
          "rules.damping * (apart / length)",
          "rules.damping * apart",
          "sim/population/test_springs.py::test_springs_are_the_models"),
    Fault("links", "links of the dead",
          "A link stays when one of its ends has died and the id is in use again.",
          "& (handles.generations[self.ends] == self.generations)).all(axis=1)",
          "& (handles.generations[self.ends] >= self.generations)).all(axis=1)",
          "sim/population/test_springs.py::test_a_recycled_id_does_not_inherit_links"),
    Fault("contact", "contact",
          "Two bodies that overlap are each moved by the whole overlap instead of by half of it.",
          "distance * (FIXED / 2)",
          "distance * FIXED",
          "sim/behaviours/test_contact.py::test_every_structure_moves_people_apart_as_the_oracle_says"),
    Fault("anticipate", "avoidance: anticipate",
          "People also step aside for those whom they have already passed: the time of the nearest approach may be "
          "negative.",
          "soon = apart & (time > 0) & (time < rules.ahead)",
          "soon = apart & (time < rules.ahead)",
          "sim/interaction/test_interact.py::test_every_path_equals_brute_force"),
    Fault("slow-down", "avoidance: slow_down",
          "People also slow down for whoever comes towards them: two streams wait for each other for ever.",
          "same_way = within_reach & (other.ahead_x * x + other.ahead_y * y > SAME_WAY)",
          "same_way = within_reach & (distance_sq > 0)",
          "sim/interaction/test_interact.py::test_every_path_equals_brute_force"),
    Fault("hunt", "hunt",
          "Prey flees from a predator as strongly at the edge of its fear as far inside: the weight no longer ends "
          "at 0 there.",
          "weight = rules.fear * inverse_root(distance_sq) - 1",
          "weight = rules.fear * inverse_root(distance_sq)",
          "sim/behaviours/test_hunt.py::test_everybody_moves_as_the_oracle_says"),
    Fault("snapshot", "snapshot",
          "A snapshot restores the links with the ids of their ends as the generations of these.",
          "world.links.restore(snapshot.link_ends, snapshot.link_generations)",
          "world.links.restore(snapshot.link_ends, snapshot.link_ends)",
          "sim/test_snapshot.py::test_a_snapshot_goes_on_alike_in_place_and_anew"),
    Fault("timeline", "timeline",
          "After going back, what was done at a tick is done again one tick too late.",
          "self.actions[done][0] <= sim.tick:",
          "self.actions[done][0] < sim.tick:",
          "app/crowd/test_crowd_time.py::test_every_tick_has_the_hash_that_it_had"),
    Fault("recording", "recording",
          "A recording keeps the actions of a future that was dropped by going back.",
          "part.actions = part.actions[:self.actions]",
          "part.actions = part.actions[:]",
          "host/recording/test_recording.py::test_a_replay_of_a_long_random_run_has_its_hashes"),
    Fault("replay", "replay",
          "A replay takes every hash for the recorded one, so it never says that it parts.",
          "if present == recorded:",
          "if present or recorded:",
          "host/recording/test_recording.py::test_a_run_that_parts_is_told_at_its_first_hash"),
    Fault("hash", "state hash",
          "The state hash does not cover the tick.",
          'f"{tick} {agents}".encode()',
          'f"{agents}".encode()',
          "sim/test_one_hash.py::test_hash_and_counters_are_those_that_were_pinned[1k]"),
    Fault("config", "validation of the configuration",
          "A cloth is taken for two links a node instead of four where the stiffest springs that a step bears are "
          "worked out.",
          '"cloth": (4, 2)',
          '"cloth": (2, 2)',
          "config/test_model.py::test_links_are_as_stiff_as_a_step_can_bear"),
    Fault("yaml", "reading YAML",
          "A whole number with a leading zero is read as octal, as YAML 1.1 does: 012 is 10.",
          'return int(text, 0) if text[:2] in ("0o", "0x") else int(text)',
          'return int(text, 8) if text[:1] == "0" and text.isdigit() else int(text, 0)',
          "config/test_loader.py::test_scalars_are_those_of_yaml_1_2"),
    Fault("keys", "keys",
          "The key that pans up pans down.",
          '"pan up", 0, -1',
          '"pan up", 0, 1',
          "app/test_key_input.py::test_held_keys_pan_until_they_are_released_and_opposite_ones_cancel"),
    Fault("hud", "numbers of the HUD",
          "The HUD's share of useful candidates is upside down.",
          '"useful": percent(neighbours / candidates)',
          '"useful": percent(candidates / neighbours)',
          "render/hud/test_sections.py::test_the_share_of_candidates_that_are_neighbours_is_told"),
    Fault("proof", "proof",
          "The proof only compares the last column of two crowds: what differed in an earlier one is forgotten.",
          "differing |= column[mine] != same[theirs]",
          "differing = column[mine] != same[theirs]",
          "measure/test_proof.py::test_agents_that_only_one_crowd_has_differ"),
    Fault("verdict", "statistics of the card",
          "What is slower by less than the noise is called slower.",
          "math.hypot(math.log(value / ratio.low), reach)",
          "math.hypot(math.log(value / ratio.low), 0)",
          "measure/test_comparison.py::test_what_lies_within_the_noise_is_no_difference"),
    Fault("effect", "times of the card",
          "The card counts the frame after a proof, which finds the proof's data in the caches.",
          "ordinary[1:] &= ~proved[:-1]  # a proof",
          "ordinary[1:] &= ordinary[1:]  # a proof",
          "app/card/test_effect.py::test_frames_with_a_note_and_their_steps_do_not_count"),
    Fault("resume", "resuming an ensemble",
          "An ensemble that is resumed does not try again what failed.",
          "{row.key for row in rows if row.state_hash}  # what failed is tried again",
          "{row.key for row in rows}",
          "extras/ensemble/test_command.py::test_a_run_that_fails_is_a_row_with_its_error_and_is_tried_again"),
    Fault("sight", "line of sight",
          "There is a line of sight through the corner of a single wall: only where both tiles beside the corner are "
          "walls is it blocked.",
          "walls.blocked[row, column + step_x] or walls.blocked[row + step_y, column]",
          "walls.blocked[row, column + step_x] and walls.blocked[row + step_y, column]",
          "sim/terrain/test_tiles.py::test_all_points_of_four_small_tiles"),
    Fault("slack", "culling by cells",
          "Culling by cells does not visit cells beyond the far side of the view whose agents may have moved into it.",
          "math.floor((high + slack) / cell) + 1",
          "math.floor(high / cell) + 1",
          "render/test_cull.py::test_cells_in_view_are_those_whose_agents_may_be_there_and_inner_ones_those_whose_agents_all_are"),
    Fault("exchanged", "removal: shift and deferred",
          "Removal by shift leaves its gaps, and deferred removal closes them.",
          'if mode == "shift":',
          'if mode == "deferred":',
          "sim/store/test_removal.py::test_only_a_deferred_removal_leaves_gaps"),
    Fault("gaps", "removal: deferred",
          "Of several deferred removals only the gaps behind the first one of the last are closed.",
          "first = min(int(gaps.min())",
          "first = max(int(gaps.min())",
          "sim/store/test_removal.py::test_gaps_of_several_deferred_removals_are_closed_together"),
)


def file_with(fault: Fault, root: Path = ROOT) -> Path:
    """Return the file in which the fault can be planted. Raises ValueError unless there is exactly one such place."""
    times = {path: path.read_text("utf-8").count(fault.right) for path in (root / "crowd_demo").rglob("*.py")}
    if sum(times.values()) != 1:
        raise ValueError(f"{fault.name}: {sum(times.values())} places, not 1, have {fault.right!r}")
    return max(times, key=times.__getitem__)


def copy_tree(to: Path) -> None:
    """Copy the files that git knows, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def run_tests(tree: Path, cache: Path, tests: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Run the tests on that tree until one fails, with kernels from that cache."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "",
               *(f"tests/{test}" for test in tests)]
    environment = {**os.environ, "PYTHONPATH": str(tree), "CROWD_DEMO_CACHE": str(cache),
                   "HYPOTHESIS_STORAGE_DIRECTORY": str(cache / "hypothesis")}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, encoding="utf-8")


def verdict(fault: Fault, tree: Path, cache: Path) -> str:
    """Plant the fault, run its test, and take the fault away again."""
    path = file_with(fault, tree)
    text = path.read_text("utf-8")
    path.write_text(text.replace(fault.right, fault.wrong), "utf-8")
    try:
        done = run_tests(tree, cache, [fault.test])
    finally:
        path.write_text(text, "utf-8")
    names = {PASSED: "NOT CAUGHT", FAILED: "caught"}
    return names.get(done.returncode, f"COULD NOT BE RUN\n{done.stdout}{done.stderr}")


def main(names: list[str]) -> int:
    chosen = [fault for fault in FAULTS if not names or fault.name in names]
    if unknown := set(names) - {fault.name for fault in chosen}:
        print(f"no such fault: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        tree, cache = Path(folder) / "tree", Path(folder) / "cache"
        copy_tree(tree)
        done = run_tests(tree, cache, dict.fromkeys(fault.test for fault in chosen))
        if done.returncode != PASSED:
            print(f"the tests do not pass without a fault\n{done.stdout}{done.stderr}")
            return 1
        for fault in chosen:
            found = verdict(fault, tree, cache)
            print(f"{fault.name:12} {found}", flush=True)
            if found != "caught":
                missed.append(fault.name)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} faults are caught", *missed and ("but not", ", ".join(missed)))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
