"""Data sets that are mixed: sources and ids, rates, and what is held out of each."""

from collections import Counter

import pytest

from firth.recipes.tasks.classification import Classification
from firth.recipes.tasks.data import ColumnData, DataMixture
from firth.tasks.labelled.data import fingerprint, read_labelled_data, read_to_train

TASK = Classification(labels=("bad", "good"))


def write(path, count, first=0):
    rows = [f"film {number},{('bad', 'good')[number % 2]}" for number in range(first, first + count)]
    path.write_text("\n".join(["text,label", *rows, ""]))
    return str(path)


@pytest.fixture
def parts(tmp_path):
    """A data set of 400 records, a quarter of which is held out, and one of 40 and 6 in two files."""
    large = ColumnData(train=write(tmp_path / "large.csv", 400), eval_fraction=0.25)
    small = write(tmp_path / "small.csv", 40, 1000), write(tmp_path / "small_eval.csv", 6, 2000)
    return large, ColumnData(train=small[0], eval=small[1])


def written(found, split):
    return list(found.written(split))


def by_source(found, split):
    return Counter(source for _, source in written(found, split))


def test_each_record_keeps_its_source_and_none_is_in_both_splits(parts):
    found = read_labelled_data(DataMixture(parts=parts), TASK)
    alone = read_labelled_data(parts[0], TASK)
    counts = {name: len(alone.splits[name].records) for name in ("train", "eval")}
    assert by_source(found, "train") == {"large": counts["train"], "small": 40}
    assert by_source(found, "eval") == {"large": counts["eval"], "small": 6}
    held_out = {record.texts["text"] for record in alone.splits["eval"].records}
    of_mixture = {record.texts["text"] for record, source in written(found, "eval") if source == "large"}
    assert of_mixture == held_out
    # Both files have a record in line 2.
    ids = [record.id for record, _ in written(found, "train")]
    assert {"large:3", "small:3"} < {*ids} and len(set(ids)) == len(ids)


def test_rates_are_those_of_t5(parts):
    train = by_source(read_labelled_data(DataMixture(parts=parts), TASK), "train")["large"]
    capped = by_source(read_labelled_data(DataMixture(parts=parts, limit=80), TASK), "train")
    # min(300, 80) to min(40, 80), and every record once: the small one is repeated 3.75 times.
    assert capped["large"] == train and capped["small"] == pytest.approx(train / 2, abs=1)
    warm = by_source(read_labelled_data(DataMixture(parts=parts, temperature=2.0), TASK), "train")
    assert warm["small"] / warm["large"] == pytest.approx((40 / train) ** 0.5, rel=0.02)
    equal = read_labelled_data(DataMixture(parts=parts, temperature=1000.0), TASK)
    # The small one would have to be repeated more often than it may: less is taken of the large one.
    counts = by_source(equal, "train")
    assert counts["small"] == 160 and counts["large"] == pytest.approx(160, abs=1)
    assert [share["amount"] for share in equal.report()["mixture"]] == [counts["large"], 160]
    ids = [record.id for record, _ in written(equal, "train")]
    assert len(set(ids)) == len(ids) and sum(each.endswith("#4") for each in ids) == 40
    assert len(equal.splits["eval"].records) == len(written(equal, "eval"))


def test_classes_are_those_of_all_parts(parts, tmp_path):
    rows = [f"so {number},{('fair', 'good')[number % 2]}\n" for number in range(20)]
    (tmp_path / "third.csv").write_text("".join(["text,label\n", *rows]))
    mixture = DataMixture(parts=(*parts, ColumnData(train=str(tmp_path / "third.csv"))))
    assert read_to_train(mixture, Classification()).labels == ("bad", "fair", "good")
    before = fingerprint(mixture)
    (tmp_path / "small_eval.csv").write_text("text,label\nanother,bad\n")
    assert fingerprint(mixture) != before
    found = read_labelled_data(mixture, TASK)
    assert found.splits["train"].counts["unknown_label"] > 0


def test_two_parts_of_one_name_are_refused(parts):
    with pytest.raises(ValueError, match="source 'large'"):
        DataMixture(parts=(parts[0], parts[0]))
