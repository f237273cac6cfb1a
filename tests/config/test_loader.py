"""From a file to a configuration, or to one line for each of its mistakes."""

import os
import subprocess
import sys

import pytest
import yaml
from damages import make_fifo, mistakes_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowd_demo import Config, ConfigError, load_config
from crowd_demo.config.keys import keys_of
from crowd_demo.config.memory import quiet_libraries
from crowd_demo.config.yaml12 import UnreadableError, dump, read, read_file, scalar
from crowd_demo.registry.built_in import BEHAVIOURS

pytestmark = pytest.mark.quick


def test_what_the_file_says_is_what_one_gets(write):
    config = load_config(write("agents: 7\ncrowd: {radius: 12}\noptimizations:\n  cull: off\n  stagger: {sight: 2}\n"))
    assert (config.agents, config.crowd.radius, config.optimizations.cull, config.optimizations.stagger.sight) == \
        (7, 12, "off", 2)
    assert config.crowd.body == Config.model_validate({}).crowd.body


@pytest.mark.parametrize(("text", "line"), [
    ("agnts: 5", "bad.yaml:1: agnts: unknown key (did you mean agents?)"),
    ("optimizations:\n  neighbors: none", "bad.yaml:2: optimizations.neighbors: unknown key (did you mean neighbours?)"),
    ("stagger: {sight: 3}", "bad.yaml:1: stagger: unknown key (did you mean optimizations.stagger?)"),
    ("xyzzy: 5", "bad.yaml:1: xyzzy: unknown key"),
    ("agents: abc", "bad.yaml:1: agents: must be a whole number from 0 to 32000000, not 'abc'"),
    ("agents: '5'", "bad.yaml:1: agents: must be a whole number from 0 to 32000000, not '5'"),
    ("agents: 1e3.5", "bad.yaml:1: agents: must be a whole number from 0 to 32000000, not '1e3.5'"),
    ("agents:", "bad.yaml:1: agents: must be a whole number from 0 to 32000000, not null"),
    ("agents: 32000001", "bad.yaml:1: agents: must be a whole number from 0 to 32000000, not 32000001"),
    ("world: {width: 0}", "bad.yaml:1: world.width: must be a number from 0.1 to 65536 or text such as \"0.46 m\", not 0"),
    ("world: 5", "bad.yaml:1: world: must be a section (lines of key: value), not 5"),
    ("behaviour: {a: 1}", f"bad.yaml:1: behaviour: must be one of {', '.join(BEHAVIOURS)}, not a section"),
    ("behaviour: crwd", f"bad.yaml:1: behaviour: must be one of {', '.join(BEHAVIOURS)}, not 'crwd' (did you mean crowd?)"),
    ("optimizations: {simd: on}",
     "bad.yaml:1: optimizations.simd: must be true or false, not 'on' (did you mean true?)"),
    ("optimizations: {cull: false}", "bad.yaml:1: optimizations.cull: must be one of off, agents, grid, not false"),
    ("camera:\n  center: [1]",
     "bad.yaml:2: camera.center: must be [a number from -131072 to 131072, a number from -131072 to 131072] or null, "
     "not [1]"),
    ("events:\n" + "- {tick: 1}\n" * 101, "bad.yaml:1: events: must be a list of sections, at most 100, not a list of 101"),
    ("events: [{hand: ''}]", "bad.yaml:1: events.0.hand: must be printable text of 1 to 60 characters or null, not ''"),
    ("measure: {areas: {a: [1, 2]}}",
     "bad.yaml:1: measure.areas.a: must be [a number from -131072 to 131072, ...], 4 values, not [1, 2]"),
    ("crowd:\n  speed_min: 500", "bad.yaml:2: crowd.speed_min: speed_min (500) must not be above speed_max (58.3)"),
    ("links:\n  pattern: cloth\n  stiffness: 3000", "bad.yaml:3: links.stiffness: a cloth of stiffness 3000, damping 4 and"
     " drag 0.5 blows up unless time.step_hz is at least 82 (it is 60)"),
    ("links: {pattern: cloth, stiffness: 3000}\ntime: {step_hz: 20}", "bad.yaml:1: links.stiffness: a cloth of stiffness 3000,"
     " damping 4 and drag 0.5 blows up unless time.step_hz is at least 82 (it is 20)"),
    ("flock:\n  speed_max: 5", "bad.yaml:2: flock.speed_max: speed_min (60) must not be above speed_max (5)"),
    ("seed: 1\nagents: 5\nseed: 2", "bad.yaml:3: seed: given twice, first on line 1"),
    ("keys: {pause: scape}", "bad.yaml:1: keys.pause: must be a key, a list of keys, or null for none, not 'scape' "
                             "(did you mean escape?)"),
    ("keys: {restart: f}", "bad.yaml:1: keys.restart: key 'f' is bound to both restart and freeze"),
    ("keys: {stagger.sigth: f}", "bad.yaml:1: keys.stagger.sigth: unknown key (did you mean stagger.sight?)"),
    ("agents: 5\nworld: {width: 3\nseed: 1", "bad.yaml:3: file: not YAML: "),
    ("agents: 5\nworld: {width: 3\n", "bad.yaml:2: file: not YAML: "),
    ("just text", "bad.yaml:1: file: must be lines of key: value"),
    ("- 1", "bad.yaml:1: file: must be lines of key: value"),
    ("a: &a [1]\nb: *a", "bad.yaml:2: b: *a stands for no single value given before"),
    ('"a\\nb": 1', "bad.yaml:1: a\\nb: unknown key"),
])
def test_a_mistake_is_one_line_with_its_place(write, text, line):
    (said,) = mistakes_in(load_config, write(text))
    assert said == line or (line.endswith(": ") and said.startswith(line))


