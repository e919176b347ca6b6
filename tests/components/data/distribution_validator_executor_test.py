"""Records further from those of the last run, or from requests, than a recipe allows: TFX's statistics."""

import json
import pathlib

import pytest
from tensorflow_data_validation.statistics.stats_impl import generate_statistics_in_memory
from tensorflow_metadata.proto.v0 import anomalies_pb2
from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, channel_utils, standard_artifacts
from tfx.utils import io_utils
from tfx_bsl.coders.example_coder import ExamplesToRecordBatchDecoder

from firth.components import DistributionValidator, RequestExampleGen, TaskSchemaGen
from firth.components.data.distribution_validator import DistributionError, UnknownFeatureError
from firth.corpus.io.records import write_records
from firth.recipes.run.validation import TaskValidation
from firth.recipes.tasks.classification import Classification
from firth.tasks.labelled.examples import to_example
from firth.tasks.readers.records import LabelledRecord
from tests.components.components_corpus_test import run
from tests.corpus.helpers import read_records

TASK = Classification(labels=("no", "yes"))


def statistics_of(folder, examples):
    """Statistics as TFX's StatisticsGen writes them, which makes them in a pipeline."""
    made = standard_artifacts.ExampleStatistics()
    made.uri, made.split_names = str(folder), examples.split_names
    for split in artifact_utils.decode_split_names(examples.split_names):
        records = read_records(f"{artifact_utils.get_split_uri([examples], split)}/*")
        batch = ExamplesToRecordBatchDecoder().DecodeBatch(records)
        data = generate_statistics_in_memory(batch).SerializeToString()
        path = folder / f"Split-{split}" / "FeatureStats.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    return made


def statistics(folder, yes, words):
    """Statistics of 100 records, of which some have the label `yes`, all of some words."""
    examples = standard_artifacts.Examples()
    examples.uri = str(folder / "examples")
    examples.split_names = artifact_utils.encode_split_names(["train"])
    examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
    records = [
        LabelledRecord(
            str(number), {"text": "word " * (words + number % 5)}, "yes" if number < yes else "no", "", 0
        )
        for number in range(100)
    ]
    part = [to_example(each, "films") for each in records]
    write_records(artifact_utils.get_split_uri([examples], "train"), 0, 1, part)
    return statistics_of(folder / "statistics", examples)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The statistics of a run, of one with other labels, and of requests with longer texts."""
    folder = tmp_path_factory.mktemp("statistics")
    requests = folder / "asked.jsonl"
    requests.write_text("".join(json.dumps({"text": "word " * (40 + n % 5)}) + "\n" for n in range(100)))
    asked = run(RequestExampleGen(str(requests), {"text": "text"}, "1"), {}, folder / "asked")["examples"]
    return {
        "first": statistics(folder / "first", 50, 4),
        "second": statistics(folder / "second", 80, 4),
        "asked": statistics_of(folder / "asked_statistics", asked),
        "schema": run(TaskSchemaGen(task=TASK), {}, folder / "schema")["schema"],
    }


def validate(folder, made, current, validation, **others):
    given = {"statistics": made[current], "schema": made["schema"]}
    given |= {name: made[other] for name, other in others.items()}
    channels = {name: channel_utils.as_channel([each]) for name, each in given.items()}
    component = DistributionValidator(validation=TaskValidation.of(validation), **channels)
    return run(component, given, folder / "DistributionValidator" / "7")


def distances(made):
    return json.loads(pathlib.Path(made["distances"].uri, "distances.json").read_text())


def test_what_is_near_enough_passes_with_its_distance(tmp_path, made):
    found = validate(
        tmp_path, made, "second", {"drift": {"label": 0.31, "text/words": 0.1}}, previous_statistics="first"
    )
    measured = {each["feature"]: each for each in distances(found)}
    assert measured["label"] == {
        "comparison": "drift",
        "split": "train",
        "feature": "label",
        "measure": "infinity_norm",
        "distance": pytest.approx(0.3),
        "threshold": 0.31,
    }
    assert measured["text/words"]["measure"] == "jensen_shannon_divergence"
    assert measured["text/words"]["distance"] == pytest.approx(0, abs=1e-6)


def test_drift_of_labels_stops_the_run(tmp_path, made):
    with pytest.raises(DistributionError, match=r"label: .*Linfty .* 0\.3 .*on_anomaly: report"):
        validate(tmp_path, made, "second", {"drift": {"label": 0.2}}, previous_statistics="first")
    (kept,) = (tmp_path / "DistributionValidator").glob("failed/**/distances.json")
    assert json.loads(kept.read_text())[0]["distance"] == pytest.approx(0.3)


def test_what_a_pinned_schema_states_of_other_features_counts_too(tmp_path, made):
    schema = io_utils.SchemaReader().read(io_utils.get_only_uri_in_dir(made["schema"].uri))
    label = next(each for each in schema.feature if each.name == "label")
    label.drift_comparator.infinity_norm.threshold = 0.2
    pinned = standard_artifacts.Schema()
    io_utils.write_pbtxt_file(f"{tmp_path}/schema/schema.pbtxt", schema)
    pinned.uri = f"{tmp_path}/schema"
    given = {**made, "schema": pinned}
    with pytest.raises(DistributionError, match=r"label: .*Linfty"):
        validate(tmp_path, given, "second", {"drift": {"text/words": 0.9}}, previous_statistics="first")


def test_where_it_only_reports_the_anomaly_is_in_the_artifact(tmp_path, made):
    validation = {"drift": {"label": 0.2}, "on_anomaly": "report"}
    found = validate(tmp_path, made, "second", validation, previous_statistics="first")
    data = pathlib.Path(found["anomalies"].uri, "Split-train", "SchemaDiff.pb").read_bytes()
    anomalies = anomalies_pb2.Anomalies.FromString(data)
    assert list(anomalies.anomaly_info) == ["label"]
    assert anomalies.drift_skew_info[0].drift_measurements[0].threshold == 0.2


def test_data_that_an_earlier_run_has_taken_are_not_refused_for_their_drift(tmp_path, made):
    taken = {"previous_statistics": "first", "taken_statistics": "second"}
    found = validate(tmp_path, made, "second", {"drift": {"label": 0.2}}, **taken)
    assert distances(found)[0]["distance"] == pytest.approx(0.3)
    validation = {"drift": {"label": 0.2}, "skew": {"text/words": 0.5}, "requests": "asked.jsonl"}
    with pytest.raises(DistributionError, match=r"text/words: .*Jensen-Shannon"):
        validate(tmp_path / "skew", made, "second", validation, **taken, serving_statistics="asked")


def test_skew_of_requests_stops_the_run(tmp_path, made):
    validation = {"skew": {"text/words": 0.5}, "requests": "asked.jsonl"}
    with pytest.raises(DistributionError, match=r"text/words: .*Jensen-Shannon"):
        validate(tmp_path, made, "first", validation, serving_statistics="asked")
    reported = {**validation, "on_anomaly": "report"}
    found = validate(tmp_path / "reported", made, "first", reported, serving_statistics="asked")
    assert [(each["comparison"], each["feature"]) for each in distances(found)] == [("skew", "text/words")]


def test_the_first_run_has_nothing_to_compare_with(tmp_path, made):
    assert distances(validate(tmp_path, made, "first", {"drift": {"label": 0.0}})) == []


def test_a_feature_that_the_schema_does_not_have_is_named_with_the_nearest(tmp_path, made):
    with pytest.raises(UnknownFeatureError, match=r"drift\.text/word: .*text/words"):
        validate(tmp_path, made, "first", {"drift": {"text/word": 0.1}})
