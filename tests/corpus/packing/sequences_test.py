import collections
import json

import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.corpus import (
    SPLITS,
    Document,
    EmptyCorpusError,
    count_corpus_words,
    make_sequences,
    train_tokenizer,
)
from firth.corpus.io.records import write_records
from firth.recipes.corpus.mixture import WeightedMixture
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from firth.tokenizers import load_tokenizer
from tests.corpus.helpers import CLEANING, clean, document, make_pipeline, make_pipeline_of_two, read_records

SEQUENCES = Sequences(length=24, max_documents=3, shards=4)


@pytest.fixture(scope="module")
def splits(tmp_path_factory, documents):
    """A folder with cleaned splits and a tokenizer."""
    folder = tmp_path_factory.mktemp("cleaned")
    # A document of which the tokenizer makes nothing: zero width spaces are not control characters.
    clean(folder, [*documents, document("\u200b \u200b", "blank")], CLEANING)
    config = WordPieceTokenizerConfig(vocabulary_size=80, min_frequency=1)
    counts = count_corpus_words(make_pipeline, f"{folder}/train/*", config, str(folder))
    train_tokenizer(counts, config, f"{folder}/tokenizer")
    (folder / "counts.json").write_text(json.dumps(counts))
    return folder


def pack_to(folder, splits, pipeline=make_pipeline, sequences=SEQUENCES, **mixture) -> dict:
    return make_sequences(
        pipeline,
        {split: f"{splits}/{split}/*" for split in SPLITS},
        f"{splits}/tokenizer",
        sequences,
        3,
        sequences.length - 3,
        {split: f"{folder}/{split}" for split in SPLITS},
        str(folder),
        **mixture,
    )


def parse(record: bytes) -> dict[str, list]:
    fields = tf.train.Example.FromString(record).features.feature
    return {name: list(each.int64_list.value or each.bytes_list.value) for name, each in fields.items()}


@pytest.fixture(scope="module")
def packed(tmp_path_factory, splits):
    folder = tmp_path_factory.mktemp("packed")
    return folder, pack_to(folder, splits)


def test_word_counts_are_those_of_the_train_split(splits):
    texts = [Document.from_example(each).text for each in read_records(f"{splits}/train/*")]
    whales = sum(text.split().count("whale") for text in texts)
    assert json.loads((splits / "counts.json").read_text())["whale"] == whales > 0


def test_all_tokens_of_all_documents_are_in_the_rows(splits, packed):
    folder, counts = packed
    tokenizer = load_tokenizer(f"{splits}/tokenizer")
    for split in SPLITS:
        documents = [Document.from_example(each) for each in read_records(f"{splits}/{split}/*")]
        expected = tokenizer.tokenize([each.text for each in documents]).to_list()
        rows = [parse(each) for each in read_records(f"{folder}/{split}/*")]
        found = collections.Counter(token for row in rows for token in row["tokens"])
        assert found == collections.Counter(token for tokens in expected for token in tokens)
        assert counts[split]["tokens"] == found.total()
        of_source = {
            source: sum(len(row["tokens"]) for row in rows if row["source"] == [source.encode()])
            for source in ("books", "web")
        }
        assert counts[split]["sources"] == of_source and min(of_source.values()) > 0
        assert counts[split]["documents"] == len(documents)
        assert counts[split]["rows"] == len(rows) == len({row["example_id"][0] for row in rows})
        assert counts[split]["empty_documents"] == sum(not tokens for tokens in expected)


def test_rows_keep_to_their_specs(splits, packed):
    folder, _ = packed
    starts = load_tokenizer(f"{splits}/tokenizer").word_start_table
    specs = features.row_specs(SEQUENCES.length - 3, SEQUENCES.max_documents)
    rows = [parse(record) for record in read_records(f"{folder}/*/*.gz")]
    assert rows
    for row in rows:
        for name, spec in specs.items():
            assert len(row[name]) <= (spec.shape or (1,))[0]
        assert all(0 <= each < 2**63 for each in row["document_keys"] + row["example_id"])
        assert row["source"][0] in (b"books", b"web")
        assert row["word_starts"] == starts[row["tokens"]].astype(int).tolist()
        assert np.all(np.array(row["sentence_starts"]) <= np.array(row["word_starts"]))
        assert sum(row["chunk_lengths"]) == len(row["tokens"])


