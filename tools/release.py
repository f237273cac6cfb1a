"""Hold a release against what it promises: `python tools/release.py --check`, some minutes, a line for each promise.

Without `--check` what was built is kept in `dist/`, and this version's state hashes in `tests/released.json`, with which the
next one is compared. Uploading is left to a person: `twine upload dist/*`. The exit code is 1 if something does not hold.
"""

import argparse
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from email import message_from_bytes
from email.message import Message
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VERSION, CHANGELOG, README = ROOT / "crowd_demo/version.py", ROOT / "CHANGELOG.md", ROOT / "README.md"
PINS, RELEASED = ROOT / "tests/pins.json", ROOT / "tests/released.json"
WHEEL_MB, ARCHIVE_MB = 2.5, 6
# What is in them: every file that git has, but for these
NOT_IN_ARCHIVE = "docs/pictures/*", ".github/*", ".gitattributes"
NOT_IN_WHEEL = "assets/*.py"
DATA = "crowd_demo/_data/"
WHEEL_FOLDERS = {"crowd_demo/": "", "configs/": DATA, "tours/": DATA, "assets/": DATA}
DIST_INFO = "METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"

FROM_INDEX = 'pip install "crowd-demo'  # how a command of the README begins
SHORTER = {"--frames": "5", "--steps": "30", "--seeds": "1"}  # values of options here
WITHOUT_WINDOW = "--headless", "--frames", SHORTER["--frames"]
SAVE = """from pathlib import Path
from crowd_demo import Simulation, load_config
from crowd_demo.host.recording.format import write_save
write_save(Path("crowd-0001.crowd"), Simulation(load_config("1k")).snapshot())"""  # for the README's `--load`
LINK = re.compile(r"!?\[[^\[\]]*\]\(([^()\s]+)\)")
MAX_S = 1800  # of one command, on a busy machine


class WrongError(Exception):
    """What does not hold, in one line."""


# --- what can be told from texts -------------------------------------------------------------------------------------

class Section(NamedTuple):
    """Of the changelog: `## VERSION (DATE)` and what follows."""

    version: str
    date: str
    text: str


def sections_of(changelog: str) -> list[Section]:
    """The newest first; one without a date has an empty one."""
    _, *parts = re.split(r"^## (.+)\n", changelog, flags=re.MULTILINE)
    heads = [re.fullmatch(r"(\S+?)(?: \((\d{4}-\d\d-\d\d)\))?", head.strip()) for head in parts[::2]]
    return [Section(head[1], head[2] or "", text) for head, text in zip(heads, parts[1::2], strict=True) if head]


