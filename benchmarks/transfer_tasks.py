"""The tasks of `benchmarks.transfer`: of docstrings, and of published data where their folder is there."""

import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

NLI_CLASSES = {"1": "neutral", "2": "contradiction", "3": "entailment"}
SNLI_HEADER = "label\tlabel_again\tpremise\thypothesis"


class TransferTask(NamedTuple):
    """A task, as a recipe says it.

    Attributes:
        data: The recipe's `data`; paths follow `folder`.
        task: The recipe's `task`.
        files: Paths below the folder of published data that must be there.
        is_small: Whether it is trained with several seeds by default.
        length: Tokens of a row.
    """

    data: Mapping[str, Any]
    task: Mapping[str, Any]
    files: tuple[str, ...] = ()
    is_small: bool = False
    length: int = 128


def _docstrings(task: str, **said: Any) -> TransferTask:
    return TransferTask({"kind": "docstrings", "task": task, "max_records": 4000}, said)


def _glue(name: str, folder: str, is_small: bool, **said: Any) -> TransferTask:
    data = {"kind": "published", "format": name, "folder": "{folder}/glue"}
    files = tuple(f"glue/{folder}/{split}.tsv" for split in ("train", "dev"))
    return TransferTask(data, said, files, is_small)


def _published(name: str, folder: str, files: tuple[str, ...], **said: Any) -> TransferTask:
    data = {"kind": "published", "format": name, "folder": f"{{folder}}/{folder}"}
    return TransferTask(data | said.pop("data", {}), said, tuple(f"{folder}/{file}" for file in files))


_PAIR = {"kind": "classification", "pair": True}
TASKS: dict[str, TransferTask] = {
    "package": _docstrings("package", kind="classification"),
    "summary": _docstrings("summary", **_PAIR),
    "parameters": _docstrings("parameters", kind="tagging"),
    "cola": _glue("cola", "CoLA", True, kind="classification"),
    "sst2": _glue("sst2", "SST-2", False, kind="classification"),
    "mrpc": _glue("mrpc", "MRPC", True, **_PAIR, positive="1"),
    "rte": _glue("rte", "RTE", True, **_PAIR),
    "stsb": _glue("stsb", "STS-B", True, kind="regression", pair=True),
    "snli": TransferTask(
        {
            "kind": "columns",
            "train": "{scratch}/snli_18k_train.tsv",
            "eval": "{scratch}/snli_18k_test.tsv",
            "texts": {"text": "premise", "pair": "hypothesis"},
            "label": "label",
        },
        _PAIR,
        ("nli/snli_18k_train.tsv", "nli/snli_18k_test.tsv"),
    ),
    "wnut17": _published("wnut17", "wnut17", ("wnut17train.conll", "emerging.dev.conll"), kind="tagging"),
    "conll2000": _published(
        "conll2000", "conll2000", ("train.txt", "test.txt"), kind="tagging", data={"eval": "test"}
    ),
}
DEFAULT = ("package", "parameters", "cola", "rte")


def find(name: str, folder: pathlib.Path, scratch: pathlib.Path) -> TransferTask | None:
    """Returns a task with its paths; None if its files are not there."""
    found = TASKS[name]
    if not all((folder / file).exists() for file in found.files):
        return None
    for file in found.files:
        if file.startswith("nli/"):
            _with_header(folder / file, scratch / pathlib.Path(file).name)
    places = {"folder": folder, "scratch": scratch}
    data = {
        key: value.format(**places) if isinstance(value, str) else value for key, value in found.data.items()
    }
    return found._replace(data=data)


def _with_header(path: pathlib.Path, copy: pathlib.Path) -> None:
    """Writes SNLI's rows with names of columns and of classes, which the file does not have."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines()
    named = (f"{NLI_CLASSES[label]}\t{rest}" for label, _, rest in (line.partition("\t") for line in lines))
    copy.write_text("\n".join([SNLI_HEADER, *named]) + "\n", encoding="utf-8")
