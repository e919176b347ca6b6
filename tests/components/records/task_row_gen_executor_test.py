"""TaskRowGen on small files of labelled records, as TFX runs it."""

import json
import pathlib
import random

import pytest
import tensorflow as tf
from tfx.dsl.components.base.base_executor import BaseExecutor
from tfx.types import artifact_utils, channel_utils, standard_artifacts

from firth import storage
from firth.components import TaskRowGen
from firth.corpus.decontamination.evidence import CorpusEvidence, list_found_ngrams, write_evidence
from firth.corpus.documents.example import FeatureError
from firth.corpus.io.records import write_records
from firth.recipes.reading.bundles import NoBundleError, digest_of_bundle
from firth.recipes.tasks.classification import Classification
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.labelled.examples import to_example
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_rows import TaskRowsError
from firth.tasks.texts import key_of
from firth.tokenizers import load_tokenizer
from tests.corpus.decontamination.made_evidence import found_ngrams
from tests.corpus.helpers import read_records
from tests.training.artifacts import write_bundle

TASK = Classification(labels=("no", "yes"), pair=True)
SEQUENCES = Sequences(length=24, max_documents=4, shards=3)
ROOM = SEQUENCES.length - TASK.special_tokens


def make_record(number):
    generator = random.Random(number)
    first, second = (
        " ".join(f"w{generator.randrange(40)}" for _ in range(generator.randint(1, 14))) for _ in range(2)
    )
    return LabelledRecord(f"r{number}", {"text": first, "pair": second}, ("no", "yes")[number % 2], "", 0)


RECORDS = [make_record(number) for number in range(40)]
EVAL = [make_record(number) for number in range(40, 50)]
# One text of the last record has nothing that a tokenizer keeps.
EMPTY = LabelledRecord("r99", {"text": "w1", "pair": " \u200b "}, "no", "", 0)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    artifact = standard_artifacts.Model()
    artifact.uri = write_bundle(tmp_path_factory.mktemp("base") / "bundle")
    artifact.set_string_custom_property("digest", digest_of_bundle(artifact.uri))
    return artifact


def run(folder, base, train, eval_=tuple(EVAL), files=1, task=TASK):
    """Runs the executor on records with the source that each has in its id."""
    records = standard_artifacts.Examples()
    records.uri = str(folder / "records")
    records.split_names = artifact_utils.encode_split_names(["train", "eval"])
    for split, members in (("train", train), ("eval", eval_)):
        for number in range(files):
            part = [to_example(each, "web") for each in members[number::files]]
            write_records(artifact_utils.get_split_uri([records], split), number, files, part)
    component = TaskRowGen(
        channel_utils.as_channel([records]), channel_utils.as_channel([base]), task, SEQUENCES
    )
    examples = standard_artifacts.Examples()
    examples.uri = str(folder / "TaskRowGen" / "examples" / "7")
    component.EXECUTOR_SPEC.executor_class(BaseExecutor.Context(tmp_dir=str(folder), unique_id="1")).Do(
        {"records": [records], "base": [base]}, {"examples": [examples]}, component.exec_properties
    )
    return examples


@pytest.fixture(scope="module")
def examples(base, tmp_path_factory):
    return run(tmp_path_factory.mktemp("run"), base, [*RECORDS, EMPTY])


def rows_of(examples, split):
    found = read_records(f"{artifact_utils.get_split_uri([examples], split)}/*")
    return [tf.train.Example.FromString(each).features.feature for each in found]


def records_in(rows):
    """Yields the tokens of both texts, and the label, of each record."""
    for row in rows:
        tokens, lengths = list(row["tokens"].int64_list.value), list(row["chunk_lengths"].int64_list.value)
        for place, label in enumerate(row["record_labels"].int64_list.value):
            start = sum(lengths[: 2 * place])
            middle, end = start + lengths[2 * place], start + lengths[2 * place] + lengths[2 * place + 1]
            yield tuple(tokens[start:middle]), tuple(tokens[middle:end]), label


def test_rows_hold_the_records_of_their_split_with_their_labels(examples):
    tokenizer = load_tokenizer(f"{examples.uri}/tokenizer")
    for split, records in (("train", RECORDS), ("eval", EVAL)):
        wanted = []
        for record in records:
            first, second = (tokenizer.tokenize(record.texts[role]).numpy().tolist() for role in TASK.roles)
            while len(first) + len(second) > ROOM:
                (first if len(first) > len(second) else second).pop()
            wanted.append((tuple(first), tuple(second), TASK.labels.index(record.label)))
        assert sorted(records_in(rows_of(examples, split))) == sorted(wanted)


def test_what_is_cut_and_rejected_is_reported(examples):
    report = json.loads(pathlib.Path(examples.uri, "report.json").read_text())["splits"]
    for split, records in (("train", RECORDS), ("eval", EVAL)):
        sizes = [sum(len(text.split()) for text in record.texts.values()) for record in records]
        found = report[split]
        assert found["records"] == len(records)
        assert found["records_cut"] == sum(size > ROOM for size in sizes)
        assert found["tokens_cut"] == sum(max(size - ROOM, 0) for size in sizes)
        assert found["tokens"] == sum(sizes) - found["tokens_cut"]
        assert found["rows"] == len(rows_of(examples, split))
    assert report["train"]["records_cut"] > 0
    assert report["train"]["read"] == len(RECORDS) + 1 and report["eval"]["rejected"] == {}
    assert report["train"]["rejected"] == {"no_tokens": 1}
    assert report["train"]["first_rejected"] == [{"source": "web", "id": "r99", "reason": "no_tokens"}]


