"""Published scores, to be printed next to one's own: those of test and of dev splits never in one table.

Columns are `<task>.<score>`, with keys of `firth.tasks.readers.FORMATS` and of `SCORES`; MNLI's other split
is `mnli_mismatched`. Values are in percent, as printed.
"""

import dataclasses
import math
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from firth.recipes.base.errors import suggest
from firth.recipes.base.yaml_text import read_yaml
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


def _published() -> Iterator[PublishedRow]:
    """Yields the rows of the tables in `published.yaml`."""
    path = pathlib.Path(__file__).with_name("published.yaml")
    for table in read_yaml(path.read_text(encoding="utf-8"), str(path)).data:
        for row in table["rows"]:
            values = dict(zip(table.get("columns", ()), row.get("values", ()), strict="values" in row))
            yield PublishedRow(row["system"], table["split"], table["source"], values, row.get("average"))


PUBLISHED = tuple(_published())


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
