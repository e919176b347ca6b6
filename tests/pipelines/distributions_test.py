"""Runs of one pipeline whose data differ: what is compared with what, and what stops a run."""

import json

import pytest

from firth.pipelines import finetune, local, pretrain
from firth.pipelines.local import RunFailedError
from firth.recipes import load_recipe
from firth.recipes.reading.adapting import load_adapting_recipe
from tests.recipes.bundles import write_bundle

RECIPE = """\
sources: [{{kind: text, name: plays, documents: blank_line, paths: [{folder}/*.txt]}}]
cleaning: {{split: {{eval_fraction: 0.2}}}}
validation: {{drift: {{plays/words: 0.1}}}}
"""


@pytest.fixture
def curate(tmp_path):
    """Curates documents of some words, each time from the same file."""
    (tmp_path / "mine.yaml").write_text(RECIPE.format(folder=tmp_path))

    def run(words, *overrides):
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
    with pytest.raises(RunFailedError, match=r"plays/words: High .* Jensen-Shannon divergence"):
        curate(30)
    (far,) = distances(curate(31, "validation.on_anomaly=report"))
    assert far > 0.5
    # The last run passed; the one before it, whose data were refused, and the first one are passed over.
    (near,) = distances(curate(32, "validation.drift={plays/words: 0.6}"))
    assert near < far


def test_without_local_metadata_no_earlier_run_can_be_looked_up(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    sources = f"sources=[{{kind: text, name: plays, paths: ['{tmp_path}/*.txt']}}]"
    recipe = load_recipe("demo", [sources, "validation.drift={plays/words: 0.1}"])
    with pytest.raises(ValueError, match=r"validation\.drift: this orchestrator cannot look up"):
        pretrain.create_pipeline(recipe, "/no/such")


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
