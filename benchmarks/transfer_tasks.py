"""The tasks of `benchmarks.transfer`: of docstrings, and of published data where their folder is there."""

import pathlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from benchmarks.transfer_choices import CHOICES, make_choices

NLI_CLASSES = {"1": "neutral", "2": "contradiction", "3": "entailment"}
SNLI_HEADER = "label\tlabel_again\tpremise\thypothesis"


class TransferTask(NamedTuple):
    """A task, as a recipe says it.

    Attributes:
        data: The recipe's `data`; paths follow `folder`.
        task: The recipe's `task`.
        files: Paths below the folder of published data that must be there.
        copies: Of such paths, files that are written with what the published ones lack, and how.
        makes: Of files that are made of docstrings, how.
        is_small: Whether it is trained with several seeds by default.
        length: Tokens of a row.
    """

    data: Mapping[str, Any]
    task: Mapping[str, Any]
    files: tuple[str, ...] = ()
    copies: Mapping[str, tuple[str, Callable[[str], str]]] = {}
    makes: Mapping[str, Callable[[], str]] = {}
    is_small: bool = False
    length: int = 128


def _docstrings(task: str, **said: Any) -> TransferTask:
    data = {"kind": "docstrings", "task": task, "max_records": 10_000}
    return TransferTask(data, said, is_small=True)


def _glue(name: str, folder: str, is_small: bool, **said: Any) -> TransferTask:
    data = {"kind": "published", "format": name, "folder": "{folder}/glue"}
    files = tuple(f"glue/{folder}/{split}.tsv" for split in ("train", "dev"))
    return TransferTask(data, said, files, is_small=is_small)


def _published(name: str, folder: str, files: tuple[str, ...], **said: Any) -> TransferTask:
    data = {"kind": "published", "format": name, "folder": f"{{folder}}/{folder}"}
    return TransferTask(data | said.pop("data", {}), said, tuple(f"{folder}/{file}" for file in files))


def _with_header(tsv: str) -> str:
    """Returns SNLI's rows with names of columns and of classes, which its file does not have."""
    lines = (line.partition("\t") for line in tsv.splitlines())
    return "\n".join([SNLI_HEADER, *(f"{NLI_CLASSES[label]}\t{rest}" for label, _, rest in lines)]) + "\n"


def _as_it_is(content: str) -> str:
    return content


_PAIR = {"kind": "classification", "pair": True}
_SUMMARY = {"kind": "text_to_text", "prefix": "summarize: ", "scores": ["rouge_l", "rouge_1", "rouge_2"]}
_SQUAD = "squad/squad_v1.1_44articles.json", "squad/squad_v1.1_dev_subset.json"
_SNLI = "nli/snli_18k_train.tsv", "nli/snli_18k_test.tsv"
TASKS: dict[str, TransferTask] = {
    "package": _docstrings("package", kind="classification"),
    "summary": _docstrings("summary", **_PAIR),
    "parameters": _docstrings("parameters", kind="tagging"),
    "type": _docstrings("type", kind="span"),
    "summarise": _docstrings("summarise", **_SUMMARY, target_tokens=40),
    "choose": TransferTask(
        {
            "kind": "columns",
            "train": "{scratch}/choices.csv",
            "texts": {"context": "summary", "choices": list(CHOICES)},
            "label": "right",
            "eval_fraction": 0.3,
        },
        {"kind": "choice"},
        makes={"choices.csv": make_choices},
        is_small=True,
        length=192,
    ),
    "cola": _glue("cola", "CoLA", True, kind="classification"),
    "sst2": _glue("sst2", "SST-2", False, kind="classification"),
    "mrpc": _glue("mrpc", "MRPC", True, **_PAIR, positive="1"),
    "rte": _glue("rte", "RTE", True, **_PAIR),
    "stsb": _glue("stsb", "STS-B", True, kind="regression", pair=True),
    "snli": TransferTask(
        {
            "kind": "columns",
            "train": "{scratch}/snli_train.tsv",
            "eval": "{scratch}/snli_test.tsv",
            "texts": {"text": "premise", "pair": "hypothesis"},
            "label": "label",
        },
        _PAIR,
        _SNLI,
        {
            "snli_train.tsv": (_SNLI[0], _with_header),
            "snli_test.tsv": (_SNLI[1], _with_header),
        },
    ),
    "wnut17": _published("wnut17", "wnut17", ("wnut17train.conll", "emerging.dev.conll"), kind="tagging"),
    "conll2000": _published(
        "conll2000", "conll2000", ("train.txt", "test.txt"), kind="tagging", data={"eval": "test"}
    ),
    "squad": TransferTask(
        {"kind": "published", "format": "squad", "folder": "{scratch}/squad"},
        {"kind": "span"},
        _SQUAD,
        {
            "squad/train-v1.1.json": (_SQUAD[0], _as_it_is),
            "squad/dev-v1.1.json": (_SQUAD[1], _as_it_is),
        },
        length=384,
    ),
    "xsum": TransferTask(
        {
            "kind": "columns",
            "train": "{folder}/xsum/xsum.csv",
            "texts": {"text": "article"},
            "label": "highlights",
            "eval_fraction": 0.2,
        },
        _SUMMARY,
        ("xsum/xsum.csv",),
        length=512,
    ),
    "cnn_dailymail": TransferTask(
        {
            "kind": "columns",
            # There is less of its training part.
            "train": "{folder}/cnn_dailymail/validation.csv",
            "eval": "{folder}/cnn_dailymail/test.csv",
            "texts": {"text": "article"},
            "label": "highlights",
        },
        {**_SUMMARY, "target_tokens": 100},
        ("cnn_dailymail/validation.csv", "cnn_dailymail/test.csv"),
        length=512,
    ),
}
DEFAULT = ("package", "parameters")


def find(name: str, folder: pathlib.Path, scratch: pathlib.Path) -> TransferTask | None:
    """Returns a task with its paths; None if its files are not there."""
    found = TASKS[name]
    if not all((folder / file).exists() for file in found.files):
        return None
    for copy, (file, changed) in found.copies.items():
        (scratch / copy).parent.mkdir(parents=True, exist_ok=True)
        (scratch / copy).write_text(changed((folder / file).read_text(encoding="utf-8")), encoding="utf-8")
    for made, make in found.makes.items():
        if not (scratch / made).exists():
            scratch.mkdir(parents=True, exist_ok=True)
            (scratch / made).write_text(make(), encoding="utf-8")
    places = {"folder": folder.resolve(), "scratch": scratch.resolve()}
    data = {
        key: value.format(**places) if isinstance(value, str) else value for key, value in found.data.items()
    }
    return found._replace(data=data)
