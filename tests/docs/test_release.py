"""What `tools/release.py` tells from texts; building, installing and starting is its own to do."""

import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = """# Changelog

## 0.3.0 (2027-01-02)

State hashes are those of 0.2.0, except where **hash** stands: `20k`,
`flock/*` (the names of `tests/pins.json`).

- Faster.

## 0.2.0 (2026-11-26)

- First.

## 0.1.0
"""


@pytest.fixture(scope="module")
def release() -> ModuleType:
    return load_script("tools/release.py")


@pytest.mark.quick
def test_a_version_is_the_same_everywhere_and_the_greatest(release: ModuleType) -> None:
    sections = release.sections_of(CHANGELOG)
    assert release.check_version("0.3.0", {"the wheel": "0.3.0"}, sections) == "0.3.0, after 0.2.0"
    with pytest.raises(release.WrongError, match=r"0\.3\.0, but the wheel has 0\.2\.0"):
        release.check_version("0.3.0", {"the wheel": "0.2.0", "the archive": "0.3.0"}, sections)
    with pytest.raises(release.WrongError, match=r"0\.2\.10 is not greater than 0\.3\.0"):
        release.check_version("0.2.10", {}, sections)
    assert release.check_version("0.10.0", {}, sections) == "0.10.0, after 0.3.0"
    with pytest.raises(release.WrongError, match="three numbers"):
        release.check_version("0.4", {}, sections)


@pytest.mark.quick
@pytest.mark.parametrize(("changelog", "wrong"), [
    (CHANGELOG.replace("## 0.3.0 (2027-01-02)", "## Unreleased"), "begins with Unreleased, not with 0.3.0"),
    (CHANGELOG.replace(" (2027-01-02)", ""), "no date"), (CHANGELOG.replace("- Faster.", ""), "no lines"),
    ("# Changelog\n", "begins with nothing")])
def test_a_changelog_without_the_version_its_date_or_a_line_is_caught(release: ModuleType, changelog: str, wrong: str) -> None:
    assert release.check_changelog("0.3.0", release.sections_of(CHANGELOG)) == "0.3.0 of 2027-01-02, 1 changes"
    with pytest.raises(release.WrongError, match=wrong):
        release.check_changelog("0.3.0", release.sections_of(changelog))


@pytest.mark.quick
def test_a_hash_that_moved_unsaid_is_caught_and_one_that_is_said_to_and_did_not(release: ModuleType) -> None:
    section, old = release.sections_of(CHANGELOG)[0], {"1k": "a", "20k": "b", "flock/none": "c"}
    new = {**old, "20k": "d", "flock/none": "e", "new": "f"}
    assert release.check_hashes(section, old, new) == "2 of 3 have moved, and the changelog names them"
    with pytest.raises(release.WrongError, match=r"moved, and not in the changelog.*: 1k$"):
        release.check_hashes(section, old, {**new, "1k": "g"})
    with pytest.raises(release.WrongError, match=r"named in the changelog, but not moved: flock/\*$"):
        release.check_hashes(section, old, {**new, "flock/none": "c"})
    with pytest.raises(release.WrongError, match="20k, flock/none"):
        release.check_hashes(release.Section(section.version, section.date, "- Faster.\n"), old, new)


@pytest.mark.quick
def test_the_changelog_names_what_moved_since_the_last_version_with_hashes(release: ModuleType) -> None:
    """Not only before a release: whoever moves a pin sees it here."""
    released = json.loads(release.RELEASED.read_text("utf-8"))
    sections = release.sections_of(release.CHANGELOG.read_text("utf-8"))
    pins = {name: pin["hash"] for name, pin in json.loads(release.PINS.read_text("utf-8")).items()}
    assert release.check_moved(sections, released, pins)


