import gzip
import os
import zlib

import numpy as np
import pytest

from firth import features, storage
from firth.recipes.tasks.classification import Classification
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.training.row_files import read_rows
from firth.training.rows import RowLimits, RowsError, RowsWriter
from tests.training.artifacts import (
    LENGTH,
    LIMITS,
    PAIRS,
    VOCABULARY,
    pair_row,
    raw_row,
    write_rows,
    write_split,
)


def test_rows_are_padded_and_in_the_order_of_their_ids(tmp_path):
    rows = read_rows(write_split(tmp_path, 7), tmp_path / "cache", LIMITS)
    expected = sorted((raw_row(index) for index in range(7)), key=lambda row: row[features.EXAMPLE_ID])
    assert len(rows) == 7
    taken = rows.take(np.arange(7))
    for name, spec in features.row_specs(LIMITS.raw_length, LIMITS.max_documents).items():
        assert taken[name].dtype == spec.dtype
        assert taken[name].shape == (7, *spec.shape)
        for values, row in zip(taken[name].reshape(7, -1).tolist(), expected):
            assert values[: len(row[name])] == row[name]
            assert not any(values[len(row[name]) :])


def test_the_digest_of_rows_without_labels_is_what_it_was(tmp_path):
    """Checkpoints are found by it."""
    rows = read_rows(write_split(tmp_path, 7), tmp_path / "cache", LIMITS)
    assert rows.digest == "ba4b38750a77d28e7ed0b1af8f655c70f3298b4aa4b5a5440359df076eedcc0a"


def test_records_are_read_with_their_labels(tmp_path):
    write_rows(tmp_path / "rows.gz", [pair_row(index) for index in range(9)])
    rows = read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", PAIRS)
    taken = rows.take(np.arange(9))
    assert {name: (each.dtype.name, each.shape[1:]) for name, each in taken.items()} == {
        name: (spec.dtype, spec.shape) for name, spec in PAIRS.specs.items()
    }
    assert taken["document_keys"].shape == (9, 6) and taken["record_labels"].dtype == np.float32
    for place, row in enumerate(pair_row(index) for index in reversed(range(9))):
        for name, values in row.items():
            found = taken[name][place].reshape(-1).tolist()
            assert found[: len(values)] == values and not any(found[len(values) :]), name


