"""The four components of the corpus: executors run in turn on real records, as TFX runs them."""

import json
import os
import pathlib
import random
import shutil
from collections import Counter

import pytest
import tensorflow as tf
from tfx.dsl.components.base.base_beam_executor import BaseBeamExecutor
from tfx.types import artifact_utils, channel_utils, standard_artifacts

from firth.components import (
    CorpusExampleGen,
    CorpusExporter,
    CorpusReporter,
    Curator,
    ObjectiveValidator,
    SequenceGen,
    TokenizerGen,
)
from firth.components.artifacts import CorpusReport, QualityClassifier, Tokenizer
from firth.corpus import Document, EmptyCorpusError, SourceError, fingerprint, load_quality_model
from firth.recipes.corpus.classifiers import ClassifierStep
from firth.recipes.corpus.cleaning import Cleaning, LengthStep, Split
from firth.recipes.corpus.mixture import ProportionalMixture
from firth.recipes.corpus.sources import JsonlSource, TextSource
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from firth.tokenizers import TokenizerMismatchError, load_tokenizer
from tests.corpus.helpers import random_text, read_records

CLEANING = Cleaning(split=Split(eval_fraction=0.2))
SEQUENCES = Sequences(length=32, shards=2)


def run(component, inputs: dict, folder, make_pipeline=None) -> dict:
    """Runs a component's executor with the execution properties that it declares; returns its artifacts."""
    outputs = {name: [channel.type()] for name, channel in component.outputs.items()}
    for name, (artifact,) in outputs.items():
        artifact.uri = str(folder / name)
        os.makedirs(artifact.uri)
    context = BaseBeamExecutor.Context(
        tmp_dir=str(folder / "temporary"), unique_id="1", make_beam_pipeline_fn=make_pipeline
    )
    executor = component.EXECUTOR_SPEC.executor_class(context)
    executor.Do({name: [artifact] for name, artifact in inputs.items()}, outputs, component.exec_properties)
    return {name: artifact for name, (artifact,) in outputs.items()}


def channel(artifact_type):
    return channel_utils.as_channel([artifact_type()])


def example_gen(sources):
    return CorpusExampleGen(sources=sources)


def curator(cleaning=CLEANING):
    return Curator(examples=channel(standard_artifacts.Examples), cleaning=cleaning)


def tokenizer_gen():
    config = WordPieceTokenizerConfig(vocabulary_size=80, min_frequency=1)
    return TokenizerGen(examples=channel(standard_artifacts.Examples), tokenizer=config)


def sequence_gen(**mixture):
    return SequenceGen(
        examples=channel(standard_artifacts.Examples),
        tokenizer=channel(Tokenizer),
        sequences=SEQUENCES,
        special_tokens=3,
        raw_length=SEQUENCES.length - 3,
        **mixture,
    )


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    generator = random.Random(11)
    for i in range(6):
        texts = [random_text(generator, generator.randint(5, 60)) for _ in range(10)]
        (folder / f"{i}.txt").write_text("\n\n".join(texts))
    (folder / "a.jsonl").write_text('{"text": "Call me Ishmael, said the white whale."}\n{"tex')
    return (
        TextSource(kind="text", licence="CC0", paths=(f"{folder}/*.txt",), documents="blank_line"),
        JsonlSource(kind="jsonl", paths=(f"{folder}/*.jsonl",)),
    )


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory, sources):
    """The artifacts of the four components, run one after another."""
    folder = tmp_path_factory.mktemp("artifacts")
    made = run(example_gen(sources), {}, folder / "raw")
    made["raw"] = made.pop("examples")
    made["curated"], made["report"] = run(curator(), {"documents": made["raw"]}, folder / "curated").values()
    made |= run(tokenizer_gen(), {"examples": made["curated"]}, folder / "tokenizer")
    inputs = {"documents": made["curated"], "tokenizer": made["tokenizer"]}
    made["rows"] = run(sequence_gen(), inputs, folder / "rows")["examples"]
    return made