@pytest.mark.quick
def test_hashes_are_compared_with_those_of_the_last_release(release: ModuleType) -> None:
    sections, old = release.sections_of(CHANGELOG), {"20k": "b", "flock/none": "c"}
    new = {"20k": "d", "flock/none": "e"}
    assert release.check_moved(sections, {}, new) == "no earlier release to compare with"
    assert release.check_moved(sections, {"0.3.0": new, "0.1.0": old}, new).endswith("(since 0.1.0)")
    with pytest.raises(release.WrongError, match="not moved"):
        release.check_moved(sections, {"0.2.0": new, "0.1.0": old}, new)


@pytest.mark.quick
def test_a_link_or_a_picture_of_the_repository_is_caught(release: ModuleType) -> None:
    text = "# Title\n\n[a](https://b.c) `[i](j)`\n\n```\nx[0](y)\n```\n"
    assert release.check_links(text) == "1 in the description, all absolute"
    for link in ("[d](docs/window.md)", "![e](docs/e.png)", "[f](#keys)", "[two\nlines](docs)"):
        with pytest.raises(release.WrongError, match="relative: "):
            release.check_links(text + link)
    with pytest.raises(release.WrongError, match="no text"):
        release.check_links("")


@pytest.mark.quick
def test_the_description_for_an_index_has_no_links_and_no_pictures(release: ModuleType) -> None:
    """By the substitutions that the build makes."""
    text = release.README.read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for each in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    assert release.check_links(text) and "![" not in text and "unreleased" not in text
    assert "- **One hash.**" in text and "in the folder `docs`" in text and "docs/" not in text and " ()" not in text


@pytest.mark.quick
def test_contents_are_those_of_git_but_for_what_stays(release: ModuleType) -> None:
    tracked = ["crowd_demo/a.py", "configs/1k.yaml", "assets/draw.py", "assets/maps/m.map", "docs/a.md", "docs/pictures/a.png",
               ".github/workflows/a.yml", ".gitattributes", ".gitignore", "README.md"]
    wheel = release.in_wheel(tracked, "0.3.0")
    assert {path for path in wheel if "dist-info" not in path} == {
        "crowd_demo/a.py", "crowd_demo/_data/configs/1k.yaml", "crowd_demo/_data/assets/maps/m.map"}
    assert "crowd_demo-0.3.0.dist-info/METADATA" in wheel
    assert release.in_archive(tracked) == {
        "crowd_demo/a.py", "configs/1k.yaml", "assets/draw.py", "assets/maps/m.map", "docs/a.md", ".gitignore", "README.md",
        "PKG-INFO"}


@pytest.mark.quick
def test_a_file_too_few_or_too_many_and_an_archive_too_large_are_caught(release: ModuleType) -> None:
    assert release.check_contents(["a", "b"], {"a", "b"}, 2.4, 2.5) == "2.40 MB (at most 2.5), 2 files"
    with pytest.raises(release.WrongError, match="missing: b"):
        release.check_contents(["a"], {"a", "b"}, 1, 2)
    with pytest.raises(release.WrongError, match=r"should not be there: crowd-0001\.replay"):
        release.check_contents(["a", "crowd-0001.replay"], {"a"}, 1, 2)
    with pytest.raises(release.WrongError, match=r"2\.60 MB, more than 2\.5"):
        release.check_contents(["a"], {"a"}, 2.6, 2.5)


@pytest.mark.quick
def test_commands_of_the_readme_are_found_and_open_no_window(release: ModuleType) -> None:
    text = ("```\ncrowd-demo --config 20k --record run.replay       # why\n```\n\n```python\ncrowd-demo no\n```\n\n"
            "crowd-demo no\n\n```\ncrowd-demo ensemble --seeds 1-8 \\\n    --steps 1200\n```\n")
    found = release.commands_of(text)
    assert found == ["crowd-demo --config 20k --record run.replay", "crowd-demo ensemble --seeds 1-8 --steps 1200"]
    assert [" ".join(release.shortened(line)) for line in found] == [
        "crowd-demo --config 20k --record run.replay --headless --frames 5", "crowd-demo ensemble --seeds 1 --steps 30"]