def test_all_mistakes_of_a_file_come_at_once_in_its_order(write):
    lines = mistakes_in(load_config, write("""
agents: abc
sed: 3
agents: 4
window: 4
optimizations:
  simd: on
  threads: 65
  stagger:
    avoidance: 17
crowd: {speed_min: 500, radius: -1}
keys: {restart: f, pause: [q, scape], step: 3}
map: nowhere
"""))
    assert [line.split(": ")[:2] for line in lines] == [
        ["bad.yaml:2", "agents"], ["bad.yaml:3", "sed"], ["bad.yaml:4", "agents"], ["bad.yaml:5", "window"],
        ["bad.yaml:7", "optimizations.simd"], ["bad.yaml:8", "optimizations.threads"],
        ["bad.yaml:10", "optimizations.stagger.avoidance"],
        ["bad.yaml:11", "crowd.radius"], ["bad.yaml:11", "crowd.speed_min"],
        ["bad.yaml:12", "keys.pause"], ["bad.yaml:12", "keys.restart"], ["bad.yaml:12", "keys.step"],
        ["bad.yaml:13", "map"]]


@pytest.mark.parametrize("name", ["nowhere", "nowhere.yaml", "no/where.yaml", "/no/where", "", ".", "a\0b", "x" * 5000])
def test_a_missing_file_is_one_line(write, name):
    (line,) = mistakes_in(load_config, name)
    assert "no such file, nor a shipped configuration" in line


def test_a_name_like_no_other_is_answered_with_all_names_the_users_own_too(write, tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "mine.yaml").write_text("agents: 5\n", "utf-8")
    (line,) = mistakes_in(load_config, "zzz")
    assert line.startswith("zzz: no such file, nor a shipped configuration (there are: 1k, 5k, ")
    assert line.endswith("station, mine)")
    assert mistakes_in(load_config, "mien")[0].endswith("(did you mean mine?)")
    assert mistakes_in(load_config, "20kk.yaml") == [
        "20kk.yaml: no such file, nor a shipped configuration (did you mean 20k?)"]


def test_of_many_mistakes_the_first_are_listed_and_the_others_counted(write):
    lines = mistakes_in(load_config, write("agents: 1\n" * 1001))
    assert lines == [*(f"bad.yaml:{line}: agents: given twice, first on line 1" for line in range(2, 22)),
                     "bad.yaml: and 980 more"]
    assert len(mistakes_in(load_config, write("agents: 1\n" * 21))) == 20
    assert mistakes_in(load_config, "1k", ["agents"] * 1020)[-1] == "overrides: and 1,000 more"


