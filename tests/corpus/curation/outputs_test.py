"""Documents in the formats of others: what is in the files, how many, and when a folder is whole."""

import dataclasses
import itertools
import json
import typing

import pytest
from pyarrow import dataset, parquet

from firth import storage
from firth.corpus import CountMismatchError, EmptyCorpusError, write_outputs
from firth.corpus.curation import outputs as module
from firth.corpus.curation.outputs import FIELDS, OUTPUTS
from firth.corpus.io.records import write_records
from firth.recipes.corpus.outputs import AnyOutput, JsonlOutput, ParquetOutput, outputs_from_json
from firth.recipes.corpus.sources import JsonlSource, ParquetSource
from tests.corpus.helpers import document, make_pipeline, make_pipeline_of_two
from tests.corpus.readers.reading import read

# What a line of JSON must not end at, and what no encoding but UTF-8 has.
ODD = 'One\u2028two\u0085three\x0bfour \N{PILE OF POO}\r\n\t"quoted" \\ \x00 end'
FILES = {"train": 5, "eval": 1}
EVERY = [
    ParquetOutput(kind="parquet", shard_bytes=1),
    ParquetOutput(kind="parquet", compression="none"),
    *(JsonlOutput(kind="jsonl", compression=each) for each in ("gzip", "zstd", "none")),
]
SOURCES = {"parquet": ParquetSource, "jsonl": JsonlSource}


