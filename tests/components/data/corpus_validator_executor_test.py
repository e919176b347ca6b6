"""A cleaned corpus whose shares are compared with those of an earlier run."""

import json
import logging
import pathlib

import pytest
from tfx.types import channel_utils

from firth.components import CorpusValidator
from firth.components.artifacts import CorpusReport
from firth.corpus import CorpusLimitsError
from firth.recipes.corpus.cleaning import CorpusLimits
from firth.recipes.run.validation import CorpusValidation
from tests.components.components_corpus_test import run


def report(folder, undecoded=(), **languages):
    folder.mkdir()
    found = {"funnel": [], "splits": [], "languages": {"cleaned": languages}, "undecoded": undecoded}
    (folder / "corpus_report.json").write_text(json.dumps(found))
    artifact = CorpusReport()
    artifact.uri = str(folder)
    return artifact


@pytest.fixture
def reports(tmp_path):
    return {
        "report": report(tmp_path / "now", en=6, de=4),
        "previous_report": report(tmp_path / "before", en=9, de=1),
    }


def validate(folder, given, **validation):
    channels = {name: channel_utils.as_channel([each]) for name, each in given.items()}
    shares = CorpusValidation.of({"shares": {"languages": 0.2}, **validation})
    component = CorpusValidator(limits=CorpusLimits(), validation=shares, **channels)
    return run(component, given, folder / "CorpusValidator" / "7")


def shares(made):
    return json.loads(pathlib.Path(made["measured"].uri, "shares.json").read_text())


def test_shares_that_moved_stop_the_run_and_are_kept(tmp_path, reports):
    moved = r"share of de among languages: 0\.4, and 0\.1 in the last run; it moved by 0\.3, more than 0\.2"
    with pytest.raises(CorpusLimitsError, match=moved):
        validate(tmp_path, reports)
    (kept,) = (tmp_path / "CorpusValidator").glob("failed/**/shares.json")
    assert [(each["name"], each["share"], each["before"]) for each in json.loads(kept.read_text())] == [
        ("de", 0.4, 0.1),
        ("en", 0.6, 0.9),
    ]


@pytest.mark.parametrize("passing", ["bound", "report", "taken"])
def test_what_may_move_or_was_taken_before_passes_with_its_shares(tmp_path, reports, passing):
    validation = {"bound": {"shares": {"languages": 0.3}}, "report": {"on_anomaly": "report"}}.get(
        passing, {}
    )
    if passing == "taken":
        reports["taken_report"] = reports["report"]
    assert {each["name"] for each in shares(validate(tmp_path, reports, **validation))} == {"de", "en"}


def test_the_first_run_has_nothing_to_compare_with_and_its_warnings_are_logged(tmp_path, caplog):
    made = validate(tmp_path, {"report": report(tmp_path / "now", ["source 'web'"], en=6)})
    assert shares(made) == []
    # Other tests may let loggers of packages write more.
    logged = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert [each for each in logged if each.startswith("source ")] == ["source 'web'"]
    warnings = json.loads(pathlib.Path(made["measured"].uri, "warnings.json").read_text())
    assert warnings == ["source 'web'"]