def test_what_is_no_regular_file_is_refused_without_waiting(write, tmp_path):
    make_fifo(tmp_path / "pipe.yaml")
    (tmp_path / "device.yaml").symlink_to("/dev/zero")
    make_fifo(tmp_path / "pipe.map")
    for name in ("pipe", "device"):
        assert mistakes_in(load_config, name) == [f"{name}.yaml:1: file: not a regular file"]
    (line,) = mistakes_in(load_config, write("map: pipe.map\n"))
    assert line == f"bad.yaml:1: map: {tmp_path / 'pipe.map'}: cannot be read (not a regular file)"


OVERRIDES = ("agents=9", "crowd.max_speed_factor=1e-1", "optimizations.cull=off", "camera.center=[3, 4]", "window.title='12'",
             "keys.stagger.sight=0", "keys.overlays=", "keys.step=.")
NESTED = {"agents": 9, "crowd": {"max_speed_factor": 0.1}, "optimizations.cull": "off", "camera": {"center": [3, 4]},
          "window.title": "12", "keys": {"stagger.sight": 0, "overlays": None}, "keys.step": "."}


@pytest.mark.parametrize("overrides", [OVERRIDES, list(OVERRIDES), NESTED])
def test_overrides_replace_what_the_file_says(write, overrides):
    config = load_config(write("agents: 7\nseed: 5\ncrowd: {radius: 12}\n"), overrides)
    assert (config.agents, config.seed, config.crowd.max_speed_factor, config.crowd.radius) == (9, 5, 0.1, 12)
    assert (config.optimizations.cull, config.camera.center, config.window.title) == ("off", (3, 4), "12")
    assert keys_of(config.keys, "step") == (".",) and keys_of(config.keys, "stagger.sight") == ("0",)


def test_an_override_may_mend_a_mistake_of_the_file(write):
    assert load_config(write("agents: abc\n"), ["agents=5"]).agents == 5


@pytest.mark.parametrize(("overrides", "line"), [
    (["seed=1", "agents=x"], "overrides:2: agents: must be a whole number from 0 to 32000000, not 'x'"),
    (["agnts=5"], "overrides:1: agnts: unknown key (did you mean agents?)"),
    (["agents.x=5"], "overrides:1: agents: must be a whole number from 0 to 32000000, not a section"),
    (["world=5"], "overrides:1: world: must be a section (lines of key: value), not 5"),
    (["agents"], "overrides:1: agents: must be key.path=value, not 'agents'"),
    (["=5"], "overrides:1: ?: must be key.path=value, not '=5'"),
    ([".=1"], "overrides:1: ?.?: must be key.path=value, not '.=1'"),
    (["world..width=1"], "overrides:1: world.?.width: must be key.path=value, not 'world..width=1'"),
    (["keys.=f"], "overrides:1: keys.?: must be key.path=value, not 'keys.=f'"),
    ({"": 1}, "overrides: ?: unknown key"),
    (["camera.center=[1}]"], "overrides:1: camera.center: not YAML: "),
    ({"crowd": {"max_speed_factor": 11}}, "overrides: crowd.max_speed_factor: must be a number from 0 to 10, not 11"),
])
def test_a_mistake_in_an_override_names_the_override(write, overrides, line):
    (said,) = mistakes_in(load_config, write("agents: 7\n"), overrides)
    assert said.startswith(line)


OCTILE = "type octile\nheight 2\nwidth 3\nmap\n@.@\n...\n"


def test_a_map_is_found_beside_its_configuration_and_from_anywhere_after(write, tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "yard.map").write_text(OCTILE, "utf-8")
    (tmp_path / "sub" / "yard.yaml").write_text("map: yard.map\n", "utf-8")
    assert load_config("sub/yard.yaml").map == str(tmp_path / "sub" / "yard.map")
    monkeypatch.chdir(tmp_path / "sub")
    assert load_config(tmp_path / "sub" / "yard.yaml").map == str(tmp_path / "sub" / "yard.map")


@pytest.mark.parametrize("name", ["bad.map", "bad.png", "folder.map", "bad.yaml", "nowhere", "a\0.map"])
def test_a_map_that_is_not_one_is_one_line(write, tmp_path, name):
    (tmp_path / "bad.map").write_text("type octile\nheight 2\nwidth 3\nmap\n@.@\n", "utf-8")
    (tmp_path / "bad.png").write_bytes(b"\x89PNG")
    (tmp_path / "folder.map").mkdir()
    (line,) = mistakes_in(load_config, write("agents: 5\n"), {"map": name})
    assert line.startswith("overrides: map: ")