def test_the_artifact_says_what_it_holds(examples, base):
    assert artifact_utils.decode_split_names(examples.split_names) == ["train", "eval"]
    assert examples.get_string_custom_property("payload_format") == "FORMAT_TF_EXAMPLE"
    digest = load_tokenizer(f"{base.uri}/tokenizer").digest
    assert examples.get_string_custom_property("tokenizer_digest") == digest
    assert {tuple(row["source"].bytes_list.value) for row in rows_of(examples, "eval")} == {(b"web",)}
    files = storage.list_folder(artifact_utils.get_split_uri([examples], "train"))
    assert len(files) == SEQUENCES.shards


def test_the_order_and_number_of_files_do_not_matter(examples, base, tmp_path):
    again = run(tmp_path, base, random.Random(1).sample([*RECORDS, EMPTY], 41), files=4)
    for split in ("train", "eval"):
        first, second = (
            {path.name: path.read_bytes() for path in pathlib.Path(each.uri, f"Split-{split}").iterdir()}
            for each in (examples, again)
        )
        assert first == second


def test_a_split_without_rows_is_refused_and_its_report_is_kept(base, tmp_path):
    with pytest.raises(TaskRowsError, match=r"'eval' .*report\.json"):
        run(tmp_path, base, RECORDS, (EMPTY,))
    report = json.loads((tmp_path / "TaskRowGen/failed/examples/7/report.json").read_text())["splits"]
    assert report["eval"]["rejected"] == {"no_tokens": 1}


def test_a_record_that_stands_twice_is_refused(base, tmp_path):
    with pytest.raises(TaskRowsError, match=r"'r0' .*'web' .*'r0' .*'web'"):
        run(tmp_path, base, [*RECORDS, RECORDS[0]])


def test_another_bundle_in_the_place_of_the_base_is_refused(base, tmp_path):
    other = standard_artifacts.Model()
    other.uri = base.uri
    other.set_string_custom_property("digest", "0" * 64)
    with pytest.raises(NoBundleError, match="not the bundle"):
        run(tmp_path, other, RECORDS)


def test_held_out_records_that_the_base_has_seen_are_marked_in_their_rows(base, examples, tmp_path):
    """Of columns in the other order, and of a text that is a part of a longer one."""
    texts = [f"{each.texts['pair']} {each.texts['text']}" for each in EVAL]
    long = [place for place, each in enumerate(EVAL) if len(each.texts["text"].split()) >= 5]
    seen, other = long[:2], next(place for place in range(10) if place not in long[:2])
    corpus = [f"w0 {EVAL[place].texts['text']} w1" for place in seen]
    found_ngrams([each for each in texts if each != texts[other]], corpus, 5).save(tmp_path)
    known = standard_artifacts.Model()
    known.uri = str(tmp_path / "bundle")
    storage.copy_folder(base.uri, known.uri)
    write_evidence(known.uri, [CorpusEvidence("mine", list_found_ngrams(tmp_path))])
    made = run(tmp_path, known, [*RECORDS, *(EVAL[place] for place in seen)])
    marked = [each for row in rows_of(made, "eval") for each in row["found_keys"].int64_list.value]
    assert sorted(marked) == sorted(key_of(EVAL[place].id) for place in seen)
    assert not any(row["found_keys"].int64_list.value for row in rows_of(made, "train"))
    report = json.loads(pathlib.Path(made.uri, "report.json").read_text())["contamination"]
    assert (report["records"], report["found"]) == (10, 2) and report["corpora"][0]["model"] == "mine"
    assert json.loads(pathlib.Path(examples.uri, "report.json").read_text())["contamination"] == {}


def test_records_of_csv_example_gen_are_read_and_what_they_lack_is_named(base, tmp_path):
    """Their ids and classes are numbers, and features of no meaning here are left alone."""
    task = TASK.model_copy(update={"labels": ("0", "1")})

    def examples_of(name, record):
        folder = tmp_path / name
        artifact = standard_artifacts.Examples()
        artifact.uri, artifact.split_names = str(folder), artifact_utils.encode_split_names(["train"])
        made = []
        for number in range(6):
            example = tf.train.Example()
            for key, value in record(number).items():
                kind = "int64_list" if isinstance(value, int) else "bytes_list"
                values = getattr(example.features.feature[key], kind).value
                values.append(value if isinstance(value, int) else value.encode())
            made.append(example.SerializeToString())
        write_records(str(folder / "Split-train"), 0, 1, made)
        return artifact

    def rows(name, record, *more):
        component = TaskRowGen(
            channel_utils.as_channel([standard_artifacts.Examples()]),
            channel_utils.as_channel([base]),
            task,
            SEQUENCES,
        )
        examples = standard_artifacts.Examples()
        examples.uri = str(tmp_path / f"{name} rows")
        inputs = {"records": [examples_of(name, record), *more], "base": [base]}
        context = BaseExecutor.Context(tmp_dir=str(tmp_path), unique_id="1")
        component.EXECUTOR_SPEC.executor_class(context).Do(
            inputs, {"examples": [examples]}, component.exec_properties
        )
        return list(records_in(rows_of(examples, "train")))

    def record(number):
        texts = {"text": f"w{number} w1", "pair": "w2"}
        return {"id": number, "source": "table", **texts, "label": number % 2, "other": 7}

    other = examples_of("other", lambda number: {**record(number), "id": f"o{number}"})
    found = rows("table", record, other)
    assert len(found) == 12 and sorted(label for *_, label in found) == [0] * 6 + [1] * 6
    with pytest.raises(FeatureError, match=r"no id, text \(text or pair.*only \['label', 'source', 'txet'\]"):
        rows("lacking", lambda number: {"source": "table", "txet": "w1", "label": 1})
    with pytest.raises(ValueError, match=r"label: 7 is not a class.*0, 1"):
        rows("class", lambda number: {**record(number), "label": 7})
