import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings, strategies as st

from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.inputs import EncodedRecord
from firth.tasks.task_rows import TaskRowsError, pack_records

SEQUENCES = Sequences(length=24, max_documents=3)
PAIRS = Classification(pair=True)
ROOM = SEQUENCES.length - PAIRS.special_tokens


def make_record(key, lengths, label=0, **more):
    """A record whose tokens follow from its key and place, so that no two texts are alike."""
    chunks = tuple(
        1000 * key + 100 * place + np.arange(length, dtype=np.int32) for place, length in enumerate(lengths)
    )
    return EncodedRecord(key, more.pop("source", "web"), chunks, {"record_labels": [label]}, **more)


@st.composite
def pairs(draw):
    keys = draw(st.lists(st.integers(1, 10**5), unique=True, max_size=30))
    records = []
    for key in keys:
        first = draw(st.integers(0, ROOM))
        second = draw(st.integers(0, ROOM - first))
        cut, source = draw(st.integers(0, 3)), draw(st.sampled_from(["web", "books"]))
        records.append(make_record(key, (first, second), key % 7, cut=cut, source=source))
    return records


def fields(row):
    return {
        name: list(each.int64_list.value or each.float_list.value or each.bytes_list.value)
        for name, each in tf.train.Example.FromString(row.to_example()).features.feature.items()
    }


@settings(derandomize=True)
@given(pairs(), st.randoms())
def test_each_record_stands_whole_in_one_row_with_its_label_or_is_counted(records, random):
    packed = pack_records(records, PAIRS, SEQUENCES)
    by_key = {record.key: record for record in records}
    seen = []
    for row in map(fields, packed.rows):
        keys, lengths, tokens = row["document_keys"], row["chunk_lengths"], row["tokens"]
        assert keys[::2] == keys[1::2] and len(lengths) == len(keys)
        members = [by_key[key] for key in keys[::2]]
        assert 1 <= len(members) <= SEQUENCES.max_documents
        assert len(tokens) + PAIRS.special_tokens * len(members) <= SEQUENCES.length
        assert tokens == [token for each in members for chunk in each.chunks for token in chunk]
        assert lengths == [len(chunk) for each in members for chunk in each.chunks]
        begins = [int(place == 0) for length in lengths for place in range(length)]
        assert row["word_starts"] == row["sentence_starts"] == begins
        assert row["record_labels"] == [each.labels["record_labels"][0] for each in members]
        assert {each.source.encode() for each in members} == set(row["source"])
        seen += keys[::2]
    empty = [each for each in records if not all(map(len, each.chunks))]
    kept = [each for each in records if all(map(len, each.chunks))]
    assert sorted(seen) == sorted(each.key for each in kept)
    tokens = sum(len(chunk) for each in kept for chunk in each.chunks)
    used, places = tokens + PAIRS.special_tokens * len(kept), SEQUENCES.length * len(packed.rows)
    assert packed.report == {
        "records": len(kept),
        "rows": len(packed.rows),
        "tokens": tokens,
        "padding_share": pytest.approx(1 - used / places if places else 0),
        "records_cut": sum(each.cut > 0 for each in kept),
        "tokens_cut": sum(each.cut for each in kept),
        "rejected": {"no_tokens": len(empty)} if empty else {},
        "first_rejected": packed.report["first_rejected"],
    }
    assert len({row.example_id for row in packed.rows}) == len(packed.rows)
    shuffled = random.sample(records, len(records))
    again = pack_records(iter(shuffled), PAIRS, SEQUENCES)
    assert [row.to_example() for row in again.rows] == [row.to_example() for row in packed.rows]
    assert again.report == packed.report


def test_little_is_padding_where_texts_are_as_short_as_those_of_sst2():
    """Phrases of reviews: most of few tokens, some of fifty."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.gamma(1.4, 9.5, 3000).astype(int), 2, 66)
    sequences, task = Sequences(length=128, max_documents=32), Classification()
    records = [
        make_record(int(key), (int(length),)) for key, length in zip(rng.permutation(3000) + 1, lengths)
    ]
    packed = pack_records(records, task, sequences)
    assert packed.report["records"] == 3000
    assert packed.report["padding_share"] < 0.05


def test_a_row_holds_records_of_all_lengths_and_labels():
    """Keys decide, so that a row is a random part of the records."""
    keys = np.random.default_rng(0).permutation(1200) + 1
    records = [
        make_record(int(key), (3 if number < 600 else 9,), int(number >= 600))
        for number, key in enumerate(keys)
    ]
    packed = pack_records(records, Classification(), Sequences(length=64, max_documents=16))
    mixed = [len(set(fields(row)["record_labels"])) > 1 for row in packed.rows]
    assert np.mean(mixed) > 0.9


def test_numbers_are_written_as_floats():
    record = make_record(4, (2,))._replace(labels={"record_labels": [2.5]})
    (row,) = pack_records([record], Regression(), SEQUENCES).rows
    feature = tf.train.Example.FromString(row.to_example()).features.feature["record_labels"]
    assert list(feature.float_list.value) == [2.5]


def test_words_stand_next_to_their_tokens():
    records = [
        make_record(key, (2,))._replace(words=(np.array([b"a%d" % key, b"b"], object),)) for key in (1, 2)
    ]
    (row,) = pack_records(records, Classification(), SEQUENCES).rows
    assert fields(row)["words"] == [b"a1", b"b", b"a2", b"b"]


def test_the_first_rejected_are_named():
    records = [make_record(key, (0,), id=str(key)) for key in range(1, 15)]
    report = pack_records(records, Classification(), SEQUENCES).report
    assert report["rejected"] == {"no_tokens": 14} and report["rows"] == 0
    named = [{"source": "web", "id": str(key), "reason": "no_tokens"} for key in range(1, 11)]
    assert report["first_rejected"] == named


def test_a_record_that_stands_twice_is_refused():
    records = [make_record(4, (2,), id="line 4"), make_record(4, (3,), id="line 9")]
    with pytest.raises(TaskRowsError, match=r"4: 'line 4' .*'web' .*'line 9' .*'web'"):
        pack_records(records, Classification(), SEQUENCES)


def test_a_record_that_is_longer_than_a_row_is_refused():
    with pytest.raises(ValueError, match="size 25"):
        pack_records([make_record(4, (23,))], Classification(), SEQUENCES)


def test_rows_are_those_of_the_specs():
    """Every field that a row is read by is written."""
    (row,) = pack_records([make_record(4, (2, 3), 1)], PAIRS, SEQUENCES).rows
    assert set(fields(row)) == {*PAIRS.row_specs(SEQUENCES), "source"}
