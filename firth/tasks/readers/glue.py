"""The tasks of GLUE (Wang et al., 2019) and SuperGLUE (2019b), as their files have them.

The order of labels is that of the benchmark's own code, `src/tasks.py` of nyu-mll/GLUE-baselines. Other
libraries number RTE, QNLI and MNLI another way, so that a record has the name of its label, never the number.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from firth.tasks.readers.labels import AnyLabels, ChoiceLabels, ClassLabels, NumberLabels, TextLabels
from firth.tasks.readers.records import ANSWER, CHOICES, CONTEXT, PAIR, QUESTION, TEXT, RejectedRecordError
from firth.tasks.readers.row_format import RowFormat, Values
from firth.tasks.readers.rows import JsonlRows, TsvRows

BINARY = ClassLabels(("0", "1"))
PARAPHRASE = ClassLabels(("0", "1"), positive="1")
ENTAILMENT = ClassLabels(("not_entailment", "entailment"))
INFERENCE = ClassLabels(("neutral", "entailment", "contradiction"))
SIMILARITY = NumberLabels(0.0, 5.0)
TRUTH = ClassLabels(("false", "true"))
COMMITMENT = ClassLabels(("entailment", "contradiction", "neutral"))
RIGHT_ANSWER = ClassLabels(("0", "1"), positive="1")
_ANNOTATED = ClassLabels(("neutral", "entailment", "contradiction"), no_gold="-")

_SPLITS = {split: (f"{split}.tsv",) for split in ("train", "dev", "test")}
_MNLI_SPLITS = {
    "train": ("train.tsv",),
    "dev": ("dev_matched.tsv",),
    "dev_mismatched": ("dev_mismatched.tsv",),
    "test": ("test_matched.tsv",),
    "test_mismatched": ("test_mismatched.tsv",),
}


def _glue(
    folder: str,
    texts: tuple[str, ...],
    labels: AnyLabels,
    scores: tuple[str, ...],
    label: str = "label",
    ids: tuple[str, ...] = ("index",),
    files: Mapping[str, tuple[str, ...]] = _SPLITS,
    headers: Mapping[str, tuple[str, ...]] | None = None,
) -> RowFormat:
    return RowFormat(
        f"GLUE {folder}",
        TsvRows,
        dict(zip((TEXT, PAIR), texts)),
        labels,
        label,
        files,
        scores,
        folder,
        unlabelled=frozenset({"test", "test_mismatched"}),
        id_columns=ids,
        headers=headers or {},
    )


_COLA_HEADER = ("source", "label", "original_label", "sentence")
_SENTENCES = ("sentence1", "sentence2")
_F1 = ("f1", "accuracy")

GLUE: dict[str, RowFormat] = {
    "cola": _glue(
        "CoLA", ("sentence",), BINARY, ("matthews",), headers={"train": _COLA_HEADER, "dev": _COLA_HEADER}
    ),
    "sst2": _glue("SST-2", ("sentence",), BINARY, ("accuracy",)),
    "mrpc": _glue("MRPC", ("#1 String", "#2 String"), PARAPHRASE, _F1, label="Quality"),
    "stsb": _glue("STS-B", _SENTENCES, SIMILARITY, ("pearson", "spearman"), label="score"),
    "qqp": _glue("QQP", ("question1", "question2"), PARAPHRASE, _F1, label="is_duplicate", ids=("id",)),
    "mnli": _glue("MNLI", _SENTENCES, INFERENCE, ("accuracy",), label="gold_label", files=_MNLI_SPLITS),
    "qnli": _glue("QNLI", ("question", "sentence"), ENTAILMENT, ("accuracy",)),
    "rte": _glue("RTE", _SENTENCES, ENTAILMENT, ("accuracy",)),
    "wnli": _glue("WNLI", _SENTENCES, BINARY, ("accuracy",)),
    "ax": _glue(
        "diagnostic", _SENTENCES, INFERENCE, ("matthews",), files={"test": ("diagnostic.tsv", "AX.tsv")}
    ),
}


def _inference(title: str, files: Mapping[str, tuple[str, ...]]) -> RowFormat:
    texts = {TEXT: "sentence1", PAIR: "sentence2"}
    return RowFormat(
        title, JsonlRows, texts, _ANNOTATED, "gold_label", files, ("accuracy",), id_columns=("pairID",)
    )


INFERENCE_FILES: dict[str, RowFormat] = {
    "snli": _inference("SNLI", {split: (f"snli_1.0_{split}.jsonl",) for split in ("train", "dev", "test")}),
    "mnli_jsonl": _inference(
        "MultiNLI",
        {
            "train": ("multinli_1.0_train.jsonl",),
            "dev": ("multinli_1.0_dev_matched.jsonl",),
            "dev_mismatched": ("multinli_1.0_dev_mismatched.jsonl",),
        },
    ),
}


_SUPER_GLUE_FILES = {"train": ("train.jsonl",), "dev": ("val.jsonl", "dev.jsonl"), "test": ("test.jsonl",)}


def _super_glue(
    folder: str,
    texts: Mapping[str, str | tuple[str, ...]],
    labels: AnyLabels,
    scores: tuple[str, ...],
    label: str = "label",
    rows_of: Callable[[Values], Iterable[Callable[[], Values]]] | None = None,
) -> RowFormat:
    return RowFormat(
        f"SuperGLUE {folder}",
        JsonlRows,
        texts,
        labels,
        label,
        _SUPER_GLUE_FILES,
        scores,
        folder,
        unlabelled=frozenset({"test"}),
        id_columns=("id", "idx"),
        rows_of=rows_of,
    )


def _part(values: Any, key: str, kind: type) -> Any:
    found = values.get(key) if isinstance(values, dict) else None
    if not isinstance(found, kind):
        raise RejectedRecordError("missing_key", f"there is no {key!r} that is a {kind.__name__}")
    return found


def answers_of(values: Values) -> Iterator[Callable[[], Values]]:
    """Yields a function for the row of each answer of a passage of MultiRC.

    The id of a row has passage, question and answer. A question without a list of answers is one bad row.


    Raises:
        RejectedRecordError: if a part of the passage is missing; of a row, if a part of it is.
    """
    passage = _part(values, "passage", dict)
    for question in _part(passage, "questions", list):
        answers = question.get("answers") if isinstance(question, dict) else None
        for answer in answers if isinstance(answers, list) else [None]:
            yield functools.partial(_answer_row, values.get("idx"), passage, question, answer)


def _answer_row(number: Any, passage: Values, question: Any, answer: Any) -> Values:
    _part(question, "answers", list)
    place = f"{number}-{question.get('idx')}-{_part(answer, 'idx', int)}"
    return {**answer, "id": place, "passage": passage.get("text"), "question": question.get("question")}


def queries_of(values: Values) -> Iterator[Callable[[], Values]]:
    """Yields a function for the row of each query of a passage of ReCoRD.

    A row has the passage's entities, each once, and the right answers, each once.

    Raises:
        RejectedRecordError: if a part of the passage is missing; of a row, if a part of it is.
    """
    passage = _part(values, "passage", dict)
    text = _part(passage, "text", str)
    spans = [
        (_part(each, "start", int), _part(each, "end", int)) for each in _part(passage, "entities", list)
    ]
    entities = list(dict.fromkeys(text[start : end + 1] for start, end in spans))
    shared = {"passage": text, "entities": entities}
    for query in _part(values, "qas", list):
        yield functools.partial(_query_row, values.get("idx"), shared, query)


def _query_row(number: Any, shared: Values, query: Any) -> Values:
    place = f"{number}-{_part(query, 'idx', int)}"
    answers = [_part(each, "text", str) for each in query.get("answers") or []]
    return {**query, **shared, "id": place, "answers": list(dict.fromkeys(answers))}


_INFERENCE = {TEXT: "premise", PAIR: "hypothesis"}

SUPER_GLUE: dict[str, RowFormat] = {
    "boolq": _super_glue("BoolQ", {QUESTION: "question", CONTEXT: "passage"}, TRUTH, ("accuracy",)),
    "cb": _super_glue("CB", _INFERENCE, COMMITMENT, ("macro_f1", "accuracy")),
    "copa": _super_glue(
        "COPA",
        {CONTEXT: "premise", QUESTION: "question", CHOICES: ("choice1", "choice2")},
        ChoiceLabels(),
        ("accuracy",),
    ),
    "multirc": _super_glue(
        "MultiRC",
        {CONTEXT: "passage", QUESTION: "question", ANSWER: "text"},
        RIGHT_ANSWER,
        ("f1",),
        rows_of=answers_of,
    ),
    "record": _super_glue(
        "ReCoRD",
        {CONTEXT: "passage", QUESTION: "query", CHOICES: "entities"},
        TextLabels(),
        ("squad_f1", "squad_exact_match"),
        label="answers",
        rows_of=queries_of,
    ),
    "superglue_rte": _super_glue("RTE", _INFERENCE, ENTAILMENT, ("accuracy",)),
    "wic": _super_glue("WiC", {TEXT: "sentence1", PAIR: "sentence2", QUESTION: "word"}, TRUTH, ("accuracy",)),
    "wsc": _super_glue(
        "WSC", {TEXT: "text", PAIR: "target.span1_text", QUESTION: "target.span2_text"}, TRUTH, ("accuracy",)
    ),
}
