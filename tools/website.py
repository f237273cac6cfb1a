"""Build a web site that any host serves, or that opens from the disk: `python tools/website.py [--out site]`.

It has the README, all pages, a search, and scenarios that play.

MkDocs makes HTML of the Markdown (`pip install "crowd-demo[site]"`); `crowd-demo export` makes the pages that play, some
minutes of computing. Links to files that a site does not have, such as the source, become plain words.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")  # beside those of docs/; the first one is the start
LINK = re.compile(r"(!?)\[([^\[\]]+)\]\(([^()\s]+)\)")  # of a picture with ! before it


NAVIGATION = {  # groups of pages and patterns; a page has the title of its heading
    "Tutorials": ("tutorials/first-minutes.md", "tutorials/measure.md", "tutorials/evacuation.md", "tutorials/behaviour.md"),
    "How-to guides": ("window.md", "events.md", "trajectories.md", "export.md", "ensemble.md", "tours.md", "lab.md", "api.md",
                      "grid.md", "sprites.md", "troubleshooting.md"),
    "Reference": ("reference/*.md", "model*.md", "glossary.md", "references.md"),
    "Explanation": ("techniques.md", "how_people_walk.md", "measuring.md", "one_hash.md", "findings.md", "validation.md",
                    "design/*.md", "comparison.md", "developing.md", "reliability.md", "CONTRIBUTING.md", "CHANGELOG.md")}
# Browsers let no page from the disk read a file, but scripts: the index is one, which the page of results loads.
LOAD_INDEX = """if (document.getElementById("mkdocs-search-results"))
  document.head.append(Object.assign(document.createElement("script"), {src: base_url + "/search/index.js"}));
"""
SEARCH = """
(function () {
  const found = lunr(function () {
    this.field("title"); this.field("text"); this.ref("location");
    for (const each of data.docs) this.add(each);
  });
  const pages = new Map(data.docs.map(each => [each.location, each]));
  const input = document.getElementById("mkdocs-search-query"), list = document.getElementById("mkdocs-search-results");
  const show = () => {
    const results = input.value.length > 2 ? found.search(input.value).map(each => pages.get(each.ref)) : [];
    list.replaceChildren(...results.map(page => {
      const item = document.createElement("article"), title = document.createElement("h3");
      title.append(Object.assign(document.createElement("a"), {href: base_url + "/" + page.location, innerHTML: page.title}));
      item.append(title, Object.assign(document.createElement("p"), {innerHTML: page.text.slice(0, 200)}));
      return item;
    }));
    if (!results.length) list.textContent = "No results";
  };
  input.value = new URLSearchParams(location.search).get("q") || "";
  input.addEventListener("input", show);
  show();
})();
"""


class Scene(NamedTuple):
    """A scenario that plays in the browser; with the part of it that is shown, in seconds."""

    name: str
    seconds: float
    begin: float = 0
    agents: int | None = None


SCENES = (
    Scene("20k", 20), Scene("1k", 30), Scene("station", 40), Scene("evacuation", 80, begin=15), Scene("doorway", 60),
    Scene("corridor", 40), Scene("crossing", 40), Scene("murmuration", 20, begin=10), Scene("predators", 20),
    Scene("crates", 20, agents=20_000))


def site_of(out: Path, scenes: Sequence[Scene] = SCENES, root: Path = ROOT) -> None:
    """Write the site into a folder; what is in it is replaced."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "docs"
        shutil.copytree(root / "docs", source, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        for name in PAGES:
            shutil.copy(root / name, source / name)
        play = source / "play"
        play.mkdir()
        # the page from which the others are opened: a picture and a sentence for each
        lines = ["# Crowds that play here", "",
                 "Each opens in the browser: play, scrub, zoom, colours. A page is one file that",
                 "`crowd-demo export` has made, and works from the disk as well.", ""]
        for name, seconds, begin, count in scenes:
            agents = () if count is None else ("--agents", str(count))
            subprocess.run([sys.executable, "-m", "crowd_demo", "export", name, str(play / f"{name}.html"), "--seconds",
                            f"{begin + seconds:g}", "--from", f"{begin:g}", *agents], check=True, cwd=ROOT)
            shutil.copy(root / f"assets/scenarios/{name}.png", play)
            about = (root / f"configs/{name}.yaml").read_text("utf-8").splitlines()[1].removeprefix("# ")
            lines += [f"## {name}", "", f"<a href=\"play/{name}.html\"><img alt=\"{name}: play it\""
                      f" src=\"play/{name}.png\"></a>", "", f"{about}", ""]
        (source / "play.md").write_text("\n".join(lines), "utf-8")
        moved = {source / name: root / name for name in PAGES}
        for page in source.rglob("*.md"):
            origin = moved.get(page, root / "docs" / page.relative_to(source))
            page.write_text(with_links(page.read_text("utf-8"), origin, page, source, root), "utf-8")
        (source / PAGES[0]).rename(source / "index.md")
        build(source, out)


def with_links(text: str, origin: Path, page: Path, source: Path, root: Path) -> str:
    """The text of a page whose links lead to files of the site; `origin` is where its links are meant from."""
    def rewritten(found: re.Match[str]) -> str:
        kind, words, target = found.groups()
        path, mark, anchor = target.partition("#")
        if not path or ":" in path:
            return found[0]
        aim = (origin.parent / path).resolve()
        here = source / aim.name if aim.parent == root and aim.name in PAGES else source / aim.relative_to(root / "docs") if (
            aim.is_relative_to(root / "docs")) else None
        if here is None or not here.is_file():
            return words
        up = "/".join([".."] * len(page.parent.relative_to(source).parts)) or "."
        name = "index.md" if here == source / PAGES[0] else here.relative_to(source).as_posix()
        return f"{kind}[{words}]({up}/{name}{mark}{anchor})"
    return LINK.sub(rewritten, text)


def build(source: Path, out: Path) -> None:
    """Make HTML of a folder of Markdown; a link that leads nowhere ends it."""
    settings: dict[str, Any] = {
        "site_name": "crowd-demo", "docs_dir": str(source), "site_dir": str(out.resolve()),
        "theme": {"name": "readthedocs", "highlightjs": False}, "plugins": ["search"], "strict": True,
        "use_directory_urls": False,  # links work from the disk, too
        "nav": ["index.md", "play.md", *({group: pages_of(patterns, source)} for group, patterns in NAVIGATION.items())]}
    out.mkdir(parents=True, exist_ok=True)
    file = source.parent / "mkdocs.yml"
    file.write_text(yaml.safe_dump(settings), "utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(file)], check=True)
    # The search of MkDocs needs a web server: one script with the index in it takes its place.
    folder = out / "search"
    index = (folder / "search_index.json").read_text("utf-8")
    (folder / "index.js").write_text(f"{(folder / 'lunr.js').read_text('utf-8')}\nconst data = {index};{SEARCH}", "utf-8")
    (folder / "main.js").write_text(LOAD_INDEX, "utf-8")
    for name in ("worker.js", "lunr.js", "search_index.json"):
        (folder / name).unlink()


def pages_of(patterns: Sequence[str], source: Path) -> list[str]:
    """The pages of a group; those of a pattern in the order of their names."""
    return [path.relative_to(source).as_posix() for pattern in patterns for path in sorted(source.glob(pattern))]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the web site.")
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="the folder (default: site)")
    options = parser.parse_args(arguments)
    site_of(options.out)
    print(f"{options.out}: {len(list(options.out.rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
