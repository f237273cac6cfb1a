"""From a file to a tour, or to one line for each of its mistakes; and what holds at each of its steps."""

import pytest
from damages import mistakes_in

from crowd_demo.config.loader import load_config
from crowd_demo.config.model import CameraSettings
from crowd_demo.config.resources import list_tours
from crowd_demo.config.tour import NUMBERS, PLACEHOLDER, load_tour

pytestmark = pytest.mark.quick

NEAR = CameraSettings(center=None, zoom=2)
TOUR = """
config: 1k
steps:
  - say: >
      Everybody tests
      everybody.
    do: {set: {neighbours: none, stagger.avoidance: 1}, agents: 500}
    mark: brute
  - say: A grid. It is {faster}, {brute.factor}.
    do: {set: {neighbours: sorted}, pause: true, camera: {zoom: 2}}
    ask: Why {candidates}?
    answer: Because {before.step_ms}.
  - say: Another one.
    do: {scenario: maze, speed: 4}
  - say: In slow motion.
    do: {speed: 0.5, set: {simd: false}}
"""


@pytest.fixture
def tour(write):
    return load_tour(write(TOUR))


def steps(*lines):
    return "config: 1k\nsteps:\n" + "".join(f"  - {line}\n" for line in lines)


def test_an_answer_is_a_page_of_its_own_after_its_question(tour):
    assert [(page.step, page.text[:7], page.question[:3], page.is_answer) for page in tour.pages] == [
        (0, "Everybo", "", False), (1, "A grid.", "Why", False), (1, "Because", "Why", True), (2, "Another", "", False),
        (3, "In slow", "", False)]
    assert tour.pages[1].numbers == {"faster", "brute.factor", "candidates"}


def test_what_is_given_counts_and_nothing_else(tour):
    assert tour.steps[0].do.settings == {"agents": 500, "set.neighbours": "none", "set.stagger.avoidance": 1}
    assert tour.steps[1].do.settings == {"pause": True, "set.neighbours": "sorted", "camera": NEAR}
    assert tour.steps[2].do.settings == {"speed": 4}


def test_settings_add_up_since_the_configuration_was_opened(tour):
    assert tour.settings_at(1) == {"agents": 500, "set.neighbours": "sorted", "set.stagger.avoidance": 1, "pause": True,
                                   "camera": NEAR}
    assert tour.settings_at(3) == {"speed": 0.5, "set.simd": False}
    assert [tour.scenario_at(step) for step in range(4)] == [(0, "1k"), (0, "1k"), (2, "maze"), (2, "maze")]


def test_going_back_gives_what_the_tour_had_set_before_or_else_what_the_configuration_says(tour):
    config = load_config("1k")
    assert tour.settings_back(1, config) == {"set.neighbours": "none", "pause": False, "camera": config.camera}
    assert tour.settings_back(3, config) == {"speed": 4, "set.simd": True}


def test_a_step_that_needs_no_actions_may_leave_them_out(write):
    assert load_tour(write(steps("say: Hello.", "{say: Hello., do: }"))).steps[1].do.settings == {}


