"""Make again what is derived from the program: `python tools/regenerate.py`.

    configs/schema.json    from the models of the configuration
    tours/schema.json      from those of a tour
    docs/reference/        all pages (reference_pages.py)
    docs/tutorials/behaviour.md   the code of examples/first_behaviour
    docs/tours.md          the numbers of a tour
    crowd_demo/registry/terms.py   the terms of docs/model*.md in which numbers stand
    README.md, docs/findings.md   what techniques are worth, with --worth REPORT: that of `crowd-demo ablate --config 20k`
    docs/pictures/         only with --pictures, for it takes minutes; window/ is made by gallery.py
    assets/scenarios/      the pictures of the menu of scenarios, with --pictures too

`--check` writes nothing and fails where something is not up to date. What is made stands between `<!-- name -->` and
`<!-- /name -->`; the code of the tutorial between such marks that name a file, or a file and one of its parts.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from crowd_demo.config.model import Config
from crowd_demo.config.resources import list_configs
from crowd_demo.config.tour import NUMBERS, Tour
from crowd_demo.registry.plugins import installed

sys.path.insert(0, str(Path(__file__).parent))  # also where a test loads this file
from reference_pages import pages, table

ROOT = Path(__file__).resolve().parent.parent
SCHEMA, TUTORIAL = ROOT / "configs/schema.json", ROOT / "docs/tutorials/behaviour.md"
TOURS, TOUR_SCHEMA = ROOT / "docs/tours.md", ROOT / "tours/schema.json"
TERMS = ROOT / "crowd_demo/registry/terms.py"
EXAMPLE = ROOT / "examples/first_behaviour"
CHAPTERS = {  # pages of the model and chapters of them, by section of the configuration
    "crowd": ("model_people", "model_maps", "Birth"), "flock": ("The flock",),
    "hunt": ("Predators and prey", "The flock", "Birth"), "crates": ("The crates", "Birth"), "links": ("Links",),
    "playback": ("Playback",)}
TERMS_HEAD = '''"""For each number of the behaviours and of links the formula of docs/model*.md in which it stands.

