"""The schema of labelled records, which follows from their task and not from the records."""

from collections.abc import Callable, Mapping

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from firth.recipes.base.size_units import size_features
from firth.recipes.tasks.task import Task
from firth.tasks.labelled.examples import ANSWER_STARTS, ANSWERS, ID, LABEL, SOURCE
from firth.tasks.readers.records import ROLES
from firth.tasks.readers.row_format import LISTS

BYTES, INT, FLOAT = schema_pb2.BYTES, schema_pb2.INT, schema_pb2.FLOAT
Features = list[schema_pb2.Feature]


def task_schema(task: Task) -> str:
    """Returns the schema of records as `firth.tasks.labelled.examples` writes them, as text.

    A schema that is inferred from a few records would take their texts for the only ones that there may be.
    Here texts are any texts, each text that the task reads is there in each record, and a label is one of the
    task's.

    Example:

    >>> from firth.recipes.tasks.classification import Classification
    >>> schema = text_format.Parse(task_schema(Classification(labels=("no", "yes"))), schema_pb2.Schema())
    >>> [(each.name, list(each.string_domain.value)) for each in schema.feature if each.presence.min_fraction]
    [('id', []), ('source', []), ('text', []), ('label', ['no', 'yes'])]
    """
    roles = dict.fromkeys([*ROLES, *task.roles])
    texts = [_feature(role, BYTES, role in task.roles, role in LISTS) for role in roles]
    sizes = [_feature(name, INT, is_required=False) for name in size_features(roles)]
    features = [_feature(ID, BYTES), _feature(SOURCE, BYTES), *texts, *sizes]
    features += _LABELS.get(task.label_type, _no_label)(task)
    return text_format.MessageToString(schema_pb2.Schema(feature=features))


def _feature(
    name: str, dtype: "schema_pb2.FeatureType", is_required: bool = True, is_list: bool = False
) -> schema_pb2.Feature:
    feature = schema_pb2.Feature(name=name, type=dtype)
    if is_required:
        feature.presence.min_fraction = 1.0
        feature.presence.min_count = 1
    if is_list:
        feature.value_count.min = 1
    elif is_required:
        feature.shape.dim.add(size=1)
    return feature


def _of_names(task: Task, is_list: bool) -> Features:
    feature = _feature(LABEL, BYTES, is_list=is_list)
    if names := getattr(task, "labels", ()):
        feature.string_domain.value.extend(names)
    return [feature]


def _numbers(task: Task) -> Features:
    feature = _feature(LABEL, FLOAT)
    feature.float_domain.disallow_nan = feature.float_domain.disallow_inf = True
    return [feature]


def _answers(task: Task) -> Features:
    # A question without an answer has neither.
    return [_feature(ANSWERS, BYTES, is_required=False), _feature(ANSWER_STARTS, INT, is_required=False)]


def _no_label(task: Task) -> Features:
    return []


# By the task's `label_type`.
_LABELS: Mapping[str, Callable[[Task], Features]] = {
    "class": lambda task: _of_names(task, is_list=False),
    "number": _numbers,
    "choice": lambda task: [_feature(LABEL, INT)],
    "tags": lambda task: _of_names(task, is_list=True),
    "text": lambda task: [_feature(LABEL, BYTES, is_list=True)],
    "spans": _answers,
    "turns": lambda task: [_feature(LABEL, BYTES, is_list=True)],
}
