"""Build a web site that any host serves: `python tools/website.py [--out site]`: README, all pages, scenarios that play.

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


NAVIGATION = {
    "crowd-demo": "index.md", "Play": "play.md", "Techniques explained": "techniques.md",
    "Techniques": "reference/techniques.md", "Keys": "reference/keys.md",
    "Scenarios": "reference/scenarios.md", "Configuration": "reference/configuration.md",
    "Command line": "reference/command-line.md", "Gallery": "gallery.md", "The window": "window.md",
    "Tours": "tours.md", "Events": "events.md", "Export": "export.md", "Trajectories": "trajectories.md",
    "Lab": "lab.md", "Model": "model.md", "Findings": "findings.md", "Validation": "validation.md", "Tutorial": "tutorial.md",
    "API": "api.md", "Neighbour grid": "grid.md", "Sprites": "sprites.md", "Ensembles": "ensemble.md",
    "Glossary": "glossary.md", "Architecture": "architecture.md", "First day": "first_day.md",
    "Platforms": "platforms.md", "Troubleshooting": "troubleshooting.md", "Reliability": "reliability.md",
    "Changes": "CHANGELOG.md"}


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
        for scene in scenes:
            export(scene, play / f"{scene.name}.html")
            shutil.copy(root / f"assets/scenarios/{scene.name}.png", play)
        (source / "play.md").write_text(gallery(scenes, root), "utf-8")
        moved = {source / name: root / name for name in PAGES}
        for page in source.rglob("*.md"):
            origin = moved.get(page, root / "docs" / page.relative_to(source))
            page.write_text(with_links(page.read_text("utf-8"), origin, page, source, root), "utf-8")
        (source / PAGES[0]).rename(source / "index.md")
        build(source, out)


def export(scene: Scene, path: Path) -> None:
    """Make a page that plays."""
    agents = () if scene.agents is None else ("--agents", str(scene.agents))
    end = scene.begin + scene.seconds
    subprocess.run([sys.executable, "-m", "crowd_demo", "export", scene.name, str(path), "--seconds", f"{end:g}",
                    "--from", f"{scene.begin:g}", *agents], check=True, cwd=ROOT)


def gallery(scenes: Sequence[Scene], root: Path) -> str:
    """The page from which the others are opened: a picture and a sentence for each."""
    lines = ["# Crowds that play here", "", "Each opens in the browser: play, scrub, zoom, colours. A page is one file that",
             "`crowd-demo export` has made, and works from the disk as well.", ""]
    for scene in scenes:
        about = (root / f"configs/{scene.name}.yaml").read_text("utf-8").splitlines()[1].removeprefix("# ")
        lines += [f"## {scene.name}", "", f"<a href=\"../play/{scene.name}.html\"><img alt=\"{scene.name}: play it\""
                  f" src=\"../play/{scene.name}.png\"></a>", "", f"{about}", ""]
    return "\n".join(lines)


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
        "nav": [{title: page} for title, page in NAVIGATION.items()]}
    out.mkdir(parents=True, exist_ok=True)
    file = source.parent / "mkdocs.yml"
    file.write_text(yaml.safe_dump(settings), "utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(file)], check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the web site.")
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="the folder (default: site)")
    options = parser.parse_args(arguments)
    site_of(options.out)
    print(f"{options.out}: {len(list(options.out.rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