Made by tools/regenerate.py from these pages.
"""

# ruff: noqa: E501

TERMS = {
'''
PICTURES = {
    "1m": ["--frames", "300", "--set", "window.hud=off"],
    "crates": ["--frames", "1500", "--set", "window.hud=off"],
    "murmuration": (DIVE := ["--frames", "1350", "--set", "window.hud=off", "--set", "camera.zoom=0.6",
                             "--set", "camera.center=[1500, 1090]"]),
}
ENSEMBLE_PICTURE = ["--config", "1k", "--seeds", "1-8", "--vary", "crowd.radius=20,30,40,50,60",
                    "--vary", "optimizations.avoidance=anticipate,slow_down", "--steps", "1200", "--every", "30",
                    "--measure", "stuck,speed,overlap", "--plot"]
FULL = ["--frames", "3000", "--set", "window.hud=off"]  # until then nobody queues or leaves
BARE = ["--set", "window.hud=off"]
SCENES = {  # others are shown at frame 300
    "100k": ["--frames", "900", *BARE, "--set", "camera.zoom=0.12", "--set", "camera.center=[6500, 6500]"],
    **{name: ["--frames", str(frames), *BARE] for name, frames in {
        "corridor": 3600, "crossing": 2100, "doorway": 1800, "evacuation": 2100, "evacuation-two-doors": 4200, "concert": 3000,
        "crush": 600}.items()},
    "1m": ["--frames", "60", *BARE], "murmuration": DIVE, "queues": FULL, "station": FULL,
    "predators": ["--frames", "300", *BARE, "--set", "camera.zoom=0.6", "--set", "camera.center=[2130, 1130]"],
    "push-20k": ["--frames", "600", *BARE, "--set", "camera.zoom=2.5", "--set", "camera.center=[1650, 1750]"]}
SCENARIOS = ROOT / "assets/scenarios"
ROWS = {  # of README's table of what techniques are worth
    "neighbours": "sorted grid (off: brute force)", "blitter": "compiled blitter (off: pygame)", "simd": "SIMD lanes",
    "stagger.sight": "line of sight every 8th step (approximate)",
    "stagger.avoidance": "avoidance every 3rd step (approximate)", "threads": "two threads",
    "reorder.when": "agents in cell order", "cull": "culling by cells",
    "avoidance": "slowing down (off: pushes, another model)", "overlap_passes": "overlap passes (off: another model)"}
PHRASES = {  # of other pages, with figures of a technique
    "Reordering makes a step of 20,000 people {step} times as fast, and a frame {frame} times": (
        "findings.md", "reorder.when")}
HEAD = "| `20k`, each technique turned off alone | ms per step | a frame takes |\n|---|---|---|"
PART = re.compile(r"<!-- worth.*?<!-- /worth -->", re.DOTALL)
SMALL_PX, COLOURS = (256, 144), 96  # of a scenario's picture: a file of at most 27 kB


def main() -> int:
    parser = argparse.ArgumentParser(description="Make again what is derived from the program.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something is not up to date")
    parser.add_argument("--pictures", action="store_true", help="the pictures of the docs too")
    parser.add_argument("--worth", type=Path, metavar="REPORT", help="the figures of a report, on README and other pages")
    args = parser.parse_args()
    if installed():
        print("regenerate: plugins are installed, and would get into the schema and the pages", file=sys.stderr)
        return 1
    outdated = {path: text for path, text in derived().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in outdated.items():
        print(f"{path.relative_to(ROOT)} {'is not up to date' if args.check else 'written'}")
        if not args.check:
            path.write_text(text, "utf-8")
    if args.pictures and not args.check:
        make_pictures()
    if args.worth and not args.check:
        write_figures(json.loads(args.worth.read_text("utf-8")))
    return 1 if args.check and outdated else 0


def derived() -> dict[Path, str]:
    """The files that are derived, or hold something that is, as they should be."""
    texts = {SCHEMA: schema(Config), TOUR_SCHEMA: schema(Tour), TERMS: terms_file(),
             TUTORIAL: with_code(TUTORIAL.read_text("utf-8")), **pages()}
    numbers = table(("number", ""), ((f"`{{{name}}}`", what) for name, what in NUMBERS.items()))
    return {**texts, TOURS: between(TOURS.read_text("utf-8"), "numbers", numbers)}


def schema(model: type[BaseModel]) -> str:
    return json.dumps(model.model_json_schema(), indent=2) + "\n"


# --- tables that follow from the registry ---------------------------------------------------------------------------

def terms_file() -> str:
    """A dictionary: for each number of the behaviours and of links the first formula of the model's pages that has it."""
    chapters = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("model*.md"))}
    for page in tuple(chapters.values()):
        chapters.update(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    lines = [f'    "{name}.{key}": {json.dumps(term)},' for name, titles in CHAPTERS.items()
             for key in type(getattr(Config.model_validate({}), name)).model_fields
             if (term := term_of(name, key, [chapters[title] for title in (*titles, "Neighbour limits")]))]
    return TERMS_HEAD + "\n".join(lines) + "\n}\n"


def term_of(name: str, key: str, chapters: Sequence[str]) -> str:
    """The first formula with a key, its full name first, of a line of its own or else within the text; empty without any."""
    for whole in (re.compile(rf"\b{name}\.{key}(?!\w)"), re.compile(rf"(?<![\w.]){key}(?!\w)")):
        for chapter in chapters:
            apart = (re.split(r"   +(?![ =])", line) for line in re.findall(r"^    (.*)$", chapter, re.MULTILINE))
            within = re.findall(r"`([^`]+)`", chapter.replace("\n", " "))
            for formula in (*(part for parts in apart for part in parts), *within):
                if whole.search(formula) and re.search(r"[-+*/<>=(]", formula) and not formula.startswith("("):
                    return re.sub(r"  +", " ", formula.strip().rstrip(","))
    return ""


def with_code(page: str) -> str:
    """The page with the present code between its marks."""
    for name in re.findall(r"<!-- ([^/\s]\S*\.(?:py|toml)\S*) -->", page):
        path, _, part = name.partition("#")
        text = (EXAMPLE / path).read_text("utf-8")
        language = {"py": "python"}.get(path.rpartition(".")[2], "toml")
        page = between(page, name, f"```{language}\n{parts(text)[part].strip()}\n```")
    return page


def parts(code: str) -> dict[str, str]:
    """What stands under each heading `# --- name ---`, and under "" what comes before the first."""
    first, *others = re.split(r"^# --- (.+?) -+$", code, flags=re.MULTILINE)
    return {"": first, **dict(zip(others[::2], others[1::2], strict=True))}


def between(text: str, name: str, content: str) -> str:
    """The text with the content between the marks of that name. Raises ValueError when these are missing."""
    before, start, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"\n<!-- /{name} -->")
    if not (start and end):
        raise ValueError(f"there are no marks <!-- {name} --> and <!-- /{name} -->")
    return before + start + content + end + after


