"""The tasks of GLUE, as its tables have them (Wang et al., 2019).

The order of labels is that of the benchmark's own code, `src/tasks.py` of nyu-mll/GLUE-baselines. Other
libraries number RTE, QNLI and MNLI another way, so that a record has the name of its label, never the number.
"""

from collections.abc import Mapping

from firth.tasks.readers.labels import AnyLabels, ClassLabels, NumberLabels
from firth.tasks.readers.records import PAIR, TEXT
from firth.tasks.readers.row_format import RowFormat
from firth.tasks.readers.rows import JsonlRows, TsvRows

BINARY = ClassLabels(("0", "1"))
PARAPHRASE = ClassLabels(("0", "1"), positive="1")
ENTAILMENT = ClassLabels(("not_entailment", "entailment"))
INFERENCE = ClassLabels(("neutral", "entailment", "contradiction"))
SIMILARITY = NumberLabels(0.0, 5.0)

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


_LABELS = ClassLabels(("neutral", "entailment", "contradiction"), no_gold="-")


def _inference(title: str, files: Mapping[str, tuple[str, ...]]) -> RowFormat:
    texts = {TEXT: "sentence1", PAIR: "sentence2"}
    return RowFormat(
        title, JsonlRows, texts, _LABELS, "gold_label", files, ("accuracy",), id_columns=("pairID",)
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
