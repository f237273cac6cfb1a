"""How the program ends: exit codes, signals and crashes, as scripts see them."""

import signal
import sys
from pathlib import Path

import pytest

from crowd_demo.cli import main
from crowd_demo.version import __version__

ROOT = Path(__file__).parents[2]
quick = pytest.mark.quick


@quick
@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_exit_code_is_that_of_the_program(fails, code):
    fails(code)
    assert main(["--config", "20k-flock"]) == code


@quick
def test_ctrl_c_is_130_and_quiet(fails, capsys):
    fails(KeyboardInterrupt())
    assert main(["--config", "20k-flock"]) == 130
    assert capsys.readouterr() == ("", "")


@quick
def test_a_crash_is_one_line_that_names_a_file_with_the_traceback(fails, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("CROWD_DEMO_DEBUG", raising=False)
    fails(ZeroDivisionError("first line\nsecond line"))
    assert main(["--config", "20k-flock"]) == 1
    (log,) = tmp_path.iterdir()
    assert capsys.readouterr().err == f"crowd-demo: crashed: ZeroDivisionError: first line (details in {log})\n"
    assert "Traceback (most recent call last)" in log.read_text("utf-8")
    assert __version__ in log.read_text("utf-8")


@quick
def test_a_crash_without_a_place_for_the_log_is_still_one_line(fails, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    monkeypatch.delenv("CROWD_DEMO_DEBUG", raising=False)
    fails(ZeroDivisionError())
    assert main(["--config", "20k-flock"]) == 1
    assert capsys.readouterr().err.startswith("crowd-demo: crashed: ZeroDivisionError (no log could be written")


@quick
def test_a_crash_while_debugging_is_a_traceback(fails, monkeypatch):
    monkeypatch.setenv("CROWD_DEMO_DEBUG", "1")
    fails(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main(["--config", "20k-flock"])


@quick
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_before_the_run_says_what_is_not_written(monkeypatch, capsys, tmp_path, number, code):
    """Here it comes while the configuration is read."""
    wanted = getattr(signal, number)
    before = signal.getsignal(wanted)
    signal.signal(wanted, signal.SIG_DFL)
    try:
        monkeypatch.setattr("crowd_demo.cli.run.config_of", lambda *_: signal.raise_signal(wanted))
        assert main(["--report", str(tmp_path / "a.json")]) == code
        assert signal.getsignal(wanted) == signal.SIG_DFL
    finally:
        signal.signal(wanted, before)
    assert capsys.readouterr().err == f"crowd-demo: left before loading: not written: --report {tmp_path / 'a.json'}\n"
