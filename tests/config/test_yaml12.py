"""The YAML reader: 1.2 scalars, lines, limits, and never a surprise."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.config.yaml12 import MAX_BYTES, UnreadableError, dump, read, read_file, scalar

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("text", "value"), [
    ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
    ("off", "off"), ("on", "on"), ("yes", "yes"), ("n", "n"),
    ("012", 12), ("-7", -7), ("+7", 7), ("0o14", 12), ("0x1F", 31), ("0b1", "0b1"), ("1_000", "1_000"), ("1:30", "1:30"),
    ("1e-3", 1e-3), ("1e3", 1e3), (".5", 0.5), ("5.", 5.0), ("-1.5E+2", -150.0), (".inf", float("inf")),
    ("-.INF", float("-inf")), (".", "."), ("-", "-"), ("e3", "e3"), ("2026-01-01", "2026-01-01"), ("=", "="),
])
def test_scalars_are_those_of_yaml_1_2(text, value):
    assert (scalar(text), type(scalar(text))) == (value, type(value))


def test_nan_is_a_number():
    assert scalar(".nan") != scalar(".nan")


def test_quoted_scalars_are_text():
    assert read("a: '12'\nb: \"true\"\nc: |\n  5\n").data == {"a": "12", "b": "true", "c": "5\n"}


def lines_of(text):
    return {path: line for path, (_, line) in read(text).locations.items()}


def test_every_key_and_item_knows_its_line():
    assert lines_of("# first\na:\n  b: 1\n  c:\n    - x\n    - y\nd: {e: 2,\n  f: 3}\n") == {
        (): 2, ("a",): 2, ("a", "b"): 3, ("a", "c"): 4, ("a", "c", 0): 5, ("a", "c", 1): 6,
        ("d",): 7, ("d", "e"): 7, ("d", "f"): 8}


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029"])
def test_lines_are_those_of_an_editor_not_of_yaml_1_1(odd):
    text = f"# a{odd}\na: '{odd}{odd}'\r\nb: {{c: 1,\r  d: 2}}\n"
    assert lines_of(text) == {(): 2, ("a",): 2, ("b",): 3, ("b", "c"): 3, ("b", "d"): 4}
    for end, line in (("b: [", 5), ("b: [\n\n", 6), ("b: \x0c", 5), ("b: \x0b\n", 5), ("b: !x", 5), ("a: 1", 5)):
        found = mistake_of(text + end)
        assert found.location.line == line, end


def mistake_of(text):
    try:
        return read(text).mistakes[-1]
    except UnreadableError as error:
        return error.mistakes[-1]


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null", "\ufeff"])
def test_an_empty_document_is_an_empty_mapping(text):
    assert read(text).data == {}


def test_of_equal_keys_the_first_counts_and_the_second_is_a_mistake():
    document = read("a: 1\nb: {c: 1}\na: 2\n\nb: 3\n")
    assert document.data == {"a": 1, "b": {"c": 1}}
    assert [(where.line, path) for where, path, _ in document.mistakes] == [(3, ("a",)), (5, ("b",))]
    assert "line 1" in document.mistakes[0].text


def test_an_alias_may_stand_for_a_single_value():
    assert read("a: &speed 40\nb: *speed\n").data == {"a": 40, "b": 40}


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


def test_mistakes_before_the_one_that_stops_are_kept():
    with pytest.raises(UnreadableError) as caught:
        read("a: 1\na: 2\nb: [\n")
    assert [mistake.location.line for mistake in caught.value.mistakes] == [2, 3]


def test_a_file_too_large_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(100_000_000)  # sparse: nothing is written
    with pytest.raises(UnreadableError, match="larger than 1,000,000 bytes"):
        read_file(path)


def test_a_file_of_the_largest_size_is_read(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_bytes(b"a: 1\n" + b"#" * (MAX_BYTES - 5))
    assert read_file(path).data == {"a": 1}


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


def test_a_word_of_yaml_1_1_needs_no_quotes():
    assert dump({"cull": "off", "a": "012", "b": "0o14", "c": "1e3"}) == "cull: off\na: '012'\nb: '0o14'\nc: '1e3'\n"


@given(st.dictionaries(st.sampled_from("abc"), st.integers() | st.sampled_from(["x", "long text"]) | st.lists(st.integers())))
def test_ordinary_documents_read_as_pyyaml_reads_them(data):
    text = yaml.safe_dump(data)
    assert read(text).data == data