@pytest.mark.parametrize(("text", "expected"), [
    ("steps: []\n", ["1: config: is missing; it must be text of 1 to 4096 characters",
                     "1: steps: must be a list of sections, at least 1, at most 200, not []"]),
    ("config: 1k\nsteps: 5\n", ["2: steps: must be a list of sections, at least 1, at most 200, not 5"]),
    (steps("5"), ["3: steps.0: must be a section (lines of key: value), not 5"]),
    (steps("ask: why?"), ["3: steps.0.say: is missing; it must be text of 1 to 400 characters"]),
    (steps("{say: x, sai: y}"), ["3: steps.0.sai: unknown key (did you mean say?)"]),
    (steps("say: x", "{say: x, wait: 0}"), ["4: steps.1.wait: must be a whole number from 1 to 600, not 0"]),
    (steps(f"say: {'x' * 401}"), [f"3: steps.0.say: must be text of 1 to 400 characters, not '{'x' * 35} ..."]),
    (steps("{say: x, do: {set: {neighbors: none}}}"),
     ["3: steps.0.do.set.neighbors: unknown key (did you mean neighbours?)"]),
    (steps("{say: x, do: {set: {simd: off}}}"),
     ["3: steps.0.do.set.simd: must be true or false, not 'off' (did you mean false?)"]),
    (steps("{say: x, do: {set: {stagger.avoidance: 99}}}"),
     ["3: steps.0.do.set.stagger.avoidance: must be a whole number from 1 to 16, not 99"]),
    (steps("{say: x, do: {agents: -1, camera: {zoom: 99}}}"),
     ["3: steps.0.do.agents: must be a whole number from 0 to 32000000, not -1",
      "3: steps.0.do.camera.zoom: must be a number from 0.05 to 8 or null, not 99"]),
    (steps("say: '{stepms} ms'"), ["3: steps.0.say: there is no number 'stepms' (did you mean step_ms?)"]),
    (steps("say: '{brute.step_ms}'", "{say: x, mark: brute}"), ["3: steps.0.say: no earlier step has the mark 'brute'"]),
    (steps("{say: x, mark: step_ms}"), ["3: steps.0.mark: must be another name: step_ms has a meaning"]),
    (steps("{say: x, mark: My mark}"), ["3: steps.0.mark: must be small letters, digits and _, not 'My mark'"]),
    (steps("{say: x, bet: {ask: y, of: factr}}"), ["3: steps.0.bet.of: there is no number 'factr' (did you mean factor?)"]),
    (steps("{say: x, bet: {ask: y, of: faster}}"), ["3: steps.0.bet.of: must be a number, not words: factor"]),
    (steps("{say: x, mark: b}", "{say: x, bet: {ask: '{fps} {fsp}', of: b.step_ms, low: 5, high: 5}}"),
     ["4: steps.1.bet.ask: there is no number 'fsp' (did you mean fps?)",
      "4: steps.1.bet.high: must be more than low: 5",
      "4: steps.1.bet.of: must be a number of this step, or a factor: factor or draw_factor"]),
    (steps("{say: x, bet: {of: c.factor, low: -1}}"),
     ["3: steps.0.bet.ask: is missing; it must be text of 1 to 400 characters",
      "3: steps.0.bet.low: must be a number from 0 to 1000000000, not -1"]),
    (steps("{say: x, bet: {ask: y, of: c.factor}}"), ["3: steps.0.bet.of: no earlier step has the mark 'c'"]),
    (steps("{say: x, answer: y}"), ["3: steps.0.answer: must have a question: ask"]),
    (steps("{say: x, do: {scenario: mace}}"),
     ["3: steps.0.do.scenario: mace: no such file, nor a shipped configuration (did you mean maze?)"]),
    ("config: 2k\nsteps:\n  - say: x\n", ["1: config: 2k: no such file, nor a shipped configuration (did you mean 20k?)"]),
    ("config: 1k\nconfig: 5k\nsteps:\n  - say: x\n", ["2: config: given twice, first on line 1"]),
    ("config: 1k\nsteps: [\n", ["2: file: not YAML: while parsing a flow node, expected the node content, but found"
                               " '<stream end>'"]),
    ("- 1\n", ["1: file: must be lines of key: value"]),
])
def test_a_mistake_is_one_line_with_file_line_and_key(write, text, expected):
    assert mistakes_in(load_tour, write(text)) == [f"bad.yaml:{line}" for line in expected]


def test_a_broken_configuration_is_found_before_the_tour_begins(write, tmp_path):
    (tmp_path / "mine.yaml").write_text("agents: many\n", "utf-8")
    (line,) = mistakes_in(load_tour, write(steps("say: x", "{say: y, do: {scenario: mine}}")))
    assert line.startswith("bad.yaml:4: steps.1.do.scenario: mine.yaml:1: agents: must be a whole number")


def test_a_tour_is_found_by_its_path_in_the_users_folder_or_among_those_that_are_shipped(write, tmp_path):
    (tmp_path / "tours").mkdir()
    (tmp_path / "tours" / "talk.yaml").write_text(steps("say: Mine."), "utf-8")
    assert load_tour("talk").steps[0].say == load_tour("tours/talk.yaml").steps[0].say == "Mine."
    assert len(load_tour("lesson").steps) > 5
    assert mistakes_in(load_tour, "tlak") == ["tlak: no such file, nor a shipped tour (did you mean talk?)"]


@pytest.mark.parametrize("name", list(list_tours()))
@pytest.mark.usefixtures("in_tmp_path")
def test_a_shipped_tour_uses_what_it_measures(name):
    tour = load_tour(name)
    texts = " ".join(f"{page.text} {page.question}" for page in tour.pages)
    numbers = {placeholder.rpartition(".") for placeholder in PLACEHOLDER.findall(texts)}
    assert {number for _, _, number in numbers} <= NUMBERS.keys()
    assert {step.mark for step in tour.steps if step.mark} <= {mark for mark, _, _ in numbers}
    assert list_tours()[name].read_text("utf-8").startswith("# yaml-language-server: $schema=schema.json\n# For ")
