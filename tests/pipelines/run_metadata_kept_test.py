"""A store that a run's folder remembers, and that a later command does not name."""

import json

import pytest

from firth.pipelines.run_errors import RunFolderError
from firth.pipelines.run_metadata import PLACE_FILE, keep_metadata_in


def test_it_must_answer_too(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRTH_METADATA_PASSWORD", "a secret")
    kept = {"place": "postgresql://me@127.0.0.1:1/runs", "pipeline": "run-12345678"}
    (tmp_path / PLACE_FILE).write_text(json.dumps(kept))
    with pytest.raises(RunFolderError, match=r"metadata: postgresql://me@127\.0\.0\.1:1/runs .*: "):
        keep_metadata_in(tmp_path, "")
    assert json.loads((tmp_path / PLACE_FILE).read_text()) == kept
