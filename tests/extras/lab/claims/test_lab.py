"""The run of all claims: it goes on where it was stopped, and its results are read, compared and merged. The command."""

import json
import math
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.cli import main
from crowd_demo.extras.commands.measuring import progress_line
from crowd_demo.extras.lab.claims import results
from crowd_demo.extras.lab.claims.claim import (
    AGAIN,
    FROM,
    HOLDS,
    NOT,
    OWN,
    QUICK,
    UNCLEAR,
    Answer,
    CallArm,
    CaseFinding,
    Claim,
    CountedCase,
    Found,
    LabScale,
    TimedCase,
    all_of,
    claim_verdict,
    configured,
    crowds,
    faster,
    is_true,
    judged,
    speed_up,
    trend,
    two_modes,
    warnings,
)
from crowd_demo.extras.lab.claims.peers import PEOPLE, CppPeople, program
from crowd_demo.extras.lab.claims.results import CLAIMS, LabRun, compared, kept_of, merged, ns_per_pair, read, record_of
from crowd_demo.host.system import ProgressLine
from crowd_demo.measure.experiment import Slice, header, result_of
from crowd_demo.measure.statistics import independent_ratio
from crowd_demo.registry.techniques import STRUCTURES
from crowd_demo.sim.simulation import Simulation

TINY = LabScale(400, 2)


def toy(name: str = "toy", cases: int = 2) -> Claim:
    def arm() -> CallArm:
        return CallArm(lambda _: np.arange(3), figures={"candidates_per_agent": 9})

    made = [TimedCase(f"{size} things", size, {"old": arm, "new": arm}, steps=2, seconds=10) for size in range(1, cases + 1)]
    return Claim(name, f"Is {name} a question?", "yes | and <b>no</b>", OWN, "nothing", lambda scale: made,
                 lambda found: is_true(True))


def run_to_end(run: LabRun) -> LabRun:
    for _ in run.run():
        pass
    return run


def written(run: LabRun, path: Path) -> results.Results:
    path.write_text(json.dumps(record_of(run)), "utf-8")
    return read(path)


# --- the experiments -------------------------------------------------------------------------------------------------

EVERY_DAY = "removal", "depth", "limits", "sparse-memory", "contact"


@pytest.mark.parametrize("name", [
    name if name in EVERY_DAY else pytest.param(name, marks=pytest.mark.slow) for name in CLAIMS])
def test_every_experiment_runs_and_its_arms_agree(name: str) -> None:
    run = run_to_end(LabRun([CLAIMS[name]], TINY, {name}))
    [found] = run.found
    assert run.done and len(found.findings) + len(found.left_out) == len(CLAIMS[name].cases(TINY))
    for finding in found.findings:
        assert finding.found.one_hash, finding.warnings
        assert finding.answer in ("yes", "no", "unclear")
        stages = {tuple(each["name"] for each in rows) for rows in finding.found.why.values()}
        assert len(stages) <= 1 and (name != "structures" or stages)
    assert name == "against-c" or not found.left_out
    text = results.markdown(run)
    assert CLAIMS[name].question in text and claim_verdict(found.claim, found.findings) in text


@pytest.mark.quick
def test_claims_have_names_and_small_scales_are_small() -> None:
    for name, claim in CLAIMS.items():
        assert name == claim.name and claim.question.endswith("?") and claim.source and claim.decided_by
        names = [case.name for case in claim.cases(QUICK)]
        assert len(names) == len(set(names))
    assert sum(claim.seconds(QUICK) for claim in CLAIMS.values()) < 600


# --- stopping and going on -------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_it_goes_on_with_the_case_that_was_not_finished() -> None:
    kept = list[int]()
    run = LabRun([toy()], QUICK, {"toy"}, keep=lambda run: kept.append(len(run.found[0].findings)))
    slices = run.run()
    while not kept:
        next(slices)
    first = {("toy", finding.found.case): finding.found for finding in run.found[0].findings}
    assert not run.done and len(first) == 1
    rest = LabRun([toy()], QUICK, {"toy"}, first)
    texts = [str(part) for part in rest.run()]
    assert rest.done and len(rest.found[0].findings) == 2
    assert rest.found[0].findings[0].found is first["toy", "1 things"]
    assert not any("1 things" in text for text in texts) and any("2 things" in text for text in texts)


