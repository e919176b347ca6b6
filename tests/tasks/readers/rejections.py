"""The reasons for which readers reject rows."""

import pytest

from firth.tasks.readers.records import RejectedRecordError


def rejection(rows, row) -> str:
    """Returns the reason for which the values of a row are rejected."""
    with pytest.raises(RejectedRecordError) as raised:
        rows.values(row)
    return raised.value.reason
