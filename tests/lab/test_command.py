"""Experiments that take one number: mistakes are told in one line."""

from __future__ import annotations

import pytest

from crowd_demo.lab.command import run


@pytest.mark.quick
@pytest.mark.parametrize(("words", "code", "told"), [
    ([], 0, ""), (["12"], 0, ""), (["abc"], 2, "'abc'"), (["-5"], 2, "'-5'"), (["--bogus"], 2, "--bogus")])
def test_a_number_or_one_line(words: list[str], code: int, told: str, monkeypatch: pytest.MonkeyPatch,
                              capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["", *words])
    seen: list[int] = []
    with pytest.raises(SystemExit) as ended:
        run(seen.append, "crowd_demo.lab.example", "agents", 7)
    error = capsys.readouterr().err
    assert ended.value.code == code and told in error and error.count("\n") == (code == 2)
    assert seen == ([] if code else [int(words[0])] if words else [7])