def test_the_digest_changes_with_a_label(tmp_path):
    digests = set()
    for label in (0.5, 0.75):
        row = pair_row(0)
        row["record_labels"][0] = label
        write_rows(tmp_path / "rows.gz", [row])
        digests.add(read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", PAIRS).digest)
    assert len(digests) == 2


def test_a_row_of_pairs_may_be_as_long_as_its_special_tokens_for_each_pair_allow(tmp_path):
    """24 tokens, of which each pair takes three."""
    long, short = [7] * 9, [1] + [0] * 8
    row = {
        **pair_row(0),
        "tokens": long * 2,
        "word_starts": short * 2,
        "sentence_starts": short * 2,
        "chunk_lengths": [8, 8, 1, 1],
        "document_keys": [3, 3, 4, 4],
        "record_labels": [0.5, 1.5],
    }
    write_rows(tmp_path / "rows.gz", [row])
    assert len(read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", PAIRS)) == 1


def test_labels_of_any_shape_are_read(tmp_path):
    """Some that are not in step with the records, several numbers each, and one of the whole row."""
    labels = {"spans": features.Spec("int32", (5, 2)), "score": features.Spec("float32", ())}
    limits = RowLimits({**LIMITS.specs, **labels}, 3, len(VOCABULARY))
    row = {**raw_row(0), "spans": [1, 2, 3, 4], "score": [2.5]}
    write_rows(tmp_path / "rows.gz", [row])
    taken = read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", limits).take(np.arange(1))
    assert taken["spans"].tolist() == [[[1, 2], [3, 4], [0, 0], [0, 0], [0, 0]]]
    assert taken["score"].tolist() == [2.5]
    write_rows(tmp_path / "rows.gz", [{**row, "spans": [1] * 12}])
    with pytest.raises(RowsError, match="record 0: spans"):
        read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", limits)


def test_access_is_random(tmp_path):
    rows = read_rows(write_split(tmp_path), tmp_path / "cache", LIMITS)
    every, some = rows.take(np.arange(30)), rows.take([29, 0, 7])
    for name in every:
        np.testing.assert_array_equal(some[name], every[name][[29, 0, 7]])


def test_shards_do_not_matter(tmp_path):
    one = read_rows(write_split(tmp_path / "a", shards=1), tmp_path / "cache", LIMITS)
    other = read_rows(write_split(tmp_path / "b", shards=3), tmp_path / "cache", LIMITS)
    assert one.digest == other.digest
    for name, values in one.take(np.arange(30)).items():
        np.testing.assert_array_equal(values, other.take(np.arange(30))[name])


def test_digest_changes_with_any_field(tmp_path):
    digests = set()
    for field in (
        None,
        features.RAW_TOKENS,
        features.WORD_STARTS,
        features.SENTENCE_STARTS,
        features.DOCUMENT_KEYS,
    ):
        row = raw_row(0)
        if field:
            row[field][-1] = 1 - row[field][-1] if "starts" in field else 44
        write_rows(tmp_path / "rows.gz", [row])
        digests.add(read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", LIMITS).digest)
    assert len(digests) == 5


def test_rows_are_converted_once_for_each_content(tmp_path):
    patterns, cache = write_split(tmp_path), tmp_path / "cache"
    read_rows(patterns, cache, LIMITS)
    (made,) = os.listdir(cache)
    before = os.stat(cache / made / "tokens.bin").st_mtime_ns
    assert len(read_rows(patterns, cache, LIMITS)) == 30
    assert os.stat(cache / made / "tokens.bin").st_mtime_ns == before
    write_rows(tmp_path / "Split-train" / "more.gz", [raw_row(99)])
    assert len(read_rows(patterns, cache, LIMITS)) == 31
    assert len(os.listdir(cache)) == 1
    assert os.listdir(cache) != [made]


def test_a_build_that_was_cut_short_is_made_anew(tmp_path):
    patterns, cache = write_split(tmp_path), tmp_path / "cache"
    read_rows(patterns, cache, LIMITS)
    (made,) = os.listdir(cache)
    unfinished = cache / f".{made}.{'0' * 32}"
    os.rename(cache / made, unfinished)
    os.remove(unfinished / "rows.json")
    assert len(read_rows(patterns, cache, LIMITS)) == 30
    assert os.listdir(cache) == [made]


def test_what_others_keep_in_the_folder_stays(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "folder").mkdir()
    read_rows(write_split(tmp_path / "rows"), tmp_path, LIMITS)
    assert {"notes.txt", "folder", "rows"} < set(os.listdir(tmp_path))


BAD: dict[str, dict[str, list[int]]] = {
    "holds no tokens": {"tokens": [], "word_starts": [], "sentence_starts": []},
    "word_starts is not as long as tokens": {"word_starts": [1]},
    "sentence_starts is not as long as tokens": {"sentence_starts": []},
    "document_keys is not as long as chunk_lengths": {"document_keys": [1]},
    "has more than 2 chunks": {"chunk_lengths": [1, 1, 1], "document_keys": [1, 1, 1]},
    "has a chunk of no tokens": {"chunk_lengths": [0, 1]},
    "chunk_lengths do not add up to its tokens": {"chunk_lengths": [1, 1]},
    "is longer than 24 tokens with its special ones": {
        "tokens": [7] * 22,
        "word_starts": [1] * 22,
        "sentence_starts": [1] * 22,
        "chunk_lengths": [11, 11],
    },
    "has token ids outside the vocabulary of 45 pieces": {
        "tokens": [7, 45],
        "word_starts": [1, 1],
        "sentence_starts": [1, 1],
        "chunk_lengths": [1, 1],
    },
}


@pytest.mark.parametrize("problem", BAD)
def test_malformed_row_is_named(tmp_path, problem):
    path = tmp_path / "rows.gz"
    write_rows(path, [raw_row(0), raw_row(1), {**raw_row(2), **BAD[problem]}, raw_row(3)])
    with pytest.raises(RowsError, match=f"rows.gz: record 2: {problem}"):
        read_rows([str(path)], tmp_path / "cache", LIMITS)
    assert os.listdir(tmp_path / "cache") == []


BAD_PAIRS: dict[str, dict[str, list]] = {
    "has more than 6 chunks": {"chunk_lengths": [1] * 8, "document_keys": [1] * 8},
    "has a document that is not 2 chunks": {"chunk_lengths": [1], "document_keys": [1]},
    "has a document of several keys": {"document_keys": [1, 2]},
    "record_labels is not as long as what it labels": {"record_labels": [0.5, 1.5]},
    "is longer than 24 tokens with its special ones": {
        "chunk_lengths": [11, 11],
        "tokens": [7] * 22,
        "word_starts": [1] * 22,
        "sentence_starts": [1] * 22,
    },
}


@pytest.mark.parametrize("problem", BAD_PAIRS)
def test_malformed_row_of_records_is_named(tmp_path, problem):
    one = {
        **pair_row(0),
        "tokens": [7, 8],
        "word_starts": [1, 1],
        "sentence_starts": [1, 1],
        "chunk_lengths": [1, 1],
        "document_keys": [9, 9],
        "record_labels": [0.5],
    }
    write_rows(tmp_path / "rows.gz", [pair_row(1), {**one, **BAD_PAIRS[problem]}])
    with pytest.raises(RowsError, match=f"rows.gz: record 1: {problem}"):
        read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", PAIRS)


def test_labels_of_another_type_are_refused(tmp_path):
    classes = RowLimits.of(
        Classification(pair=True), Sequences(length=LENGTH, max_documents=3), len(VOCABULARY), 0
    )
    write_rows(tmp_path / "rows.gz", [pair_row(1)])
    with pytest.raises(RowsError, match=r"cannot be read after record 0.*record_labels"):
        read_rows([str(tmp_path / "rows.gz")], tmp_path / "cache", classes)


def test_unreadable_files_are_named(tmp_path):
    no_id = raw_row(0)
    del no_id[features.EXAMPLE_ID]
    write_rows(tmp_path / "no_id.gz", [no_id])
    with gzip.open(tmp_path / "garbage.gz", "wb") as file:
        file.write(b"this is not a TFRecord, whatever its name says")
    (tmp_path / "plain.gz").write_bytes(b"nor is this gzipped")
    write_rows(tmp_path / "whole.gz", [raw_row(index) for index in range(50)])
    whole = (tmp_path / "whole.gz").read_bytes()
    (tmp_path / "short.gz").write_bytes(whole[: len(whole) // 2])
    for name, record in (("no_id.gz", 0), ("garbage.gz", 0), ("plain.gz", 0), ("short.gz", r"[1-9]\d*")):
        with pytest.raises(RowsError, match=f"{name}: cannot be read after record {record}: "):
            read_rows([str(tmp_path / name)], tmp_path / "cache", LIMITS)


@pytest.mark.parametrize("missing", [*range(1, 13), 100])
def test_a_truncated_file_is_refused(tmp_path, missing):
    write_rows(tmp_path / "whole.gz", [raw_row(index) for index in range(20)])
    data = (tmp_path / "whole.gz").read_bytes()
    (tmp_path / "short.gz").write_bytes(data[:-missing])
    with pytest.raises(RowsError, match=r"short\.gz: .* record \d+: "):
        read_rows([str(tmp_path / "short.gz")], tmp_path / "cache", LIMITS)
    assert os.listdir(tmp_path / "cache") == []


def test_a_file_that_ends_between_two_records_is_refused(tmp_path):
    for name, index in (("one", 0), ("other", 1)):
        write_rows(tmp_path / name / "rows.gz", [raw_row(index)])
    one, other = (gzip.decompress((tmp_path / name / "rows.gz").read_bytes()) for name in ("one", "other"))
    stream = zlib.compressobj(wbits=31)
    half = stream.compress(one) + stream.flush(zlib.Z_FULL_FLUSH)
    (tmp_path / "half.gz").write_bytes(half)
    with pytest.raises(RowsError, match=r"half.gz: cannot be read after record 1"):
        read_rows([str(tmp_path / "half.gz")], tmp_path / "cache", LIMITS)
    (tmp_path / "whole.gz").write_bytes(half + stream.compress(other) + stream.flush())
    assert len(read_rows([str(tmp_path / "whole.gz")], tmp_path / "cache", LIMITS)) == 2
    (tmp_path / "two.gz").write_bytes(gzip.compress(one) + gzip.compress(other))
    assert len(read_rows([str(tmp_path / "two.gz")], tmp_path / "cache", LIMITS)) == 2
    (tmp_path / "nothing.gz").write_bytes(b"")
    with pytest.raises(RowsError, match=r"nothing.gz: cannot be read after record 0"):
        read_rows([str(tmp_path / "nothing.gz")], tmp_path / "cache", LIMITS)


def test_files_are_closed_when_a_row_is_refused(tmp_path, monkeypatch):
    """Else each is closed by the interpreter, which prints a traceback of its own where the disk is full."""
    path, opened = tmp_path / "rows.gz", []

    def listed(*arguments):
        opened.append(open(*arguments))  # noqa: SIM115
        return opened[-1]

    monkeypatch.setattr("firth.training.rows.open", listed, raising=False)
    write_rows(path, [raw_row(0), raw_row(0)])
    with pytest.raises(RowsError, match="more than once"):
        read_rows([str(path)], tmp_path / "cache", LIMITS)
    count = len(opened)
    write_rows(path, [{**raw_row(0), features.RAW_TOKENS: []}])
    with pytest.raises(RowsError, match="holds no tokens"):
        read_rows([str(path)], tmp_path / "cache", LIMITS)
    assert 0 < count < len(opened) and all(each.closed for each in opened)


def test_a_full_disk_is_told_once(tmp_path):
    """A close that fails too does not hide what failed first."""
    specs = features.row_specs(LIMITS.raw_length, LIMITS.max_documents)
    for name in specs:
        (tmp_path / f"{name}.bin").symlink_to("/dev/full")
    block = {name: np.zeros((1, *spec.shape), spec.dtype) for name, spec in specs.items()}
    with pytest.raises(KeyError, match="the first"), RowsWriter(str(tmp_path), specs) as writer:
        writer.append(block)
        raise KeyError("the first")
    with pytest.raises(OSError, match="No space left"), RowsWriter(str(tmp_path), specs) as writer:
        writer.append(block)


def test_nothing_to_read_and_repeated_ids_are_refused(tmp_path):
    cache = tmp_path / "cache"
    with pytest.raises(RowsError, match=r"no file matches .*nowhere"):
        read_rows([str(tmp_path / "nowhere" / "*")], cache, LIMITS)
    write_rows(tmp_path / "empty.gz", [])
    with pytest.raises(RowsError, match="holds no rows"):
        read_rows([str(tmp_path / "empty.gz")], cache, LIMITS)
    write_rows(tmp_path / "twice.gz", [raw_row(1), raw_row(0), raw_row(1)])
    with pytest.raises(RowsError, match=f"example id {raw_row(1)['example_id'][0]} occurs more than once"):
        read_rows([str(tmp_path / "twice.gz")], cache, LIMITS)


def test_rows_are_kept_on_this_machine_where_the_cache_is_not(tmp_path):
    patterns = write_split(tmp_path)
    expected = read_rows(patterns, tmp_path / "cache", LIMITS)
    for _ in range(2):
        assert read_rows(patterns, "ram://rows/cache", LIMITS).digest == expected.digest
    assert not storage.exists("ram://rows/cache")
