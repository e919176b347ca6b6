import pytest

from firth.evaluation.references import (
    BERT_COLUMNS,
    PUBLISHED,
    SPLITS,
    bert_table_average,
    comparison_table,
    rows_of,
)
from firth.scores import SCORES
from firth.tasks.readers import FORMATS


def test_columns_are_scores_of_tasks_that_are_read():
    for row in PUBLISHED:
        for column in row.values:
            task, _, score = column.partition(".")
            assert task.removesuffix("_mismatched") in FORMATS and score in SCORES, (row.system, column)


def test_published_averages_follow_from_their_rows():
    """They would not from a value that was copied wrongly."""
    whole = [row for row in PUBLISHED if row.average is not None and row.values]
    assert [row.system for row in whole] == ["GPT", "BERT-base", "BERT-large"]
    for row in whole:
        average = bert_table_average({column: value / 100 for column, value in row.values.items()})
        assert (round(average.value, 1), average.missing) == (row.average, ()), row.system


def test_dev_and_test_are_never_in_one_table():
    own = dict.fromkeys(BERT_COLUMNS, 0.5) | {"squad.squad_f1": 50.0, "mrpc.accuracy": 0.5}
    shown = {split: comparison_table(own, split) for split in SPLITS}
    for split in SPLITS:
        others = {(row.system, row.source) for row in rows_of(split)}
        for line in shown[split].split("\n")[2:]:
            assert any(line.startswith(system) and line.endswith(source) for system, source in others), line
    assert "BART" in shown["dev"] and "BART" not in shown["test"]
    with pytest.raises(ValueError, match=r"'validation'.* test, dev"):
        comparison_table({}, "validation")


def test_one_score_does_not_stand_in_the_column_of_another():
    """BERT's table has F1 of MRPC, BART's has accuracy."""
    line = comparison_table({"mrpc.f1": 0.9, "cola.matthews": 0.1}, "dev").split("\n")[-1]
    assert line.split()[:3] == ["BART", "–", "62.8"]