def numbers_of(version: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise WrongError(f"{version} is not three numbers")
    return tuple(map(int, version.split(".")))


def check_version(version: str, elsewhere: Mapping[str, str], sections: Sequence[Section]) -> str:
    """One version everywhere, greater than all that are named below that of the changelog's first section."""
    if others := [f"{place} has {other}" for place, other in elsewhere.items() if other != version]:
        raise WrongError(f"{version}, but {', '.join(others)}")
    former = [section.version for section in sections if section.version != version]
    if late := [name for name in former if name != "Unreleased" and numbers_of(name) >= numbers_of(version)]:
        raise WrongError(f"{version} is not greater than {late[0]} of the changelog")
    return f"{version}, after {former[0] if former else 'nothing'}"


def check_changelog(version: str, sections: Sequence[Section]) -> str:
    """The version has the first section, with a date and with lines."""
    first = sections[0] if sections else Section("nothing", "", "")
    if first.version != version:
        raise WrongError(f"it begins with {first.version}, not with {version}")
    lines = sum(line.startswith("- ") for line in first.text.splitlines())
    if not first.date or not lines:
        raise WrongError(f"{version} has no {'lines' if first.date else 'date'}")
    return f"{version} of {first.date}, {lines} changes"


def check_hashes(section: Section, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The paragraph "State hashes are those of ..." names all that have moved, by patterns, and nothing else."""
    moved = [name for name, value in new.items() if old.get(name, value) != value]
    (paragraph,) = re.findall(r"^State hashes (?:.+\n)+", section.text, re.MULTILINE) or [""]
    patterns = [name for name in re.findall(r"`([^`]+)`", paragraph) if not name.endswith("pins.json")]
    if silent := [name for name in moved if not any(fnmatch(name, pattern) for pattern in patterns)]:
        raise WrongError(f"moved, and not in the changelog's paragraph of state hashes: {some(silent)}")
    if idle := [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in moved)]:
        raise WrongError(f"named in the changelog, but not moved: {some(idle)}")
    return f"{len(moved)} of {len(old)} have moved, and the changelog names them"


def check_moved(sections: Sequence[Section], released: Mapping[str, Mapping[str, str]], new: Mapping[str, str]) -> str:
    """The same against the last version that was released."""
    last = next((section.version for section in sections[1:] if section.version in released), "")
    return f"{check_hashes(sections[0], released[last], new)} (since {last})" if last else "no earlier release to compare with"


def check_links(description: str) -> str:
    """No link or picture of a text on an index leads to a file of the repository."""
    links = LINK.findall(re.sub(r"`[^`\n]+`|^```.*?^```", "", description, flags=re.MULTILINE | re.DOTALL))
    if relative := [link for link in links if not re.match(r"https?://", link)]:
        raise WrongError(f"relative: {some(relative)}")
    if not description.startswith("# "):
        raise WrongError("the description has no text of the README")
    return f"{len(links)} in the description, all absolute"


def in_archive(tracked: Iterable[str]) -> set[str]:
    """The files of the source archive, below its folder."""
    return {path for path in tracked if not any(map(partial(fnmatch, path), NOT_IN_ARCHIVE))} | {"PKG-INFO"}


def in_wheel(tracked: Iterable[str], version: str) -> set[str]:
    parts = {to + path for path in tracked for folder, to in WHEEL_FOLDERS.items()
             if path.startswith(folder) and not fnmatch(path, NOT_IN_WHEEL)}
    return parts | {f"crowd_demo-{version}.dist-info/{name}" for name in DIST_INFO}


def check_contents(found: Collection[str], wanted: Collection[str], megabytes: float, at_most: float) -> str:
    """Nothing is missing, nothing is there that should not, and it is small enough."""
    if missing := sorted(set(wanted) - set(found)):
        raise WrongError(f"missing: {some(missing)}")
    if more := sorted(set(found) - set(wanted)):
        raise WrongError(f"should not be there: {some(more)}")
    if megabytes > at_most:
        raise WrongError(f"{megabytes:.2f} MB, more than {at_most}")
    return f"{megabytes:.2f} MB (at most {at_most}), {len(found)} files"


def commands_of(readme: str) -> list[str]:
    """The command lines of its blocks, without comments; a line that goes on is one."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    lines = [re.sub(r"\s+#.*", "", line) for language, block in blocks if not language
             for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    return [line for line in lines if re.match(r"(pip|crowd-demo|python) ", line)]


def shortened(command: str) -> list[str]:
    """The words of a command, so that it opens no window and ends soon."""
    words = shlex.split(command)
    for option, value in SHORTER.items():
        if option in words:
            words[words.index(option) + 1] = value
    if words[0] == "crowd-demo" and words[1].startswith("-") and not {"--headless", "--help"} & set(words):
        words += WITHOUT_WINDOW
    return [*words, "--steps", SHORTER["--steps"]] if words[1] == "sweep" else words


def some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


# --- what has to be built and run ------------------------------------------------------------------------------------

class Built(NamedTuple):
    """Wheel and archive, and what is in them; the archive's names are those below its folder."""

    wheel: Path
    archive: Path
    wheel_files: list[str]
    archive_files: list[str]
    metadata: Message


def build(folder: Path) -> Built:
    run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], ROOT)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed, tarfile.open(archive) as sources:
        names = packed.namelist()
        (metadata,) = (packed.read(name) for name in names if name.endswith(".dist-info/METADATA"))
        files = [member.name.partition("/")[2] for member in sources if member.isfile()]
    return Built(wheel, archive, names, files, message_from_bytes(metadata))


