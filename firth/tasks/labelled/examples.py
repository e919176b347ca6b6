"""Labelled records as `tf.train.Example`s, and back."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from firth.corpus.documents.example import Example, FeatureError
from firth.recipes.base.size_units import size_features
from firth.segmentation.words import count_words
from firth.tasks.readers.records import ROLES, WORDS, AnswerSpan, Label, LabelledRecord
from firth.tasks.readers.row_format import LISTS

# Features next to the roles of the texts.
ID = "id"
SOURCE = "source"
LABEL = "label"
ANSWERS = "answers"
ANSWER_STARTS = "answer_starts"
# Features that may have no values, and are not bytes.
_INTEGERS = (ANSWER_STARTS,)


class LabelParts(NamedTuple):
    """Facts that follow from the Python type of a label. Only `parts_of` asks for the type.

    Attributes:
        features: Values of the features that hold it, by name: all texts, all integers or all floats.
        counted: Names that it is counted by in reports.
        must_differ: Whether nothing can be learned from records that all have this label.
    """

    features: dict[str, Sequence[str] | Sequence[int] | Sequence[float]]
    counted: tuple[str, ...]
    must_differ: bool


def parts_of(label: Label) -> LabelParts:
    """Returns a label's features, and how it is counted.

    Example:

    >>> parts_of("yes").features, parts_of(2.5).features, parts_of(("O", "B-PER")).features
    ({'label': ['yes']}, {'label': [2.5]}, {'label': ['O', 'B-PER']})
    >>> parts_of((AnswerSpan("1066", 3),)).features
    {'answers': ['1066'], 'answer_starts': [3]}
    """
    match label:
        case str():
            return LabelParts({LABEL: [label]}, (label,), True)
        case float():
            return LabelParts({LABEL: [label]}, (str(label),), True)
        case int():
            return LabelParts({LABEL: [label]}, (str(label),), False)
        case () | (AnswerSpan(), *_):
            answers = [each for each in label if isinstance(each, AnswerSpan)]
            return LabelParts(
                {ANSWERS: [each.text for each in answers], ANSWER_STARTS: [each.start for each in answers]},
                ("answer" if answers else "no answer",),
                must_differ=False,
            )
        case tuple():
            texts = [str(each) for each in label]
            return LabelParts({LABEL: texts}, tuple(texts), True)
    raise TypeError("the record has no label")


def to_example(record: LabelledRecord, source: str) -> bytes:
    """Returns a record as a serialized `tf.train.Example`.

    Its features are `id` and `source` (bytes[1]), each role of the texts (bytes[n]), its size in
    `<role>/bytes` and `<role>/words` (int64[1], of several texts together), and the label: `label` as
    bytes[1] (class, or text to write), float[1] (number), int64[1] (place of a choice) or bytes[n] (tags,
    or several right texts), or `answers` (bytes[n]) and `answer_starts` (int64[n], characters).

    Raises:
        TypeError: if the record has no label.
    """
    return _serialized({**_told(record.id, record.texts, source), **parts_of(record.label).features})


def to_unlabelled_example(name: str, texts: Mapping[str, str | Sequence[str]], source: str) -> bytes:
    """Returns texts as the same example without a label.

    Example:

    >>> data = to_unlabelled_example("7", {"text": "It is late."}, "requests")
    >>> [*sorted(Example.FromString(data).features.feature)]
    ['id', 'source', 'text', 'text/bytes', 'text/words']
    """
    return _serialized(_told(name, texts, source))


def _told(name: str, texts: Mapping[str, str | Sequence[str]], source: str) -> dict[str, Sequence[Any]]:
    features: dict[str, Sequence[Any]] = {ID: [name], SOURCE: [source]}
    for role, text in texts.items():
        features[role] = [text] if isinstance(text, str) else list(text)
        whole = "\n".join(features[role])
        sizes = len(whole.encode()), count_words(whole)
        features |= {size: [number] for size, number in zip(size_features([role]), sizes, strict=True)}
    return features


def _serialized(features: Mapping[str, Sequence[Any]]) -> bytes:
    example = Example()
    for name, values in features.items():
        _extend(example.features.feature[name], values)
        if name in _INTEGERS:
            # The type is set without values too, so that the feature has one type in all records.
            example.features.feature[name].int64_list.SetInParent()
    return example.SerializeToString(deterministic=True)


def from_example(data: bytes) -> tuple[LabelledRecord, str]:
    """Returns the record that `to_example` wrote, and its source. It names no file and no line.

    Example:

    >>> record = LabelledRecord("7", {"text": "a film", "pair": "a movie"}, 4.5, "a.csv", 8)
    >>> from_example(to_example(record, "stsb"))
    (LabelledRecord(id='7', texts={'text': 'a film', 'pair': 'a movie'}, label=4.5, file='', line=0), 'stsb')
    """
    found = {name: _values(each) for name, each in Example.FromString(data).features.feature.items()}
    missing = [name for name in (ID, SOURCE) if not found.get(name)]
    missing += [] if any(found.get(role) for role in ROLES) else [f"text ({' or '.join(ROLES)})"]
    if missing:
        raise FeatureError(
            f"the record is not a labelled one: it has no {', '.join(missing)}, only {sorted(found)}"
        )
    texts = {role: found[role] if role in LISTS else found[role][0] for role in ROLES if found.get(role)}
    return LabelledRecord(str(found[ID][0]), texts, _label(found), "", 0), str(found[SOURCE][0])


def _extend(feature: Any, values: Sequence[Any]) -> None:
    match [*values[:1]]:
        case [float()]:
            feature.float_list.value.extend(values)
        case [int()]:
            feature.int64_list.value.extend(values)
        case _:
            # Without values too, so that the feature is one of bytes.
            feature.bytes_list.value.extend(each.encode() for each in values)


def _values(feature: Any) -> tuple[Any, ...]:
    if feature.HasField("bytes_list"):
        return tuple(each.decode() for each in feature.bytes_list.value)
    return tuple(feature.int64_list.value) or tuple(feature.float_list.value)


def _label(found: dict[str, tuple[Any, ...]]) -> Label:
    if ANSWERS in found:
        return tuple(map(AnswerSpan, found[ANSWERS], found[ANSWER_STARTS]))
    values = found[LABEL]
    return values if WORDS in found or len(values) > 1 else values[0]