@pytest.mark.quick
def test_what_was_not_asked_for_is_shown_but_not_measured() -> None:
    kept = {("other", "1 things"): run_to_end(LabRun([toy("other")], TINY, {"other"})).found[0].findings[0].found}
    run = run_to_end(LabRun([toy(), toy("other")], TINY, {"toy"}, kept))
    assert [len(each.findings) for each in run.found] == [2, 1]


@pytest.mark.quick
def test_a_case_that_cannot_be_tried_says_why() -> None:
    large = TimedCase("large", 10**15, {"old": lambda: CallArm(lambda _: 0)})
    run = run_to_end(LabRun([toy()._replace(cases=lambda scale: [large])], TINY, {"toy"}))
    assert "memory" in run.found[0].left_out["large"] and "memory" in results.markdown(run)


@pytest.mark.quick
def test_an_arm_that_cannot_be_made_is_left_out() -> None:
    def missing() -> CallArm:
        raise ValueError("there is no compiler")

    case = TimedCase("toy", 1, {"old": lambda: CallArm(lambda _: 0), "new": lambda: CallArm(lambda _: 0), "C": missing})
    [found] = run_to_end(LabRun([toy()._replace(cases=lambda scale: [case])], TINY, {"toy"})).found
    assert found.findings[0].found.left_out == {"C": "there is no compiler"}
    assert any("no compiler" in line for line in found.findings[0].warnings)


# --- results ---------------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    run = run_to_end(LabRun([toy()], QUICK, {"toy"}))
    found = written(run, tmp_path / "a.json")
    assert list(found.found) == [("toy", "1 things"), ("toy", "2 things")]
    for finding in run.found[0].findings:
        assert found.found["toy", finding.found.case]._asdict() == json.loads(json.dumps(finding.found._asdict()))
    assert kept_of(found, QUICK) == found.found and kept_of(found, TINY) is None
    assert kept_of(results.Results({**found.head, "program": "other"}, found.found), QUICK) is None


@pytest.mark.quick
def test_two_results_beside_each_other(tmp_path: Path) -> None:
    def of(ms: list[float], digest: str) -> results.Results:
        found = Found("1 things", 1000, 2, 1, {"old": ms}, figures={"old": {"candidates_per_agent": 9}},
                      hashes={"old": digest})
        head = {"machine": {"cpu": "AMD Toy(R) CPU @ 3 GHz", "cores": 2}}
        return results.Results(head, {("toy", "1 things"): found})

    a, b, other = of([2.0] * 8, "a"), of([1.0] * 8, "a"), of([1.0] * 8, "b")
    assert compared(a, b).rows == [("toy 1 things old", "2.00", "1.00", "2.0x", "2.0-2.0", "same")]
    assert compared(a, other).rows[0][-1] == "DIFFERS"
    table = merged([a, b])
    assert table.columns[2:] == ("AMD Toy x2",) * 2 and table.rows == [("toy 1 things old", "9.0", "4,000.0", "2,000.0")]


@pytest.mark.quick
def test_a_pair_costs_the_interaction_of_those_that_are_due() -> None:
    counted = {"candidates_per_agent": 10, "due": 250, "workers": 2}
    found = Found("1,000 birds", 1000, 1, 1, {"old": [5.0] * 8}, figures={"old": counted},
                  stages_ms={"old": {"index": [3.0] * 8, "interaction": [2.0] * 8}})
    assert ns_per_pair(found, "old") == pytest.approx(2e6 * 2 / 2500)
    assert ns_per_pair(found._replace(figures={}), "old") is None
    assert "ns per pair" in results.case_table(found)[0]
    assert "ns per pair" not in results.case_table(found._replace(figures={}))[0]


