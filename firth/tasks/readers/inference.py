"""SNLI (Bowman et al., 2015) and MultiNLI (Williams et al., 2018) as their authors' JSON lines."""

from collections.abc import Mapping

from firth.tasks.readers.labels import ClassLabels
from firth.tasks.readers.records import PAIR, TEXT
from firth.tasks.readers.row_format import RowFormat
from firth.tasks.readers.rows import JsonlRows

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
