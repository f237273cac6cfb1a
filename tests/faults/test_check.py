"""The planted faults can still be planted, and the tests that catch them are still there."""

import pytest
from faults.check import FAULTS, ROOT, file_with

pytestmark = pytest.mark.quick


def test_each_fault_can_be_planted_and_its_test_exists() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 43
    for fault in FAULTS:
        assert file_with(fault)
        path, _, name = fault.test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / "tests" / path).read_text("utf-8"), fault.test