def run(words: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """What a command writes. Raises WrongError with its last line."""
    try:
        done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, encoding="utf-8", timeout=MAX_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WrongError(f"{Path(words[0]).name} {shlex.join(words[1:])}: {error}") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise WrongError(f"{Path(words[0]).name} {shlex.join(words[1:])}: {done.returncode}, {last}")
    return done.stdout


def check_twine(built: Built) -> str:
    run([sys.executable, "-m", "twine", "check", "--strict", str(built.wheel), str(built.archive)], ROOT)
    return "twine check --strict"


def check_installed(wheel: Path, readme: str, version: str, work: Path) -> str:
    """Do what the README says, without a window, in a clean environment that finds the wheel as if an index had it.

    Its command for tests is left out, which `.ci/run` has; of commands within sentences the help is asked for.
    """
    venv.create(work / "environment", with_pip=True)
    programs, folder = work / "environment" / ("Scripts" if os.name == "nt" else "bin"), work / "elsewhere"
    folder.mkdir()
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("PYTHON", "VIRTUAL_ENV", "CROWD_DEMO_"))}
    variables |= {"CROWD_DEMO_CACHE": str(work / "cache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                  "PIP_FIND_LINKS": f"{os.environ.get('PIP_FIND_LINKS', '')} {wheel.parent}"}

    def done(words: Sequence[str]) -> str:
        return run([str(programs / words[0]), *words[1:]], folder, variables)

    commands = commands_of(readme)
    install, start = next(line for line in commands if line.startswith(FROM_INDEX)).split(" && ")
    done([*shlex.split(install), "--quiet"])
    if (told := done(["crowd-demo", "--version"]).strip()) != f"crowd-demo {version}":
        raise WrongError(f"{install} installed {told}")
    report = json.loads(done([*shortened(start), "--report", "-"]))
    done(["python", "-c", SAVE])
    done(["pip", "install", "--quiet", "crowd-demo[plot]"])  # what the README wants for `--plot`
    named = sorted(set(re.findall(r"`crowd-demo ([a-z]+)\b", readme)))
    for words in (*(shortened(line) for line in commands if line.startswith("crowd-demo")),
                  *(["crowd-demo", name, "--help"] for name in named)):
        done(words)
    return f"{report['agents']} agents, {report['state_hash']}, and the README's other commands run"


def checks(built: Built, version: str, sections: Sequence[Section], hashes: Mapping[str, str],
           work: Path) -> dict[str, Callable[[], str]]:
    """All that must hold, in this order."""
    tracked = run(["git", "ls-files"], ROOT).splitlines()
    return {
        "version": lambda: check_version(version, {"the wheel": built.metadata["Version"]}, sections),
        "changelog": lambda: check_changelog(version, sections),
        "state hashes": lambda: check_moved(sections, json.loads(RELEASED.read_text("utf-8")), hashes),
        "links": lambda: check_links(str(built.metadata.get_payload())),
        "wheel": lambda: check_contents(built.wheel_files, in_wheel(tracked, version),
                                        built.wheel.stat().st_size / 1e6, WHEEL_MB),
        "archive": lambda: check_contents(built.archive_files, in_archive(tracked),
                                          built.archive.stat().st_size / 1e6, ARCHIVE_MB),
        "twine": lambda: check_twine(built),
        "README": lambda: check_installed(built.wheel, README.read_text("utf-8"), version, work)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Hold a release against what it promises.")
    parser.add_argument("--check", action="store_true", help="keep nothing of what is built")
    options = parser.parse_args(arguments)
    if absent := [name for name in ("build", "twine") if not importlib.util.find_spec(name)]:
        print(f'release: {" and ".join(absent)} missing: pip install -e ".[dev]"', file=sys.stderr)
        return 2
    (version,) = re.findall(r'^__version__ = "(.+)"', VERSION.read_text("utf-8"), re.MULTILINE)
    hashes = {name: pin["hash"] for name, pin in json.loads(PINS.read_text("utf-8")).items()}
    wrong = 0
    with tempfile.TemporaryDirectory() as made:
        work = Path(made).resolve()
        try:
            built = build(work / "dist")
        except WrongError as error:
            print(f"build: {error}")
            return 1
        for name, check in checks(built, version, sections_of(CHANGELOG.read_text("utf-8")), hashes, work).items():
            try:
                print(f"{name:14}holds: {check()}", flush=True)
            except WrongError as error:
                wrong += 1
                print(f"{name:14}WRONG: {error}", flush=True)
        if not (wrong or options.check):  # beside the files this version's hashes are kept with those of earlier ones
            (ROOT / "dist").mkdir(exist_ok=True)
            for path in (built.wheel, built.archive):
                shutil.copy(path, ROOT / "dist")
            released = {**json.loads(RELEASED.read_text("utf-8")), version: hashes}
            RELEASED.write_text(json.dumps(released, indent=1) + "\n", "utf-8")
            print(f"dist/ has {version}: commit {RELEASED.relative_to(ROOT)}, tag it, and twine upload dist/*{version}*")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
