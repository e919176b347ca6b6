"""The schema of each kind of task, next to records as they are written."""

import pytest
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from firth.corpus.documents.example import Example
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.tagging import Tagging
from firth.tasks.labelled.examples import to_example
from firth.tasks.labelled.validation import _LABELS, task_schema
from firth.tasks.readers.labels import LABELS
from firth.tasks.readers.records import AnswerSpan, LabelledRecord

KINDS = {"bytes_list": schema_pb2.BYTES, "int64_list": schema_pb2.INT, "float_list": schema_pb2.FLOAT}
OF_TYPES = {
    "class": "no",
    "number": 2.5,
    "choice": 1,
    "tags": ("O", "B-PER"),
    "text": ("a summary",),
    "spans": (AnswerSpan("a", 0),),
    "turns": ("user", "assistant"),
}


def schema_of(task):
    return {each.name: each for each in text_format.Parse(task_schema(task), schema_pb2.Schema()).feature}


def test_each_type_of_label_has_its_features():
    assert _LABELS.keys() == LABELS.keys() == OF_TYPES.keys()
    for name, label in OF_TYPES.items():
        record = LabelledRecord("7", {"text": "a"}, label, "", 0)
        written = Example.FromString(to_example(record, "films")).features.feature
        described = {each.name: each.type for each in _LABELS[name](Classification(labels=("no", "yes")))}
        for feature in written.keys() - {"id", "source", "text", "text/bytes", "text/words"}:
            assert described.pop(feature) == KINDS[written[feature].WhichOneof("kind")], (name, feature)
        assert described == {}, name


@pytest.mark.parametrize(("task", "label"), [
    (Classification(labels=("no", "yes")), ["no", "yes"]),
    (Tagging(labels=("O", "B-PER")), ["O", "B-PER"]),
    (Regression(pair=True), []),
])  # fmt: skip
def test_texts_are_any_texts_and_labels_those_of_the_task(task, label):
    schema = schema_of(task)
    assert list(schema["label"].string_domain.value) == label
    required = {name for name, each in schema.items() if each.presence.min_fraction == 1}
    assert required == {"id", "source", "label", *task.roles}
    assert not any(each.HasField("string_domain") for name, each in schema.items() if name != "label")