def test_example_gen_writes_documents_and_what_it_rejected(artifacts):
    raw = artifacts["raw"]
    assert artifact_utils.decode_split_names(raw.split_names) == ["corpus"]
    assert raw.get_string_custom_property("payload_format") == "FORMAT_TF_EXAMPLE"
    documents = [Document.from_example(each) for each in read_records(f"{raw.uri}/Split-corpus/*")]
    assert len(documents) == len({each.id for each in documents}) == 61
    assert {(each.source, each.licence) for each in documents} == {("text", "CC0"), ("jsonl", "unknown")}
    with open(f"{raw.uri}/rejected.jsonl") as file:
        assert [json.loads(line)["reason"] for line in file] == ["malformed_json"]


def test_example_gen_profiles_every_record(artifacts):
    records = artifacts["records"]
    assert artifact_utils.decode_split_names(records.split_names) == ["corpus"]
    profiles = [tf.train.Example.FromString(each) for each in read_records(f"{records.uri}/Split-corpus/*")]
    found = Counter(
        (name, value)
        for each in profiles
        for name, feature in each.features.feature.items()
        for value in feature.bytes_list.value
    )
    assert found == {
        ("text/outcome", b"document"): 60,
        ("jsonl/outcome", b"document"): 1,
        ("jsonl/outcome", b"malformed_json"): 1,
    }
    words = sum(sum(each.features.feature["text/words"].int64_list.value) for each in profiles)
    documents = map(Document.from_example, read_records(f"{artifacts['raw'].uri}/Split-corpus/*"))
    assert words == sum(each.words for each in documents if each.source == "text")