@pytest.mark.quick
@given(st.lists(st.floats(0.5, 2), min_size=8, max_size=20), st.lists(st.floats(0.5, 2), min_size=8, max_size=20))
def test_a_ratio_of_two_runs_lies_in_its_interval(before: list[float], after: list[float]) -> None:
    found = independent_ratio(np.array(before), np.array(after))
    assert found.low <= found.high and found.low <= max(before) / min(after) and found.high >= min(before) / max(after)


@pytest.mark.quick
@pytest.mark.parametrize("content", ["", "[]", "{}", "null", '{"kind": "lab"}', '{"kind": "lab", "version": 1, "claims": 3}',
                                     '{"kind": "lab", "version": 1, "machine": 1, "claims": {}}', "\x00", "{" * 100_000,
                                     '{"kind": "lab", "version": 1, "machine": {}, "claims": {"a": {"cases": [{}]}}}'])
def test_other_files_cost_one_line(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, "utf-8")
    assert main(["lab", "merge", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and str(path) in captured.err and not captured.out


WRONG: dict[str, dict[str, object]] = {
    "a number of 400 digits": {"size": 10**400}, "a time of 400 digits": {"blocks_ms": {"old": [10**400]}},
    "a figure of 400 digits": {"figures": {"old": {"candidates_per_agent": 10**400}}},
    "no samples": {"blocks_ms": {"old": []}}, "no time": {"blocks_ms": {"old": [0.0]}}, "no number": {"load": math.nan},
    "a text": {"figures": {"old": {"due": "many"}}}, "too many samples": {"blocks_ms": {"old": [1.0] * 1001}},
    "too many arms": {"blocks_ms": {str(number): [1.0] for number in range(5001)}}}


@pytest.mark.quick
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("command", ["compare", "merge"])
def test_numbers_that_no_lab_writes_cost_one_line(
        command: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
        errors_of: Callable[..., list[str]]) -> None:
    good = Found("1 things", 9, 1, 1, {"old": [1.0]}, figures={"old": {"candidates_per_agent": 9}})
    paths = [tmp_path / "good.json", tmp_path / "wrong.json"]
    for path, found in zip(paths, (good, good._replace(**WRONG[wrong])), strict=True):  # type: ignore[arg-type]
        path.write_text(json.dumps({**header("lab"), "claims": {"toy": {"cases": [found._asdict()]}}}), "utf-8")
    assert main(["lab", command, str(paths[0]), str(paths[0])]) == 0
    assert capsys.readouterr().err == ""
    assert errors_of("lab", command, *map(str, paths)) == [f"{paths[1]}: is not a results.json of a lab"]


# --- progress --------------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_what_is_redirected_has_no_control_characters(
        monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Not even where somebody asks for colours."""
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_line("lab") as line:
        line._every_s = 0
        line.show(Slice("[half]", 0.5))
    assert type(line) is ProgressLine and capfd.readouterr().err == "lab:  50%  [half]\n"


# --- the report ------------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_the_report_says_what_was_found(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    def figures() -> Generator[Slice, None, dict[str, dict[str, float]]]:
        yield Slice("a", 0)
        return {"a": {"bytes": 7.0}}

    counted = toy("counted")._replace(cases=lambda scale: [CountedCase("bytes", 1, figures)])
    run = run_to_end(LabRun([toy(), counted], QUICK, {"toy", "counted"}))
    files = results.write(run, tmp_path)
    assert {path.name for path in files} == {"report.md", "report.html", "toy.svg", "toy.png"}
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<svg" in page and "yes | and &lt;b&gt;no&lt;/b&gt;" in page
    assert "http" not in page.replace("http://www.w3.org", "")  # names of SVG, which nothing is loaded from
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "yes \\| and" in text and "| a | " in text


# --- the command -----------------------------------------------------------------------------------------------------

@pytest.fixture
def one_toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("crowd_demo.extras.lab.claims.results.CLAIMS", {"toy": toy()})
    yield


@pytest.mark.quick
def test_the_command_makes_a_report_and_goes_on(one_toy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report"
    assert main(["lab", "--quick", "--out", str(out)]) == 0
    assert "toy" in capsys.readouterr().out and (out / "results.json").exists() and (out / "report.md").exists()
    before = read(out / "results.json").found
    assert main(["lab", "--quick", "--out", str(out)]) == 0
    assert read(out / "results.json").found == before  # nothing was measured again
    assert main(["lab", "--out", str(out)]) == 0  # another scale: what there is is set aside
    assert "set aside as crowd-0001.json" in capsys.readouterr().err
    assert main(["lab", "compare", str(out / "results.json"), str(out / "crowd-0001.json")]) == 0
    assert "toy 1 things old" in capsys.readouterr().out


@pytest.mark.quick
@pytest.mark.parametrize(("arguments", "line"), [
    (["toi"], "lab: unknown claim 'toi' (did you mean toy?); there are toy"),
    (["compare", "a.json"], "lab compare: takes two files, not 1: crowd-demo lab compare A.json B.json"),
    (["merge"], "lab merge: name the files: crowd-demo lab merge A.json B.json ..."),
    (["merge", "no.json"], "no.json: cannot be read: No such file or directory")])
def test_mistakes_cost_a_line(arguments: list[str], line: str, one_toy: None, errors_of: Callable[..., list[str]]) -> None:
    assert errors_of("lab", *arguments) == [line]


@pytest.mark.quick
def test_the_list_names_question_source_and_time(one_toy: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--list"]) == 0
    text = capsys.readouterr().out
    assert "Is toy a question?" in text and OWN in text and "about 20 s" in text


# --- verdicts and warnings, and that broken techniques are caught. No time is tested: blocks are made ----------------

STEADY = [1.0, 1.02, 0.99, 1.01, 1.0, 0.98, 1.01, 1.0]
HALF = f"{NOT} (in 1 of 2 cases it does)"
TWICE = [2 * ms for ms in reversed(STEADY)]


def found(**blocks: list[float]) -> Found:
    first = next(iter(blocks))
    repeat = {first + AGAIN: list(reversed(blocks[first]))}
    return Found("1,000 birds", 1000, 1, 5, {**blocks, **repeat}, stages_ms={arm: {} for arm in (*blocks, *repeat)},
                 hashes=dict.fromkeys((*blocks, *repeat), "a"), same=list(blocks))


def claim(by_size: bool = True) -> Claim:
    return Claim("toy", "?", "faster", OWN, "", lambda scale: [], lambda found: faster(found, "new", "old"), by_size)


def findings(*answers: Answer) -> list[CaseFinding]:
    return [CaseFinding(found(old=STEADY)._replace(case=f"size {number}"), answer, {}, [])
            for number, answer in enumerate(answers)]


# --- ratios ----------------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_twice_as_fast_is_faster_and_the_other_way_round_slower() -> None:
    both = found(old=TWICE, new=STEADY)
    assert faster(both, "new") == "yes" and faster(both, "old", "new") == "no"
    assert faster(both, "new", times=1.5) == "yes" and faster(both, "new", times=2.5) == "no"
    ratio = speed_up(both, "new")
    assert ratio.low < 2 < ratio.high and ratio.value == pytest.approx(2, rel=0.03)


@pytest.mark.quick
def test_two_alike_are_not_faster_and_few_blocks_are_unclear() -> None:
    assert faster(found(old=STEADY, new=STEADY[::-1]), "new") == "no"
    assert faster(found(old=TWICE[:5], new=STEADY[:5]), "new") == "unclear"
    assert faster(found(old=TWICE), "new") == "unclear"


@pytest.mark.quick
def test_other_hashes_leave_it_unclear_and_are_told() -> None:
    both = found(old=TWICE, new=STEADY)
    other = both._replace(hashes={**both.hashes, "new": "b"})
    assert faster(other, "new") == "unclear" and judged(claim(), other).answer == "unclear"
    assert any("THE CROWDS DIFFER" in line for line in warnings(other))
    assert judged(claim(), other._replace(same=[])).answer == "yes"  # approximate ones may


# --- verdicts --------------------------------------------------------------------------------------------------------

@pytest.mark.quick
@pytest.mark.parametrize(("answers", "by_size", "text"), [
    (("yes", "yes"), True, HOLDS), (("no", "no"), True, NOT), (("unclear", "unclear"), True, UNCLEAR),
    (("no", "yes", "yes"), True, FROM.format("size 1")), (("unclear", "yes"), True, FROM.format("size 1")),
    (("yes", "no"), True, HALF), (("no", "unclear"), True, UNCLEAR), (("no", "yes"), False, HALF),
    (("unclear", "yes"), False, UNCLEAR), ((), True, UNCLEAR)])
def test_a_verdict_of_all_cases(answers: tuple[Answer, ...], by_size: bool, text: str) -> None:
    assert claim_verdict(claim(by_size), findings(*answers)) == text


@pytest.mark.quick
@given(st.lists(st.sampled_from(("yes", "no", "unclear"))))
def test_all_of_is_the_worst(answers: list[Answer]) -> None:
    wanted = "no" if "no" in answers else "unclear" if "unclear" in answers or not answers else "yes"
    assert all_of(answers) == wanted


# --- warnings --------------------------------------------------------------------------------------------------------

@pytest.mark.quick
def test_a_trend_is_found_in_either_direction() -> None:
    rising = np.linspace(1, 1.4, 10) + 0.01 * np.sin(np.arange(10))
    assert trend(rising) == pytest.approx(0.34, abs=0.03) and trend(rising[::-1]) == pytest.approx(-0.33, abs=0.03)
    assert trend(np.array(STEADY)) == 0 and trend(np.ones(8)) == 0


@pytest.mark.quick
def test_two_modes_are_found_and_an_outlier_is_none() -> None:
    assert two_modes(np.array([1, 2, 1.01, 2.02, 0.99, 2.01, 1, 1.98])) == pytest.approx(0.65, abs=0.05)
    assert two_modes(np.array([*STEADY[:7], 3.0])) == 0 and two_modes(np.array(STEADY)) == 0


# --- what is broken is caught ----------------------------------------------------------------------------------------


def measured(case: TimedCase, blocks: int = 8) -> Found:
    return result_of(case.run(blocks))


@pytest.mark.quick
def test_a_fake_that_skips_work() -> None:
    work = list(range(100))
    both = measured(TimedCase("toy", 1, {"sum": lambda: CallArm(lambda _: np.cumsum(work)), "fake": lambda: CallArm(
        lambda _: np.zeros(100, np.int64))}))
    assert not both.one_hash and judged(claim(), both).answer == "unclear"


def test_wrong_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRUCTURES, "linked", "wrong_structures:Forgetful")
    arms = crowds("20k-flock", 300, {"sorted": {"neighbours": "sorted"}, "linked": {"neighbours": "linked"}})
    both = measured(TimedCase("300 birds", 300, arms, steps=20), blocks=2)
    assert not both.one_hash and both.hashes["sorted"] == both.hashes["sorted" + AGAIN]


# --- Against C -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("threads", [1, 2])
def test_people_in_cpp_have_the_same_hash(threads: int) -> None:
    try:
        program(PEOPLE)
    except ValueError as why:
        pytest.skip(str(why))
    sim = Simulation(configured("20k", 600, {"device": "cpu", "threads": threads}, crowd__wait_s=2.0, crowd__room=100.0))
    sim.step(7)
    sim.agents.columns.x[1], sim.agents.columns.y[1] = sim.agents.columns.x[0], sim.agents.columns.y[0]
    people, states = CppPeople(sim, threads), set[str]()
    for _ in range(12):
        people.run(50)
        sim.step(50)
        assert people.result() == sim.state_hash()
        states |= {name for name, count in sim.states().items() if count}
    assert states == {"walking", "waiting", "stuck", "queuing"}
