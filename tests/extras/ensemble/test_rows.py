"""Rows on disk: appended whole, and what is damaged is skipped and named."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from pathlib import Path

import pytest
from damages import damages

from crowd_demo.extras.ensemble.job import RunRow
from crowd_demo.extras.ensemble.row_files import MAX_NAMED, RowFiles, line_of, read_rows

pytestmark = pytest.mark.quick


def rows(count: int, worker: str = "here:1") -> list[RunRow]:
    return [RunRow(key=f"{number:024}", values={"stuck": number / 3, "flow.a": None}, steps=5, state_hash=f"{number:032}",
                worker=worker) for number in range(count)]


def test_rows_come_back_as_they_were_from_a_file_for_each_worker(tmp_path: Path) -> None:
    one, other = rows(3), rows(2, "tcp://10.0.0.1:99")
    with closing(RowFiles(tmp_path / "rows")) as files:
        for row in (*one, *other):
            files.append(row)
    found, skipped = read_rows(tmp_path / "rows")
    assert sorted(found, key=repr) == sorted([*one, *other], key=repr) and not skipped
    assert len(list((tmp_path / "rows").iterdir())) == 2


def test_a_later_session_appends_to_files_of_its_own(tmp_path: Path) -> None:
    for row in rows(2):
        with closing(RowFiles(tmp_path)) as files:
            files.append(row)
    assert len(read_rows(tmp_path)[0]) == len(list(tmp_path.iterdir())) == 2


def test_where_nothing_is_there_are_no_rows(tmp_path: Path) -> None:
    assert read_rows(tmp_path / "nowhere") == ([], [])


def test_a_damaged_row_is_skipped_and_named_and_no_other_is_lost(tmp_path: Path) -> None:
    lines = [line_of(row) for row in rows(3)]
    for damaged in damages(lines[1], seed=5, count=300):
        content = lines[0] + damaged.rstrip(b"\n") + b"\n" + lines[2]
        (tmp_path / "a.rows").write_bytes(content)
        found, skipped = read_rows(tmp_path)
        assert [row for row in found if row.key in (rows(3)[0].key, rows(3)[2].key)] == [rows(3)[0], rows(3)[2]]
        assert all(row in rows(3) for row in found)
        nothing_left = not damaged.strip(b"\n")
        assert skipped or lines[1] in content or nothing_left


def test_a_line_that_was_cut_off_costs_that_row_alone(tmp_path: Path) -> None:
    whole = b"".join(line_of(row) for row in rows(3))
    (tmp_path / "a.rows").write_bytes(whole[:-7])
    found, skipped = read_rows(tmp_path)
    assert found == rows(2) and skipped == [f"{tmp_path / 'a.rows'}:3"]


def test_a_row_of_a_later_version_counts_as_damaged(tmp_path: Path) -> None:
    from crowd_demo.extras.ensemble.row_files import _checksum

    content = b'{"key":"x","colour":"red"}'
    (tmp_path / "a.rows").write_bytes(_checksum(content) + b" " + content + b"\n")
    assert read_rows(tmp_path) == ([], [f"{tmp_path / 'a.rows'}:1"])


def test_a_number_of_400_digits_counts_as_damaged(tmp_path: Path) -> None:
    row = rows(1)[0].model_copy(update={"steps": 10**400})
    (tmp_path / "a.rows").write_bytes(line_of(row))
    assert read_rows(tmp_path) == ([], [f"{tmp_path / 'a.rows'}:1"])


def test_a_full_disk_leaves_no_part_of_a_row(tmp_path: Path, monkeypatch) -> None:
    first, second, third = rows(3)
    files = RowFiles(tmp_path)
    files.append(first)
    write, room = os.write, [40]

    def write_little(file: int, content: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, content[:room.pop()])

    monkeypatch.setattr(os, "write", write_little)
    with pytest.raises(OSError, match="No space left on device") as caught:
        files.append(second)
    assert caught.value.filename.endswith(".rows")
    monkeypatch.undo()
    files.append(third)
    files.close()
    assert read_rows(tmp_path) == ([first, third], [])


def test_of_many_damaged_lines_the_first_are_named(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.rows").write_bytes(b"x\n" * (MAX_NAMED - 1) + b"\n" * 1000 + line_of(rows(1)[0]))
    found, skipped = read_rows(tmp_path)
    assert found == rows(1) * 2 and len(skipped) == MAX_NAMED
    assert skipped[-1] == f"{tmp_path / 'b.rows'}:1 (and {MAX_NAMED - 2} more lines)"