@pytest.mark.quick
@pytest.mark.parametrize(("command", "short"), [
    ("crowd-demo sweep cell_size 12", "crowd-demo sweep cell_size 12 --steps 30"), ("crowd-demo --help", "crowd-demo --help"),
    ("crowd-demo --headless --frames 600", "crowd-demo --headless --frames 5")])
def test_a_command_without_a_window_ends_soon(release: ModuleType, command: str, short: str) -> None:
    assert " ".join(release.shortened(command)) == short


@pytest.mark.quick
def test_the_readme_begins_with_a_checkout_and_has_the_line_of_an_index(release: ModuleType) -> None:
    first, *others = release.commands_of(release.README.read_text("utf-8"))
    assert first.startswith('pip install ".') and " && crowd-demo " in first
    assert any(line.startswith(release.FROM_INDEX) for line in others)
    assert sum(line.startswith("crowd-demo") for line in others) >= 7


# --- tools/regenerate.py has been run: schema, README and tutorial are what the program says -------------------------

@pytest.fixture(scope="module")
def regenerate() -> ModuleType:
    return load_script("tools/regenerate.py")


@pytest.mark.quick
def test_nothing_derived_is_out_of_date(regenerate: ModuleType) -> None:
    for path, text in regenerate.derived().items():
        assert path.read_text("utf-8") == text, f"{path.name}: run python tools/regenerate.py"


@pytest.mark.quick
def test_the_tutorial_shows_all_of_its_code(regenerate: ModuleType) -> None:
    page = (ROOT / "docs/tutorials/behaviour.md").read_text("utf-8")
    for path in (ROOT / "examples/first_behaviour").rglob("*"):
        if path.suffix in (".py", ".toml"):
            for part in regenerate.parts(path.read_text("utf-8")).values():
                assert part.strip() in page, path


# --- the web site ----------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def website() -> ModuleType:
    return load_script("tools/website.py")


@pytest.mark.quick
def test_links_lead_to_pages_of_the_site_or_become_words(website: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "design").mkdir()
    for name in ("index.md", "README.md", "window.md", "design/proof.md", "picture.png"):
        (tmp_path / name).write_text("", "utf-8")
    text = "[a](docs/window.md#tools) [b](crowd_demo/cli) ![c](docs/picture.png) [d](https://e.f) [g](#h) [i](README.md)"
    found = website.with_links(text, ROOT / "README.md", tmp_path / "README.md", tmp_path, ROOT)
    assert found == "[a](./window.md#tools) b ![c](./picture.png) [d](https://e.f) [g](#h) [i](./index.md)"
    text = "[a](../window.md) [b](../../README.md) [c](../../crowd_demo/app/loop.py)"
    found = website.with_links(text, ROOT / "docs/design/proof.md", tmp_path / "design/proof.md", tmp_path, ROOT)
    assert found == "[a](../window.md) [b](../index.md) c"


@pytest.mark.quick
def test_each_page_is_in_the_navigation(website: ModuleType) -> None:
    docs = ROOT / "docs"
    listed = [page for patterns in website.NAVIGATION.values() for page in website.pages_of(patterns, docs)]
    assert sorted(listed) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))


@pytest.mark.quick
def test_ten_shipped_scenarios_play(website: ModuleType) -> None:
    names = [scene.name for scene in website.SCENES]
    assert len(set(names)) == 10 and all((ROOT / f"configs/{name}.yaml").is_file() for name in names)


@pytest.mark.slow
def test_a_small_site_has_all_pages_and_loads_nothing_from_elsewhere(website: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    website.site_of(tmp_path / "site", [website.Scene("1k", 1, agents=20)])
    site = tmp_path / "site"
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {path.stem for path in site.iterdir()} and (site / "play/1k.html").is_file()
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r"<(script|link|img)[^>]*(src|href)=\"?https?:", text), page
        if page.name == "index.html":
            for target in re.findall(r"(?:href|src)=\"([^\":#]+?)(?:#[^\"]*)?\"", text):
                path = page.parent / target
                assert path.exists() or (path / "index.html").exists(), (page, target)