KEYS = ["agents", "seed", "map", "crowd", "optimizations", "stagger", "keys", "pause", "camera", "center", "window", "a"]
WORDS = ["5", "-1", "1e400", ".nan", "off", "crowd", "[1, 2]", "{a: 1}", "*x", "&x 3", "'q'", "!t 1", "~", "\"\\ud800\""]
TEXTS = st.lists(st.tuples(st.sampled_from(["", "  ", "    "]), st.sampled_from(KEYS),
                           st.sampled_from([*WORDS, ""]))).map(lambda rows: "\n".join(f"{a}{b}: {c}" for a, b, c in rows))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS | st.text(st.characters(codec="utf-8")))
def test_any_file_is_a_configuration_or_lines_of_mistakes(write, text):
    name = write(text)
    try:
        load_config(name)
    except ConfigError as error:
        assert error.lines
        assert all(line.startswith("bad.yaml:") and line.isprintable() for line in error.lines)


@given(st.text() | st.tuples(st.sampled_from(KEYS), st.sampled_from(WORDS)).map("=".join))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_override_is_taken_or_refused(write, text):
    name = write("")
    try:
        load_config(name, [text])
    except ConfigError as error:
        assert len(error.lines) == 1


# --- what libraries print is hidden, and only while it should be -----------------------------------------------------

def test_what_is_written_inside_is_hidden_and_outside_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(2, b"before ")
    with pytest.raises(ZeroDivisionError), quiet_libraries():
        os.write(2, b"inside ")
        raise ZeroDivisionError
    os.write(2, b"after")
    assert capfd.readouterr().err == "before after"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes standard error")
