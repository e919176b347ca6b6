"""Records of a source against the schema of an earlier day: TFX's components in turn, then our gate."""

import json

import pytest
from tfx.components import ExampleValidator, SchemaGen
from tfx.types import channel_utils

from firth.components import AnomalyValidator, CorpusExampleGen, PinnedSchemaGen
from firth.corpus import SourceSchemaError
from firth.pipelines.run_folder import tolerant
from firth.recipes.corpus.sources import JsonlSource
from tests.components.components_corpus_test import run
from tests.components.data.distribution_validator_executor_test import statistics_of

RECORD = {"text": "Call me Ishmael.", "url": "http://a/", "licence": "CC0"}


def source(folder, records):
    (folder / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    paths = (f"{folder}/*.jsonl",)
    return JsonlSource(kind="jsonl", name="web", paths=paths, uri_key="url", licence_key="licence")


def inferred(folder, records):
    """Returns statistics and schema of some records."""
    folder.mkdir()
    made = run(CorpusExampleGen(sources=[source(folder, records)]), {}, folder / "examples")
    statistics = statistics_of(folder / "statistics", made["records"])
    schema_gen = SchemaGen(channel_utils.as_channel([statistics]), infer_feature_shape=False)
    return statistics, run(schema_gen, {"statistics": statistics}, folder / "schema")["schema"]


@pytest.fixture(scope="module")
def pinned(tmp_path_factory):
    """The schema of 200 records, as a run proposes it."""
    folder = tmp_path_factory.mktemp("pinned")
    _, schema = inferred(folder / "first", [RECORD] * 200)
    path = folder / "schema.pbtxt"
    with open(f"{schema.uri}/schema.pbtxt", encoding="utf-8") as file:
        path.write_text(tolerant(file.read()))
    return run(PinnedSchemaGen(schema_file=str(path), digest="1"), {}, folder / "schema")["schema"]


def check(folder, pinned, records):
    """Returns the gate's report; raises if the records differ from the schema."""
    statistics, schema = inferred(folder / "next", records)
    given = {"statistics": statistics, "schema": pinned}
    validator = ExampleValidator(**{name: channel_utils.as_channel([each]) for name, each in given.items()})
    anomalies = run(validator, given, folder / "anomalies")["anomalies"]
    given = {"anomalies": anomalies, "inferred": schema}
    channels = {name: channel_utils.as_channel([each]) for name, each in given.items()}
    found = run(AnomalyValidator(**channels, schema_file="web.pbtxt"), given, folder / "found")["found"]
    with open(f"{found.uri}/anomalies.json", encoding="utf-8") as file:
        return json.load(file)


def test_the_same_source_passes_and_a_few_bad_records_do(tmp_path, pinned):
    assert check(tmp_path, pinned, [RECORD] * 31 + [{"text": 1}] * 2) == []


def test_a_lost_field_and_another_type_stop(tmp_path, pinned):
    without_licence = {"text": RECORD["text"], "url": RECORD["url"]}
    changed = [without_licence, {"body": RECORD["text"]}, {**RECORD, "url": ["http://a/"]}]
    with pytest.raises(SourceSchemaError) as caught:
        check(tmp_path, pinned, [RECORD, *changed] * 10)
    message = str(caught.value)
    assert "differ from the schema web.pbtxt: web/licence: " in message and "not_stated" in message
    assert "web/outcome: " in message and "missing_text_key" in message and "uri_not_a_string" in message
    assert message.rsplit(" ", 1)[1].endswith("schema.pbtxt")