def test_rows_of_the_eval_split_have_negatives_of_other_documents(packed):
    folder, counts = packed
    rows = [parse(each) for each in read_records(f"{folder}/eval/*")]
    assert counts["eval"]["rows_without_negative"] == 0
    all_keys = {tuple(row["document_keys"]) for row in rows}
    for row in rows:
        assert tuple(row["negative_document_keys"]) in all_keys
        assert not set(row["document_keys"]) & set(row["negative_document_keys"])
        assert (
            len(row["negative_tokens"])
            == len(row["negative_word_starts"])
            == sum(row["negative_chunk_lengths"])
        )
    assert "negative_tokens" not in parse(read_records(f"{folder}/train/*")[0])


def test_files_are_the_same_on_any_number_of_workers(tmp_path, splits, packed):
    folder, counts = packed
    # A run that was cut short left this.
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "left").write_bytes(b"?")
    assert pack_to(tmp_path, splits, make_pipeline_of_two) == counts
    assert {path.name for path in tmp_path.iterdir()} == {*SPLITS, "sequence_counts.json"}
    names = sorted(path.relative_to(folder) for path in folder.rglob("*.gz"))
    assert names == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.gz"))
    for name in names:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


MIXTURE = WeightedMixture(kind="weights", weights={"books": 1.0, "web": 1.0, "docs": 0.0})
MIXED = {"mixture": MIXTURE, "sources": ["books", "web", "docs"]}


@pytest.mark.repeated
def test_a_mixture_is_in_the_rows_of_train(tmp_path, splits, packed):
    folder, before = packed
    counts = pack_to(tmp_path / "1", splits, make_pipeline_of_two, **MIXED)
    tokens: collections.Counter = collections.Counter()
    rows = [parse(each) for each in read_records(f"{tmp_path}/1/train/*")]
    for row in rows:
        tokens[row["source"][0].decode()] += len(row["tokens"])
    report = json.loads((tmp_path / "1" / "mixture_report.json").read_text())
    assert {row["source"]: row["tokens"] for row in report["sources"]} == {**tokens, "docs": 0}
    assert report["total"] == tokens.total() and abs(tokens["web"] - tokens["books"]) < 40
    assert len({row["example_id"][0] for row in rows}) == len(rows)
    assert counts["train"]["repeated_documents"] > 0
    assert counts["train"]["documents"] == (
        before["train"]["documents"]
        + counts["train"]["repeated_documents"]
        - counts["train"]["left_out_documents"]
    )
    assert counts["eval"] == before["eval"]
    for path in (folder / "eval").iterdir():
        assert path.read_bytes() == (tmp_path / "1" / "eval" / path.name).read_bytes()


# `test_files_are_the_same_on_any_number_of_workers` has no mixture, and `mixing_test` the mixture alone.
@pytest.mark.repeated
def test_files_of_a_mixture_are_the_same_on_any_number_of_workers(tmp_path, splits):
    counts = pack_to(tmp_path / "1", splits, **MIXED)
    assert pack_to(tmp_path / "2", splits, make_pipeline_of_two, **MIXED) == counts
    for name in sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.*")):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_split_without_tokens_is_an_error(tmp_path, splits):
    for split in SPLITS:
        write_records(f"{tmp_path}/{split}", 0, 1, [document("\u200b").to_example()])
    tf.io.gfile.makedirs(f"{tmp_path}/tokenizer")
    for path in (splits / "tokenizer").iterdir():
        tf.io.gfile.copy(str(path), f"{tmp_path}/tokenizer/{path.name}")
    with pytest.raises(EmptyCorpusError, match=r"train .*1 of its 1"):
        pack_to(tmp_path / "out", tmp_path)
