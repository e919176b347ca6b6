"""Published scores, to be printed next to one's own: those of test and of dev splits never in one table.

Columns are `<task>.<score>`, with keys of `firth.tasks.readers.FORMATS` and of `SCORES`; MNLI's other split
is `mnli_mismatched`. Values are in percent, as printed.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Literal

from firth.recipes.base.errors import suggest
from firth.scores import score_of


@dataclasses.dataclass(frozen=True)
class GlueAverage:
    """An average of scores in percent. It compares with others only if nothing is missing.

    Attributes:
        value: Mean of the scores that are present; NaN without any.
        missing: Scores that are missing, as `<task>.<score>`.
    """

    value: float
    missing: tuple[str, ...]


# The columns of BERT's table 1, each with the one score that it shows; without WNLI.
BERT_COLUMNS = (
    "mnli.accuracy",
    "mnli_mismatched.accuracy",
    "qqp.f1",
    "qnli.accuracy",
    "sst2.accuracy",
    "cola.matthews",
    "stsb.spearman",
    "mrpc.f1",
    "rte.accuracy",
)
# The leaderboard's nine tasks, each of which counts once, by the mean of its scores.
LEADERBOARD_TASKS: dict[str, tuple[str, ...]] = {
    "cola": ("cola.matthews",),
    "sst2": ("sst2.accuracy",),
    "mrpc": ("mrpc.f1", "mrpc.accuracy"),
    "stsb": ("stsb.pearson", "stsb.spearman"),
    "qqp": ("qqp.f1", "qqp.accuracy"),
    "mnli": ("mnli.accuracy", "mnli_mismatched.accuracy"),
    "qnli": ("qnli.accuracy",),
    "rte": ("rte.accuracy",),
    "wnli": ("wnli.accuracy",),
}


def percent(column: str, value: float) -> float:
    """Returns a score in percent, as papers print it.

    Example:

    >>> percent("cola.matthews", 0.5), percent("squad.squad_f1", 88.5)
    (50.0, 88.5)
    """
    _, _, name = column.partition(".")
    return 100 * value if score_of(name).range[1] == 1.0 else value


def bert_table_average(scores: Mapping[str, float]) -> GlueAverage:
    """Returns the average as BERT's table 1 has it: of nine columns, with MNLI twice and without WNLI."""
    return _average(scores, [(column,) for column in BERT_COLUMNS])


def leaderboard_average(scores: Mapping[str, float]) -> GlueAverage:
    """Returns the average as GLUE's leaderboard has it: of nine tasks, each by the mean of its scores.

    Example:

    >>> made = leaderboard_average({"mrpc.f1": 0.9, "mrpc.accuracy": 0.8, "cola.matthews": 0.5})
    >>> round(made.value, 2), made.missing[:2]
    (67.5, ('sst2.accuracy', 'stsb.pearson'))
    """
    return _average(scores, list(LEADERBOARD_TASKS.values()))


def _average(scores: Mapping[str, float], groups: Sequence[Sequence[str]]) -> GlueAverage:
    means = []
    for group in groups:
        if values := [percent(column, scores[column]) for column in group if column in scores]:
            means.append(sum(values) / len(values))
    missing = tuple(column for group in groups for column in group if column not in scores)
    return GlueAverage(sum(means) / len(means) if means else math.nan, missing)


Split = Literal["test", "dev"]
SPLITS: tuple[Split, ...] = ("test", "dev")

_BERT = "Devlin et al. 2018"
_ROBERTA = "Liu et al. 2019, table 4"
_ELECTRA = "Clark et al. 2020, table 2"
_T5 = "Raffel et al. 2019, table 14"
_ELMO = "Peters et al. 2018, table 1"
_MNLI = ("mnli.accuracy", "mnli_mismatched.accuracy")
_SQUAD = ("squad.squad_exact_match", "squad.squad_f1")
_SQUAD2 = ("squad2.squad_exact_match", "squad2.squad_f1")


