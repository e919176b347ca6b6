"""The files of a submission to GLUE's site, from predictions of test splits that have no labels."""

import math
import os
from collections.abc import Mapping
from typing import NamedTuple

from firth import storage
from firth.recipes.base.errors import suggest
from firth.tasks.readers import FORMATS
from firth.tasks.readers.labels import ClassLabels, NumberLabels

Predictions = Mapping[str, str | float]


class SubmissionFile(NamedTuple):
    """One of the files of a submission.

    Attributes:
        task: Key of `firth.tasks.readers.FORMATS`.
        split: Name of the split, which has no labels.
        records: Number of its records; their ids are 0, 1, ...
    """

    task: str
    split: str
    records: int


# The site takes all of them at once, in one zip file.
SUBMISSION: dict[str, SubmissionFile] = {
    "AX.tsv": SubmissionFile("ax", "test", 1104),
    "CoLA.tsv": SubmissionFile("cola", "test", 1063),
    "MNLI-m.tsv": SubmissionFile("mnli", "test", 9796),
    "MNLI-mm.tsv": SubmissionFile("mnli", "test_mismatched", 9847),
    "MRPC.tsv": SubmissionFile("mrpc", "test", 1725),
    "QNLI.tsv": SubmissionFile("qnli", "test", 5463),
    "QQP.tsv": SubmissionFile("qqp", "test", 390965),
    "RTE.tsv": SubmissionFile("rte", "test", 3000),
    "SST-2.tsv": SubmissionFile("sst2", "test", 1821),
    "STS-B.tsv": SubmissionFile("stsb", "test", 1379),
    "WNLI.tsv": SubmissionFile("wnli", "test", 146),
}


class Submission(NamedTuple):
    """The files of a submission that were written.

    Attributes:
        written: Names of the files.
        missing: Names of the files that the site needs too.
    """

    written: tuple[str, ...]
    missing: tuple[str, ...]


def write_submission(folder: str, predictions: Mapping[str, Predictions]) -> Submission:
    """Writes the files of a submission to GLUE's site from predictions of test splits, which have no labels.

    All predictions are checked before the first file is written.

    Raises:
        ValueError: for another file; for a record without a prediction, or a prediction of no record; for a
            class that the data set has not; for what is not a finite number.
    """
    texts = {file: submission_text(file, made) for file, made in predictions.items()}
    for file, text in texts.items():
        storage.write_text(os.path.join(folder, file), text)
    return Submission(tuple(texts), tuple(file for file in SUBMISSION if file not in texts))


def submission_text(file: str, predictions: Predictions) -> str:
    r"""Returns the content of one of the files.

    Example:

    >>> submission_text("WNLI.tsv", {str(id): "1" for id in range(146)}).split("\n")[:3]
    ['index\tprediction', '0\t1', '1\t1']
    """
    if file not in SUBMISSION:
        raise ValueError(f"{file} is not a file of a submission; {suggest(file, SUBMISSION)}")
    described = SUBMISSION[file]
    ids = [str(place) for place in range(described.records)]
    missing = [each for each in ids if predictions.get(each) is None]
    if missing:
        raise ValueError(
            f"{file}: {len(missing)} of {len(ids)} records have no prediction, the first is {missing[0]!r}"
        )
    unknown = sorted(predictions.keys() - set(ids))
    if unknown:
        raise ValueError(
            f"{file}: {len(unknown)} predictions are of no record, the first is {unknown[0]!r}; "
            f"ids are 0 to {len(ids) - 1}"
        )
    lines = [f"{each}\t{_written(file, each, predictions[each])}" for each in ids]
    return "\n".join(["index\tprediction", *lines]) + "\n"


def _written(file: str, id: str, prediction: str | float) -> str:
    labels = FORMATS[SUBMISSION[file].task].labels
    if isinstance(labels, NumberLabels):
        if isinstance(prediction, str) or not math.isfinite(prediction):
            raise ValueError(f"{file}: the prediction of {id!r} is {prediction!r}, not a finite number")
        return f"{min(max(prediction, labels.low), labels.high):.3f}"
    assert isinstance(labels, ClassLabels)
    if prediction not in labels.names:
        raise ValueError(
            f"{file}: the prediction of {id!r} is {prediction!r}, not one of {', '.join(labels.names)}"
        )
    return str(prediction)