def test_example_gen_names_a_source_without_documents(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}\n")
    source = JsonlSource(kind="jsonl", name="web", paths=(f"{tmp_path}/*.jsonl",))
    with pytest.raises(SourceError, match=r"'web'.*1 .*missing_text_key: 1") as caught:
        run(example_gen([source]), {}, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")  # As TFX does when a component fails.
    listed = pathlib.Path(str(caught.value).split("they are listed in ")[1])
    assert [json.loads(line)["reason"] for line in listed.read_text().splitlines()] == ["missing_text_key"]


def test_changed_files_change_the_execution_properties(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    source = TextSource(kind="text", paths=(f"{tmp_path}/*.txt",))
    before = example_gen([source]).exec_properties
    assert before["fingerprint"] == fingerprint([source])
    assert before == example_gen([source]).exec_properties
    (tmp_path / "a.txt").write_text("another")
    assert example_gen([source]).exec_properties != before


def test_curator_writes_splits_and_a_report(artifacts):
    curated, report = artifacts["curated"], artifacts["report"]
    assert artifact_utils.decode_split_names(curated.split_names) == ["train", "eval"]
    assert isinstance(report, CorpusReport)
    with open(f"{report.uri}/corpus_report.json") as file:
        content = json.load(file)
    first = {row["source"]: row for row in content["funnel"] if row["step"] == "read"}
    assert first["jsonl"]["rejected"]["malformed_json"]["documents"] == 1
    written = sum(len(read_records(f"{curated.uri}/Split-{split}/*")) for split in ("train", "eval"))
    assert written == sum(row["documents"] for row in content["splits"]) == 61


def test_curator_keeps_the_classifiers_that_it_trains(tmp_path, artifacts):
    assert "classifiers" not in curator().outputs
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/*.jsonl",))
    (tmp_path / "a.jsonl").write_text('{"text": "Call me Ishmael."}\n{"text": "A whale, a whale!"}\n')
    step = ClassifierStep(kind="classifier", reference_files=(source,), keep="threshold", threshold=0.0)
    component = curator(Cleaning(steps=(step,), split=Split(eval_fraction=0.2)))
    made = run(component, {"documents": artifacts["raw"]}, tmp_path / "out")
    assert isinstance(made["classifiers"], QualityClassifier)
    folder = f"{made['classifiers'].uri}/classifier"
    assert load_quality_model(folder).weights.any()
    with open(f"{folder}/classifier.json") as file:
        auc = json.load(file)["auc"]
    assert made["classifiers"].get_float_custom_property("classifier_auc") == auc


@pytest.mark.repeated
def test_curator_fails_where_nothing_is_left(tmp_path, artifacts):
    cleaning = Cleaning(steps=(LengthStep(kind="length", min_words=1000),))
    with pytest.raises(EmptyCorpusError, match=r"length .*60 .*'text'") as caught:
        run(curator(cleaning), {"documents": artifacts["raw"]}, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")  # As TFX does when a component fails.
    assert json.loads(pathlib.Path(str(caught.value).split("Kept: ")[1]).read_text())["funnel"]


def test_tokenizer_gen_stamps_the_digest(artifacts):
    digest = artifacts["tokenizer"].get_string_custom_property("digest")
    tokenizer = load_tokenizer(artifacts["tokenizer"].uri, expected_digest=digest)
    assert "whale" in tokenizer.get_vocabulary()


def test_sequence_gen_writes_rows_with_their_tokenizer(artifacts):
    rows = artifacts["rows"]
    digest = rows.get_string_custom_property("tokenizer_digest")
    assert digest == artifacts["tokenizer"].get_string_custom_property("digest")
    load_tokenizer(f"{rows.uri}/tokenizer", expected_digest=digest)
    assert artifact_utils.decode_split_names(rows.split_names) == ["train", "eval"]
    with open(f"{rows.uri}/sequence_counts.json") as file:
        counts = json.load(file)
    for split in ("train", "eval"):
        files = tf.io.gfile.glob(f"{rows.uri}/Split-{split}/*")
        assert files
        assert len(read_records(f"{rows.uri}/Split-{split}/*")) == counts[split]["rows"] > 0


def test_sequence_gen_mixes_sources(tmp_path, artifacts):
    mixture = ProportionalMixture(kind="proportional", on_exhausted="renormalize", total=500)
    component = sequence_gen(mixture=mixture, sources=["text", "jsonl", "empty"])
    inputs = {"documents": artifacts["curated"], "tokenizer": artifacts["tokenizer"]}
    rows = run(component, inputs, tmp_path)["examples"]
    with open(f"{rows.uri}/mixture_report.json") as file:
        report = json.load(file)
    assert [row["source"] for row in report["sources"]] == ["text", "jsonl", "empty"]
    examples = read_records(f"{artifacts['curated'].uri}/Split-train/*")
    texts = [Document.from_example(each).text for each in examples]
    # The mixture takes whole documents.
    largest = max(map(len, load_tokenizer(artifacts["tokenizer"].uri).tokenize(texts)))
    assert report["sources"][2]["exhausted"] and abs(report["total"] - 500) <= largest < 400


def test_sequence_gen_refuses_another_tokenizer(tmp_path, artifacts):
    other = Tokenizer()
    other.uri = artifacts["tokenizer"].uri
    other.set_string_custom_property("digest", "0" * 64)
    with pytest.raises(TokenizerMismatchError):
        run(sequence_gen(), {"documents": artifacts["curated"], "tokenizer": other}, tmp_path)


def stock_examples(folder, records, splits=("train", "eval"), name="data_tfrecord-00000-of-00001.gz"):
    """Examples as a component of TFX writes them: `records` are the features of each, by name."""
    artifact = standard_artifacts.Examples()
    artifact.uri, artifact.split_names = str(folder), artifact_utils.encode_split_names(list(splits))
    for number, split in enumerate(splits):
        (folder / f"Split-{split}").mkdir(parents=True)
        options = tf.io.TFRecordOptions(compression_type="GZIP" if name.endswith(".gz") else "")
        with tf.io.TFRecordWriter(str(folder / f"Split-{split}" / name), options) as file:
            for record in records[number :: len(splits)]:
                example = tf.train.Example()
                for key, value in record.items():
                    feature = example.features.feature[key]
                    if isinstance(value, int):
                        feature.int64_list.value.append(value)
                    elif value is not None:
                        feature.bytes_list.value.append(value.encode())
                file.write(example.SerializeToString())
    return artifact


def table_of(count, source="table"):
    """Rows as CsvExampleGen reads them: numbers are integers, and an empty cell has no value."""
    return [
        {
            "id": n if source == "table" else f"{source}-{n}",
            "text": f"the {source} sat {n} times",
            "source": source,
            "licence": "CC0",
            "uri": None,
        }
        for n in range(count)
    ]


def run_all(component, inputs, folder):
    """Runs an executor with inputs of several artifacts."""
    outputs = {name: [made.type()] for name, made in component.outputs.items()}
    for name, (artifact,) in outputs.items():
        artifact.uri = str(folder / name)
        os.makedirs(artifact.uri)
    context = BaseBeamExecutor.Context(tmp_dir=str(folder / "temporary"), unique_id="1")
    component.EXECUTOR_SPEC.executor_class(context).Do(inputs, outputs, component.exec_properties)
    return {name: artifact for name, (artifact,) in outputs.items()}


@pytest.mark.repeated
def test_a_curator_continues_with_the_results_that_another_run_has_left(tmp_path, monkeypatch):
    inputs = {
        "documents": [stock_examples(tmp_path / name, table_of(20, name)) for name in ("table", "other")]
    }

    def fail(*_):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="the disk is full"):
        patch.setattr("firth.corpus.curation.curate._write_group", fail)
        run_all(curator(), inputs, tmp_path / "first")
    made = run_all(curator(), inputs, tmp_path / "second")
    report = json.loads(pathlib.Path(made["report"].uri, "corpus_report.json").read_text())
    assert report["continued_files"] == 4  # Two splits of each.
    assert not list(tmp_path.rglob("cleaned_files"))


def test_examples_of_other_components_of_several_splits_and_artifacts_are_read(tmp_path):
    table = stock_examples(tmp_path / "table", table_of(20))
    name = "transformed_examples-00000-of-00001.gz"
    other = stock_examples(tmp_path / "other", table_of(10, "other"), ["train"], name)
    made = run_all(curator(), {"documents": [table, other]}, tmp_path / "curated")
    report = json.loads(pathlib.Path(made["report"].uri, "corpus_report.json").read_text())
    assert sum(row["documents"] for row in report["splits"]) == 30
    assert {row["source"] for row in report["splits"]} == {"table", "other"}
    config = WordPieceTokenizerConfig(vocabulary_size=80, min_frequency=1)
    inputs = {"examples": [table, other]}
    component = TokenizerGen(examples=channel(standard_artifacts.Examples), tokenizer=config)
    pieces = run_all(component, inputs, tmp_path / "pieces")["tokenizer"]
    rows = run_all(sequence_gen(), {"documents": [table, other], "tokenizer": [pieces]}, tmp_path / "rows")[
        "examples"
    ]
    counts = json.loads(pathlib.Path(rows.uri, "sequence_counts.json").read_text())
    assert artifact_utils.decode_split_names(rows.split_names) == ["train", "eval"]
    assert counts["train"]["documents"] == 20 and counts["eval"]["documents"] == 10


def test_features_that_a_document_lacks_are_named(tmp_path):
    records = [{"id": 1, "txt": "the cat", "source": "table"}]
    table = stock_examples(tmp_path / "table", records, ["train"])
    with pytest.raises(Exception, match=r"no text, licence, uri, only \['id', 'source', 'txt'\]"):
        run_all(curator(), {"documents": [table]}, tmp_path / "curated")
    with pytest.raises(ValueError, match="no split 'train', only eval"):
        evaluated = stock_examples(tmp_path / "evaluated", table_of(2), ["eval"])
        inputs = {"documents": [evaluated], "tokenizer": [Tokenizer()]}
        run_all(sequence_gen(), inputs, tmp_path / "rows")
    with pytest.raises(ValueError, match="the input has no examples"):
        run_all(curator(), {"documents": []}, tmp_path / "nothing")


@pytest.mark.parametrize(("component", "name"), [
    (ObjectiveValidator, "examples"), (CorpusExporter, "documents"), (CorpusReporter, "report"),
])  # fmt: skip
def test_an_input_that_takes_one_artifact_refuses_several_by_its_name(component, name):
    two = [standard_artifacts.Examples(), standard_artifacts.Examples()]
    two[0].uri, two[1].uri = "/first", "/second"
    executor = component.EXECUTOR_SPEC.executor_class(BaseBeamExecutor.Context())
    properties = {"cleaning": CLEANING.to_json(), "name": "corpus"}
    with pytest.raises(ValueError, match=f"^{name}: .*2 came in: /first, /second"):
        executor.Do({name: two}, {}, properties)
    with pytest.raises(ValueError, match=f"^{name}: .*none"):
        executor.Do({name: []}, {}, properties)
