"""What libraries print is hidden, and only while it should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crowd_demo.config.reading import quiet_libraries, read_bounded

pytestmark = pytest.mark.quick


def test_what_is_written_inside_is_hidden_and_outside_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(2, b"before ")
    with pytest.raises(ZeroDivisionError), quiet_libraries():
        os.write(2, b"inside ")
        raise ZeroDivisionError
    os.write(2, b"after")
    assert capfd.readouterr().err == "before after"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes standard error")
def test_a_closed_standard_error_does_no_harm() -> None:
    code = "from crowd_demo.config.reading import quiet_libraries\nwith quiet_libraries(): pass\nprint('fine')"
    done = subprocess.run(["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"fine\n"


def test_a_device_that_passes_for_a_regular_file_and_waits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no such devices")
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    regular = (tmp_path / "file").touch() or (tmp_path / "file").stat()
    monkeypatch.setattr(os, "open", lambda *arguments: reader)
    monkeypatch.setattr(os, "fstat", lambda descriptor: regular)
    with pytest.raises(OSError, match="no data yet"):
        read_bounded(tmp_path / "file", 100)
    os.close(writer)