# --- what techniques are worth, and pictures -------------------------------------------------------------------------

def write_figures(report: dict[str, Any]) -> None:
    """Write the table of README with its date, commit and machine, and the figures of that run on other pages."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    machine = f"{report['machine']['cpu']}, {report['machine']['cores']} cores"
    about = f"crowd-demo ablate --config 20k; {date.today()}, {commit.stdout.strip()}, {machine}"
    page = ROOT / "README.md"
    page.write_text(PART.sub(lambda _: worth(report, about), page.read_text("utf-8")), "utf-8")
    for phrase, (name, technique) in PHRASES.items():
        page = ROOT / "docs" / name
        row = next(row for row in report["rows"] if row["technique"] == technique)
        page.write_text(with_figures(page.read_text("utf-8"), phrase, row), "utf-8")


def worth(report: dict[str, Any], about: str) -> str:
    """The table, between two comments; `report` is that of `crowd-demo ablate`."""
    measured, rows = {row["technique"]: row for row in report["rows"]}, list[str]()
    for path, text in ROWS.items():
        step, frame = measured[path]["step"], measured[path]["frame"]["other"]
        ms = step["ms"]["value"]
        change = "" if path in ("blitter", "cull") else f"{ms:.2f} -> {ms * step['other']['ratio']['value']:.3g}"
        ratio, costs = frame["ratio"], ": it costs" if frame["verdict"] == "faster" else ""
        known = frame["verdict"] in ("slower", "faster")
        takes = f"{ratio['value']:.2f} times{costs}" if known else "no difference"
        rows.append(f"| {text} | {change} | {takes} ({ratio['low']:.2f}-{ratio['high']:.2f}) |")
    return "\n".join((f"<!-- worth: {about} -->", HEAD, *rows, "<!-- /worth -->"))


def with_figures(text: str, phrase: str, row: dict[str, Any]) -> str:
    """The text of a page with the figures of a technique in the places of the phrase."""
    said = phrase.format(**{name: f"{row[name]['other']['ratio']['value']:.2f}" for name in ("step", "frame")})
    pattern = re.sub(r"\\\{\w+\\\}", r"[\\d.]+", re.escape(phrase)).replace("\\ ", r"\s+")
    return re.sub(pattern, lambda _: said, text)


def make_pictures() -> None:
    import gallery  # late: it imports the whole program, and is found only where this file is run as a script

    pictures = ROOT / "docs/pictures"
    for name, options in PICTURES.items():
        take_picture(name, pictures / f"{name}.png", options)
    SCENARIOS.mkdir(exist_ok=True)
    for name in list_configs():
        take_picture(name, SCENARIOS / f"{name}.png", SCENES.get(name, ["--frames", "300", *BARE]))
        shrink(SCENARIOS / f"{name}.png")
    with tempfile.TemporaryDirectory() as folder:  # 80 runs, and the picture that they give
        program("ensemble", *ENSEMBLE_PICTURE, "--out", folder)
        (pictures / "ensemble.png").write_bytes((Path(folder) / "plot.png").read_bytes())
    gallery.main(())


def take_picture(name: str, target: Path, options: Sequence[str]) -> None:
    program("--config", name, "--headless", *options, "--screenshot", str(target))
    print(target.relative_to(ROOT))


def program(*arguments: str) -> None:
    """Run `crowd-demo`, whatever lies in the working folder."""
    subprocess.run([sys.executable, "-P", "-m", "crowd_demo", *arguments], check=True)


def shrink(path: Path) -> None:
    """Make a picture small, with fewer colours."""
    from PIL import Image

    small = Image.open(path).convert("RGB").resize(SMALL_PX, Image.Resampling.BOX)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