@dataclasses.dataclass(frozen=True)
class PublishedRow:
    """The published scores of a system.

    Attributes:
        system: Name of the system.
        split: The split that was scored.
        source: Paper and table.
        values: Values in percent by column.
        average: The paper's own average over GLUE, in percent; None if the table has none.
    """

    system: str
    split: Split
    source: str
    values: Mapping[str, float] = dataclasses.field(default_factory=dict)
    average: float | None = None


def _row(
    system: str,
    split: Split,
    source: str,
    columns: tuple[str, ...] = (),
    values: tuple[float, ...] = (),
    average: float | None = None,
) -> PublishedRow:
    return PublishedRow(system, split, source, dict(zip(columns, values, strict=True)), average)


_GLUE_TEST = f"{_BERT}, table 1"
_SIZES = f"{_BERT}, table 6"
_SIZE_COLUMNS = ("mnli.accuracy", "mrpc.accuracy", "sst2.accuracy")
_ROBERTA_COLUMNS = ("squad.squad_f1", "squad2.squad_f1", "mnli.accuracy", "sst2.accuracy")
_ELMO_COLUMNS = ("squad.squad_f1", "snli.accuracy", "conll2003.entity_f1")
# Its table calls QQP, STS-B and MRPC accuracies; of STS-B's numbers that is a correlation.
_BART_COLUMNS = (
    *(*_SQUAD, *_SQUAD2, *_MNLI, "sst2.accuracy", "qqp.accuracy", "qnli.accuracy"),
    *("stsb.pearson", "rte.accuracy", "mrpc.accuracy", "cola.matthews"),
)

PUBLISHED: tuple[PublishedRow, ...] = (
    _row("Best before GPT", "test", _GLUE_TEST, average=74.0),
    _row("BiLSTM, ELMo, attention", "test", _GLUE_TEST, average=71.0),
    _row(
        "GPT", "test", _GLUE_TEST, BERT_COLUMNS, (82.1, 81.4, 70.3, 87.4, 91.3, 45.4, 80.0, 82.3, 56.0), 75.1
    ),
    _row(
        "BERT-base",
        "test",
        _GLUE_TEST,
        BERT_COLUMNS,
        (84.6, 83.4, 71.2, 90.5, 93.5, 52.1, 85.8, 88.9, 66.4),
        79.6,
    ),
    _row(
        "BERT-large",
        "test",
        _GLUE_TEST,
        BERT_COLUMNS,
        (86.7, 85.9, 72.1, 92.7, 94.9, 60.5, 86.5, 89.3, 70.1),
        82.1,
    ),
    _row(
        "GPT, its own paper",
        "test",
        "Radford et al. 2018, table 2",
        (*_MNLI, "snli.accuracy", "qnli.accuracy", "rte.accuracy"),
        (82.1, 81.4, 89.9, 88.1, 56.0),
    ),
    _row("Without ELMo", "test", _ELMO, _ELMO_COLUMNS, (81.1, 88.0, 90.15)),
    _row("With ELMo", "test", _ELMO, _ELMO_COLUMNS, (85.8, 88.7, 92.22)),
    _row("T5-Small", "test", _T5, average=77.4),
    _row("T5-Base", "test", _T5, average=82.7),
    _row("T5-Large", "test", _T5, average=86.4),
    _row("T5-3B", "test", _T5, average=88.5),
    _row("T5-11B", "test", _T5, average=90.3),
    _row("BERT-base", "dev", f"{_BERT}, table 2", _SQUAD, (80.8, 88.5)),
    _row("BERT-large", "dev", f"{_BERT}, table 2", _SQUAD, (84.1, 90.9)),
    _row("BERT-large, ensemble", "dev", f"{_BERT}, table 2", _SQUAD, (85.8, 91.8)),
    _row("BERT-large, TriviaQA first", "dev", f"{_BERT}, table 2", _SQUAD, (84.2, 91.1)),
    _row("BERT, 3 layers of 768, 12 heads", "dev", _SIZES, _SIZE_COLUMNS, (77.9, 79.8, 88.4)),
    _row("BERT, 6 layers of 768, 3 heads", "dev", _SIZES, _SIZE_COLUMNS, (80.6, 82.2, 90.7)),
    _row("BERT, 6 layers of 768, 12 heads", "dev", _SIZES, _SIZE_COLUMNS, (81.9, 84.8, 91.3)),
    _row("BERT, 12 layers of 768, 12 heads", "dev", _SIZES, _SIZE_COLUMNS, (84.4, 86.7, 92.9)),
    _row("BERT, 12 layers of 1024, 16 heads", "dev", _SIZES, _SIZE_COLUMNS, (85.7, 86.9, 93.3)),
    _row("BERT, 24 layers of 1024, 16 heads", "dev", _SIZES, _SIZE_COLUMNS, (86.6, 87.8, 93.7)),
    _row("BERT-large", "dev", _ROBERTA, _ROBERTA_COLUMNS, (90.9, 81.8, 86.6, 93.7)),
    _row("RoBERTa, BERT's text", "dev", _ROBERTA, _ROBERTA_COLUMNS, (93.6, 87.3, 89.0, 95.3)),
    _row("RoBERTa, more text", "dev", _ROBERTA, _ROBERTA_COLUMNS, (94.0, 87.7, 89.3, 95.6)),
    _row("RoBERTa, 300K steps", "dev", _ROBERTA, _ROBERTA_COLUMNS, (94.4, 88.7, 90.0, 96.1)),
    _row("RoBERTa, 500K steps", "dev", _ROBERTA, _ROBERTA_COLUMNS, (94.6, 89.4, 90.2, 96.4)),
    _row("BERT", "dev", _ELECTRA, average=84.0),
    _row("RoBERTa, 100K steps", "dev", _ELECTRA, average=87.9),
    _row("RoBERTa, 500K steps", "dev", _ELECTRA, average=88.9),
    _row("XLNet", "dev", _ELECTRA, average=89.1),
    _row("BERT, trained as ELECTRA", "dev", _ELECTRA, average=87.2),
    _row("ELECTRA, 400K steps", "dev", _ELECTRA, average=89.0),
    _row("ELECTRA, 1.75M steps", "dev", _ELECTRA, average=89.5),
    _row(
        "BART",
        "dev",
        "Lewis et al. 2019, table 2",
        _BART_COLUMNS,
        (88.8, 94.6, 86.1, 89.2, 89.9, 90.1, 96.6, 92.5, 94.9, 91.2, 87.0, 90.4, 62.8),
    ),
)


