import numpy as np

from firth.corpus.grouping.tables import FirstRows, sort_table, table_of


def test_first_rows_of_many_small_tables_are_those_of_one():
    generator = np.random.default_rng(0)
    table = table_of(key=generator.integers(0, 50, 999), value=generator.integers(0, 9, 999))
    whole = FirstRows([table], "key", ["value"])
    parts = FirstRows(np.array_split(generator.permutation(table), 40), "key", ["value"])
    assert (whole.rows == parts.rows).all()
    assert (whole.counts == parts.counts).all()
    assert whole.counts.sum() == 999
    for key in range(50):
        assert whole.of(np.array([key]))[0]["value"] == table["value"][table["key"] == key].min()
    assert sort_table(table, ["key", "value"]).tolist() == sorted(table.tolist())
