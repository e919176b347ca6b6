"""Tables of `datasets`, which no lock has: a class has the part of their public surface that is read."""

import pytest

from firth.language_model.fitting import has_features
from firth.language_model.texts import list_records, list_texts


class ClassLabel:
    names = ("bad", "good")

    def int2str(self, value):
        return self.names[value]


class ListOf:
    feature = ClassLabel()


class Table:
    """Rows, their columns, and the kinds of these, as `datasets.Dataset` and `IterableDataset` offer them."""

    def __init__(self, rows, **features):
        self._rows, self.features = rows, features
        self.column_names = list(rows[0])

    def __iter__(self):
        return iter(self._rows)

    def to_dict(self):
        return {name: [row[name] for row in self._rows] for name in self.column_names}


ROWS = [{"text": "a", "label": 1, "tags": [0, 1]}, {"text": "b", "label": 0, "tags": []}]


def test_classes_are_read_by_their_names():
    table = Table(ROWS, text=object(), label=ClassLabel(), tags=ListOf())
    assert list_texts(table) == ["a", "b"] and not has_features(table)
    expected = [
        {"text": "a", "label": "good", "tags": ["bad", "good"]},
        {"text": "b", "label": "bad", "tags": []},
    ]
    assert list_records(table, ["text", "label"]) == expected
    assert list_records(Table(ROWS), ["text", "label"]) == ROWS
    with pytest.raises(ValueError, match=r"train\[0\]: 'label' is None"):
        list_records(Table([{"text": "a", "label": -1}], label=ClassLabel()), ["text", "label"])
    with pytest.raises(ValueError, match="no column 'txt'; did you mean text"):
        list_texts(table, "txt")


def test_splits_are_named_instead_of_read_as_columns():
    with pytest.raises(ValueError, match="train holds the splits 'train', 'test'"):
        list_records({"train": Table(ROWS), "test": Table(ROWS)}, ["text", "label"])
