"""Standard output and error that are full, closed or read in part, and files that are none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from damages import make_fifo

from crowd_demo.cli import main
from crowd_demo.host.streams import ERASE, standard_streams

ROOT = Path(__file__).parents[2]
quick = pytest.mark.quick


@quick
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder that takes no files, not even root's")
@pytest.mark.parametrize("option", ["--screenshot", "--report"])
def test_a_folder_that_takes_no_files_is_told_before_the_run(started, errors_of, option):
    (line,) = errors_of("--config", "20k-flock", option, "/proc/x.png")
    assert line.startswith(f"{option}: /proc/x.png cannot be written: ")
    assert started == []


@quick
def test_looking_whether_a_place_can_be_written_leaves_nothing_there(started, tmp_path):
    assert main(["--config", "20k-flock", "--report", str(tmp_path / "a.json")]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_early_is_no_mistake():
    child = subprocess.Popen([sys.executable, "-m", "crowd_demo", "--print-schema"], cwd=ROOT, encoding="utf-8",
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child:
        assert child.stdout and child.stderr
        child.stdout.close()
        assert (child.stderr.read(), child.wait(60)) == ("", 0)


def test_a_mistake_in_a_process_of_its_own(tmp_path):
    (tmp_path / "bad.yaml").write_text("agents: 1\nworld: {width: -1}\n", "utf-8")
    done = subprocess.run([sys.executable, "-m", "crowd_demo", "--config", tmp_path / "bad.yaml"], cwd=ROOT,
                          capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        2, "", f"{tmp_path}/bad.yaml:2: world.width: must be a number from 0.1 to 65536 or text such as \"0.46 m\", not -1\n")


def shell(command: str, **environment: str) -> tuple[int, str]:
    """Exit code and standard error of a shell's command, in which PROGRAM stands for the program."""
    whole = command.replace("PROGRAM", f"{sys.executable} -m crowd_demo")
    done = subprocess.run(["bash", "-c", whole], cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8", check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a device of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("option", ["--help", "--version", "--list-configs", "--print-schema"])
def test_standard_output_that_takes_nothing_is_one_line_and_exit_code_1(option, unbuffered):
    full = "crowd-demo: cannot write to standard output: No space left on device\n"
    assert shell(f"PROGRAM {option} >/dev/full", PYTHONUNBUFFERED=unbuffered) == (1, full)
    closed = "crowd-demo: cannot write to standard output: Bad file descriptor\n"
    assert shell(f"PROGRAM {option} >&-", PYTHONUNBUFFERED=unbuffered) == (1, closed)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_closed_or_full_standard_error_changes_no_exit_code():
    assert shell("PROGRAM --config nowhere 2>&-") == (2, "")
    assert shell("PROGRAM --config nowhere 2>&- | cat; exit ${PIPESTATUS[0]}") == (2, "")
    if sys.platform == "linux":
        assert shell("PROGRAM --config nowhere 2>/dev/full") == (2, "")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_readers_that_leave_early_are_no_mistake_of_any_list():
    for option in ("--help", "--list-configs", "--list-keys", "--print-schema"):
        assert shell(f"PROGRAM {option} | true; exit ${{PIPESTATUS[0]}}") == (0, "")


@quick
@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs of POSIX")
def test_a_picture_may_go_to_a_fifo_of_any_name_but_to_no_new_file_of_it(started, tmp_path):
    make_fifo(tmp_path / "fifo")
    assert main(["--config", "20k-flock", "--screenshot", str(tmp_path / "fifo")]) == 0
    assert main(["--config", "20k-flock", "--screenshot", str(tmp_path / "file")]) == 2
    assert len(started) == 1


@quick
def test_no_control_character_of_a_text_reaches_the_terminal(capsys):
    with standard_streams():
        print("\x1b[31mred\r", "\udcff\x9b\a", sep="\n")
        print(f"{ERASE}50 %", end="", file=sys.stderr)
        print(f"{ERASE}{ERASE}", file=sys.stderr)
    assert capsys.readouterr() == ("\\x1b[31mred\\r\n\\udcff\\x9b\\x07\n", f"{ERASE}50 %{ERASE}\\r\\x1b[K\n")


@quick
@pytest.mark.parametrize("args", [["--config", "\x1b[31mred"], ["\x1b[31mred"], ["--\x1b[31mred"], ["--load", "\x1b[31mred"],
                                  ["--report", "\x1b/red"], ["ensemble", "--out", "a", "--measure", "\x1b[31mred"]])
def test_a_mistake_is_told_without_control_characters(errors_of, args):
    assert all(line.isprintable() for line in errors_of(*args))