def test_a_closed_standard_error_does_no_harm() -> None:
    code = "from crowd_demo.config.memory import quiet_libraries\nwith quiet_libraries(): pass\nprint('fine')"
    done = subprocess.run(["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"fine\n"


# --- the YAML reader: 1.2 scalars, lines, limits, and never a surprise -----------------------------------------------

@pytest.mark.parametrize(("text", "value"), [
    ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
    ("off", "off"), ("on", "on"), ("yes", "yes"), ("n", "n"),
    ("012", 12), ("-7", -7), ("+7", 7), ("0o14", 12), ("0x1F", 31), ("0b1", "0b1"), ("1_000", "1_000"), ("1:30", "1:30"),
    ("1e-3", 1e-3), ("1e3", 1e3), (".5", 0.5), ("5.", 5.0), ("-1.5E+2", -150.0), (".inf", float("inf")),
    ("-.INF", float("-inf")), (".", "."), ("-", "-"), ("e3", "e3"), ("2026-01-01", "2026-01-01"), ("=", "="),
])
def test_scalars_are_those_of_yaml_1_2(text, value):
    assert (scalar(text), type(scalar(text))) == (value, type(value))


def mistakes_of(text):
    return {path: line for path, (_, line) in read(text).locations.items()}


def test_every_key_and_item_knows_its_line():
    assert mistakes_of("# first\na:\n  b: 1\n  c:\n    - x\n    - y\nd: {e: 2,\n  f: 3}\n") == {
        (): 2, ("a",): 2, ("a", "b"): 3, ("a", "c"): 4, ("a", "c", 0): 5, ("a", "c", 1): 6,
        ("d",): 7, ("d", "e"): 7, ("d", "f"): 8}


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029"])
def test_lines_are_those_of_an_editor_not_of_yaml_1_1(odd):
    text = f"# a{odd}\na: '{odd}{odd}'\r\nb: {{c: 1,\r  d: 2}}\n"
    assert mistakes_of(text) == {(): 2, ("a",): 2, ("b",): 3, ("b", "c"): 3, ("b", "d"): 4}
    for end, line in (("b: [", 5), ("b: [\n\n", 6), ("b: \x0c", 5), ("b: \x0b\n", 5), ("b: !x", 5), ("a: 1", 5)):
        assert mistake_of(text + end).location.line == line, end


def mistake_of(text):
    try:
        return read(text).mistakes[-1]
    except UnreadableError as error:
        return error.mistakes[-1]


@pytest.mark.parametrize(("text", "data"), [
    ("", {}), ("# only a comment\n", {}), ("---\n", {}), ("null", {}), ("\ufeff", {}),
    ("a: &speed 40\nb: *speed\n", {"a": 40, "b": 40}),
    ("a: '12'\nb: \"true\"\nc: |\n  5\n", {"a": "12", "b": "true", "c": "5\n"})])
def test_an_empty_document_is_an_empty_mapping_an_alias_a_single_value_and_a_quoted_one_text(text, data):
    assert read(text).data == data


def test_of_equal_keys_the_first_counts_and_the_second_is_a_mistake():
    document = read("a: 1\nb: {c: 1}\na: 2\n\nb: 3\n")
    assert document.data == {"a": 1, "b": {"c": 1}}
    assert [(where.line, path) for where, path, _ in document.mistakes] == [(3, ("a",)), (5, ("b",))]
    assert "line 1" in document.mistakes[0].text


def bomb():
    return "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))


@pytest.mark.parametrize(("text", "line", "said"), [
    ("a: 1\nb: [1, 2\n", 2, "not YAML"),
    ("a: 1\n b: 2\n", 2, "not YAML"),
    ("a: 'open\n", 1, "not YAML"),
    ("a: 1\n\tb: 2\n", 2, "not YAML"),
    ("a: 1\nb: \x07\n", 2, "control character"),
    ("a: \"\\UFFFFFFFF\"", 1, "impossible"),
    ("%YAML 1." + "9" * 5000 + "\n---\n1", 1, "impossible"),
    ("a: 1\n---\nb: 2\n", 2, "one document"),
    ("a: !!python/object/apply:os.system [ls]\n", 1, "tags"),
    ("a: !x 3\n", 1, "tags"),
    ("? [1, 2]\n: 3\n", 1, "plain text"),
    ("a: 1\nb: *nothing\n", 2, "*nothing"),
    ("a: &a [*a]\n", 1, "*a"),
    (bomb(), 2, "*a"),
    ("[" * 1000, 1, "nested"),
    ("- " * 1000, 1, "nested"),
    ("- 1\n" * 100_000, 2000, "values"),
], ids=range(17))
def test_what_cannot_be_read_says_where_and_why(text, line, said):
    with pytest.raises(UnreadableError) as caught:
        read(text)
    assert (caught.value.mistakes[-1].location.line, said in caught.value.mistakes[-1].text) == (line, True)


def test_a_file_too_large_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(100_000_000)  # sparse: nothing is written
    with pytest.raises(UnreadableError, match="larger than 1,000,000 bytes"):
        read_file(path)


@pytest.mark.parametrize(("raw", "line"), [(b"a: 1\nb: \xff\n", 2), ("a: 1".encode("utf-16"), 1), (b"\x00\x00", 1)])
def test_a_file_that_is_no_text_says_so(tmp_path, raw, line):
    path = tmp_path / "raw.yaml"
    path.write_bytes(raw)
    with pytest.raises(UnreadableError) as caught:
        read_file(path)
    assert caught.value.mistakes[-1].location.line == line


def test_a_byte_order_mark_and_crlf_are_fine(tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: off\r\n")
    assert read_file(path).data == {"a": 1, "b": "off"}


@given(st.text() | st.text(st.sampled_from("abz01:-?,[]{}#&*!|>'\"%@` \n\t~.=<\\")))
def test_any_text_is_read_or_refused(text):
    try:
        read(text)
    except UnreadableError as error:
        assert error.mistakes


PLAIN = st.none() | st.booleans() | st.integers(-10**20, 10**20) | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@given(st.dictionaries(st.text(), TREES, max_size=4))
def test_what_is_written_reads_the_same(data):
    assert read(dump(data)).data == data


@given(st.text())
def test_text_that_looks_like_something_else_is_quoted(text):
    assert read(dump([text])).data == [text]


@given(st.dictionaries(st.sampled_from("abc"), st.integers() | st.sampled_from(["x", "long text"]) | st.lists(st.integers())))
def test_ordinary_documents_read_as_pyyaml_reads_them(data):
    assert read(yaml.safe_dump(data)).data == data
