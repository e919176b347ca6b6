import argparse
import shutil

import pytest

from firth.pipelines.run_errors import explain, full_disk


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("bad line [while running 'Read/ParDo(X)']"), "bad line"),
        (
            RuntimeError("Traceback (most recent call last):\n  File x\nOSError: disk full"),
            "OSError: disk full",
        ),
        (MemoryError(), "MemoryError"),
    ],
)
def test_errors_are_explained_without_what_beam_wraps_around_them(error, message):
    assert explain(error) == message


@pytest.mark.parametrize(("free", "said"), [(4096, True), (10**9, False)])
def test_a_transaction_that_was_undone_for_want_of_room(tmp_path, monkeypatch, free, said):
    error = RuntimeError(
        "Error when executing query: cannot commit - no transaction is active query: COMMIT;"
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda _: argparse.Namespace(free=free))
    assert bool(full_disk(error, tmp_path)) is said