def documents_of(split, number):
    texts = [f"{split} {number} {i} " + "whale " * i for i in range(7)]
    found = [document(text, f"https://a.org/{split}/{number}/{i}") for i, text in enumerate(texts)]
    return [*found, document(ODD, f"{split}{number}.txt", "books", "public domain")]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The files of both splits: patterns, documents, and numbers of documents."""
    folder = tmp_path_factory.mktemp("corpus")
    documents = {split: [] for split in FILES}
    for split, count in FILES.items():
        for number in range(count):
            part = documents_of(split, number)
            write_records(f"{folder}/{split}", number, count, [each.to_example() for each in part])
            documents[split] += part
    patterns = {split: f"{folder}/{split}/*" for split in FILES}
    return patterns, documents, {split: len(each) for split, each in documents.items()}


def contents(folder):
    return {name: (folder / name).read_bytes() for name in storage.files_below(folder)}


def test_each_kind_is_in_the_table():
    types = typing.get_args(typing.get_args(AnyOutput)[0])
    assert {typing.get_args(each.model_fields["kind"].annotation)[0] for each in types} == set(OUTPUTS)


@pytest.mark.parametrize("outputs", [EVERY[0:4:2], EVERY[1:4:2], EVERY[4:]])
def test_what_is_written_is_read_by_the_source_of_the_same_kind(tmp_path, corpus, outputs):
    patterns, documents, counts = corpus
    sizes = write_outputs(make_pipeline, patterns, outputs, str(tmp_path), counts)
    for output, split in itertools.product(outputs, FILES):
        assert {part: each["documents"] for part, each in sizes[output.kind].items()} == counts
        storage.check_whole(tmp_path / output.kind)
        assert storage.is_unchanged(tmp_path / output.kind)
        keys = {"id_key": "id", "uri_key": "provenance", "licence_key": "licence"}
        paths = (f"{tmp_path}/{output.kind}/{split}/{split}-*{output.file_ending}",)
        again = read(SOURCES[output.kind](kind=output.kind, paths=paths, **keys))
        assert [(each.text, each.uri, each.licence) for each in again] == [
            (each.text, each.uri, each.licence) for each in documents[split]
        ]


def test_the_columns_are_those_of_the_documentation(tmp_path, corpus):
    patterns, documents, counts = corpus
    write_outputs(make_pipeline, patterns, EVERY[1:3], str(tmp_path), counts)
    table = dataset.dataset(tmp_path / "parquet", exclude_invalid_files=True).to_table()
    assert table.column_names == list(FIELDS) and table.num_rows == sum(counts.values())
    (path,) = (tmp_path / "parquet" / "eval").iterdir()
    schema = parquet.read_schema(path)
    assert {str(each.type) for each in schema} == {"string"}
    assert [each.name for each in schema if each.nullable] == ["url"]
    rows = parquet.read_table(path).to_pylist()
    for row, each in zip(rows, documents["eval"], strict=True):
        is_page = each.uri.startswith("https://")
        assert row == {
            "text": each.text,
            "id": each.id,
            "source": each.source,
            "url": each.uri if is_page else None,
            "licence": each.licence,
            "provenance": each.uri,
            "split": "eval",
        }


def test_metadata_is_a_column_of_a_corpus_that_keeps_it(tmp_path):
    stated = ['{"stars": 5, "of": {"who": ["Ä"]}}', ""]
    kept = [
        dataclasses.replace(document(f"Text {i}.", f"{i}"), metadata=each) for i, each in enumerate(stated)
    ]
    write_records(f"{tmp_path}/train", 0, 1, [each.to_example() for each in kept])
    outputs = [ParquetOutput(kind="parquet"), JsonlOutput(kind="jsonl", compression="none")]
    folder = str(tmp_path / "out")
    write_outputs(make_pipeline, {"train": f"{tmp_path}/train/*"}, outputs, folder, {"train": 2}, True)
    table = dataset.dataset(f"{folder}/parquet", exclude_invalid_files=True).to_table()
    assert table.column_names == [*FIELDS, "metadata"]
    assert table["metadata"].to_pylist() == [stated[0], None]
    (path,) = storage.glob(f"{folder}/jsonl/train/*")
    lines = [json.loads(line)["metadata"] for line in storage.read_text(path).splitlines()]
    assert lines == [json.loads(stated[0]), None]


def test_files_end_at_the_size_that_is_asked_for(tmp_path, corpus):
    patterns, _, counts = corpus
    size = storage.size_of(storage.glob(patterns["train"])[0])
    for name, shard_bytes, files in (("a", 1, 5), ("b", size + 1, 3), ("c", 2**30, 1)):
        outputs = [JsonlOutput(kind="jsonl", shard_bytes=shard_bytes)]
        sizes = write_outputs(make_pipeline, patterns, outputs, str(tmp_path / name), counts)
        assert sizes["jsonl"]["train"]["files"] == files
        names = storage.list_folder(tmp_path / name / "jsonl" / "train")
        assert names == [f"train-{i:05d}-of-{files:05d}.jsonl.gz" for i in range(files)]
        assert storage.read_json(tmp_path / name / "outputs.json") == sizes


@pytest.mark.repeated
def test_workers_change_no_byte(tmp_path, corpus):
    patterns, _, counts = corpus
    outputs = [ParquetOutput(kind="parquet", shard_bytes=1), JsonlOutput(kind="jsonl", shard_bytes=1)]
    for name, pipeline in (("one", make_pipeline), ("two", make_pipeline_of_two)):
        write_outputs(pipeline, patterns, outputs, str(tmp_path / name), counts)
    found = contents(tmp_path / "one")
    assert len(found) == 2 * (5 + 1) + 3
    assert found == contents(tmp_path / "two")


def test_a_folder_that_was_cut_short_is_not_whole_and_is_written_anew(tmp_path, corpus, monkeypatch):
    patterns, _, counts = corpus

    def fail(output, file, documents, split):
        file.write(b"half")
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setitem(module.OUTPUTS, "jsonl", fail)
        with pytest.raises(Exception, match="the disk is full"):
            write_outputs(make_pipeline, patterns, [JsonlOutput(kind="jsonl")], str(tmp_path), counts)
    with pytest.raises(storage.NotWholeError):
        storage.check_whole(tmp_path / "jsonl")
    assert not any(b"half" in each for each in contents(tmp_path).values())
    (tmp_path / "jsonl" / "train").mkdir(parents=True, exist_ok=True)
    (tmp_path / "jsonl" / "train" / "train-00000-of-00099.jsonl.gz").write_bytes(b"left")
    write_outputs(make_pipeline, patterns, [JsonlOutput(kind="jsonl")], str(tmp_path), counts)
    storage.check_whole(tmp_path / "jsonl")
    assert storage.list_folder(tmp_path / "jsonl" / "train") == ["train-00000-of-00001.jsonl.gz"]


def test_lost_documents_are_an_error_before_the_marker(tmp_path, corpus):
    patterns, _, counts = corpus
    more = {**counts, "train": counts["train"] + 1}
    with pytest.raises(CountMismatchError, match=r"jsonl: 40 .*train .*41"):
        write_outputs(make_pipeline, patterns, [JsonlOutput(kind="jsonl")], str(tmp_path), more)
    assert not storage.is_whole(tmp_path / "jsonl")


def test_a_split_without_files_is_an_error(tmp_path):
    patterns = {"train": f"{tmp_path}/nothing/*"}
    with pytest.raises(EmptyCorpusError, match="train"):
        write_outputs(make_pipeline, patterns, [JsonlOutput(kind="jsonl")], str(tmp_path), {})


def test_a_kind_that_is_given_twice_or_misspelt_is_refused():
    twice = json.dumps([{"kind": "jsonl"}, {"kind": "jsonl", "compression": "zstd"}])
    with pytest.raises(ValueError, match=r"jsonl.* 2\b"):
        outputs_from_json(twice)
    with pytest.raises(ValueError, match="parquett"):
        outputs_from_json('[{"kind": "parquett"}]')