def rows_of(split: Split) -> list[PublishedRow]:
    """Returns the published rows of a split."""
    if split not in SPLITS:
        raise ValueError(f"there are no published rows of {split!r}; {suggest(split, SPLITS)}")
    return [row for row in PUBLISHED if row.split == split]


def comparison_table(own: Mapping[str, float], split: Split, name: str = "this run") -> str:
    """Returns one's own scores and the published ones of the same columns and the same split, as text.

    Raises:
        ValueError: for another split, or a column without a score of that name.

    Example:

    >>> print(comparison_table({"sst2.accuracy": 0.8, "cola.matthews": 0.1}, "test"))
    test                sst2.accuracy  cola.matthews  source
    this run                     80.0           10.0
    GPT                          91.3           45.4  Devlin et al. 2018, table 1
    BERT-base                    93.5           52.1  Devlin et al. 2018, table 1
    BERT-large                   94.9           60.5  Devlin et al. 2018, table 1
    """
    columns = list(own)
    mine = PublishedRow(name, split, "", {column: percent(column, value) for column, value in own.items()})
    published = [row for row in rows_of(split) if row.values.keys() & own.keys()]
    lines = [_line(split, columns, "source")]
    for row in (mine, *published):
        cells = [f"{row.values[column]:.1f}" if column in row.values else "–" for column in columns]
        lines.append(_line(row.system, cells, row.source, columns))
    return "\n".join(lines)


def _line(first: str, cells: list[str], last: str, columns: list[str] | None = None) -> str:
    widths = [len(column) for column in columns or cells]
    middle = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return f"{first:<{_WIDTH}}  {middle}  {last}".rstrip()


_WIDTH = max(len(row.system) for row in PUBLISHED)
