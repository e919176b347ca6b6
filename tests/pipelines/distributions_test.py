"""Runs of one pipeline whose data differ: what is compared with what, and what stops a run."""

import json

import pytest

from firth.pipelines import finetune, local, pretrain
from firth.pipelines.local import RunFailedError
from firth.recipes import load_recipe
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.reports.threshold_results import distance_lines
from tests.recipes.bundles import write_bundle

RECIPE = """\
sources:
- {{kind: text, name: plays, documents: blank_line, paths: [{folder}/a.txt]}}
- {{kind: text, name: notes, documents: blank_line, paths: [{folder}/notes.md]}}
cleaning: {{split: {{eval_fraction: 0.2}}}}
validation: {{drift: {{plays/words: 0.1}}, shares: {{sources: 0.1}}}}
"""
REPORT = "validation.on_anomaly=report"


@pytest.fixture
def curate(tmp_path):
    """Curates plays of some words, each time from the same file, and notes that stay."""
    (tmp_path / "mine.yaml").write_text(RECIPE.format(folder=tmp_path))
    (tmp_path / "notes.md").write_text("\n\n".join(f"note {number} on a whale" for number in range(40)))

    def run(words, *overrides):
        if words:
            texts = [f"number {number} " + "whale " * (words + number % 4) for number in range(60)]
            (tmp_path / "a.txt").write_text("\n\n".join(texts))
        return local.curate(load_recipe(tmp_path / "mine.yaml", overrides), tmp_path / "runs")

    return run


def distances(result):
    folder = result.outputs["DistributionValidator"]["distances"]
    return [each["distance"] for each in json.loads((folder / "distances.json").read_text())]


@pytest.mark.repeated
def test_a_run_is_compared_with_the_last_one_that_passed(curate):
    assert distances(curate(4)) == []
    with pytest.raises(RunFailedError, match=r"plays/words: .*Jensen-Shannon"):
        curate(30)
    reported = curate(31, REPORT)
    # The same data, once they have been taken, are not refused.
    for result in (reported, curate(0)):
        (far,) = distances(result)
        assert far > 0.5
        _, share = distance_lines(result.outputs)
        assert share.startswith("share of notes among sources: 0.0") and "and 0.2" in share
        assert "it moved by 0.1" in share and share.endswith("more than 0.1")
    # The last run passed; the one before it, whose data were refused, and the first one are passed over.
    (near,) = distances(curate(32, "validation.drift={plays/words: 0.6}"))
    assert near < far


def test_without_local_metadata_no_earlier_run_can_be_looked_up(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    sources = f"sources=[{{kind: text, name: plays, paths: ['{tmp_path}/*.txt']}}]"
    for key, bound in (("drift", "plays/words"), ("shares", "languages")):
        recipe = load_recipe("demo", [sources, f"validation.{key}={{{bound}: 0.1}}"])
        with pytest.raises(ValueError, match=rf"validation\.{key}: .*orchestrator"):
            pretrain.create_pipeline(recipe, "/no/such")


@pytest.mark.parametrize("bound", ["0.1", ""])
def test_the_report_is_given_the_shares(tmp_path, bound):
    (tmp_path / "a.txt").write_text("a")
    sources = f"sources=[{{kind: text, name: plays, paths: ['{tmp_path}/*.txt']}}]"
    shares = f"validation.shares={{{f'languages: {bound}' if bound else ''}}}"
    recipe = load_recipe("demo", [sources, shares])
    made = pretrain.create_pipeline(recipe, "/no/such", metadata_path=str(tmp_path / "metadata.sqlite"))
    (reporter,) = (node for node in made.components if node.id == "Reporter")
    assert ("shares" in reporter.inputs) is bool(bound)
    if bound:
        assert reporter.inputs["shares"].producer_component_id == "CorpusValidator"


def test_labelled_records_are_compared_with_both(tmp_path):
    write_bundle(tmp_path / "base")
    (tmp_path / "a.csv").write_text("text,label\na,b\nc,d\n")
    (tmp_path / "asked.csv").write_text("text\na\n")
    validation = f"drift: {{label: 0.1}}, skew: {{text/words: 0.1}}, requests: {tmp_path}/asked.csv"
    options = [
        f"base={tmp_path}/base",
        f"data={{kind: columns, train: {tmp_path}/a.csv}}",
        "task={kind: classification, labels: [b, d]}",
        f"validation={{{validation}}}",
    ]
    made = finetune.create_pipeline(
        load_adapting_recipe(None, options), "/no/such", metadata_path=str(tmp_path / "metadata.sqlite")
    )
    nodes = {each.id: each for each in made.components}
    gate = nodes["DistributionValidator"]
    producers = {name: channel.producer_component_id for name, channel in gate.inputs.items()}
    assert producers["previous_statistics"] == "PreviousStatistics"
    assert producers["serving_statistics"] == "RequestStatistics"
    assert gate in nodes["TaskRowGen"].upstream_nodes
    assert nodes["TaskReporter"].inputs["distances"].producer_component_id == "DistributionValidator"
    assert '"drift":{}' in nodes["Trainer"].exec_properties["custom_config"].replace("\\", "")
