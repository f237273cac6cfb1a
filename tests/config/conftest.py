"""A file with a mistake, for the tests of those who read it."""

import pytest


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write `bad.yaml` into the working folder, which is empty but for it."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "bad.yaml").write_text(text, "utf-8")
        return "bad.yaml"

    return write
