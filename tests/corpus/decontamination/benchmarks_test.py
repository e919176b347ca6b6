import os

import pytest
import tensorflow as tf

from firth.corpus.decontamination.benchmarks import list_benchmark_files, read_benchmark
from firth.corpus.documents.errors import SourceError
from firth.corpus.io.records import write_records
from firth.recipes.corpus.benchmarks import CsvBenchmark, ExamplesBenchmark, JsonlBenchmark, TextBenchmark
from firth.recipes.corpus.duplicates import DecontaminateStep


def examples_of(benchmark) -> list[tuple[str, str]]:
    files = list_benchmark_files(benchmark)
    return [(each.id, each.text) for file in files for each in read_benchmark(benchmark, file)]


def test_benchmarks_of_each_kind(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("one two\r\n\nthree\n")
    assert examples_of(TextBenchmark(kind="text", name="t", paths=(str(text),))) == [
        ("a.txt#L1", "one two"),
        ("a.txt#L3", "three"),
    ]
    whole = TextBenchmark(kind="text", name="t", paths=(str(text),), examples="file")
    assert examples_of(whole) == [("a.txt", "one two\n\nthree")]
    table = tmp_path / "a.tsv"
    table.write_text('\ufeffid\tq\ta\n7\t"one\ntwo"\tthree\n')
    columns = CsvBenchmark(
        kind="csv", name="c", paths=(str(table),), text_columns=("q", "a"), id_column="id", delimiter="\t"
    )
    assert examples_of(columns) == [("7", "one\ntwo three")]
    article = "word " * 2**15
    table.write_text(f"id\tq\ta\n7\t{article}\tend\n")
    assert examples_of(columns) == [("7", f"{article} end")]
    table.write_text('q\ta\n"one\t"two" three\n')
    unquoted = columns.model_copy(update={"quoted": False, "id_column": None})
    assert examples_of(unquoted) == [("a.tsv#L2", '"one "two" three')]
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"q": "one", "choices": {"text": ["two", "three"]}}\n')
    keys = JsonlBenchmark(kind="jsonl", name="j", paths=(str(lines),), text_keys=("q", "choices"))
    assert examples_of(keys) == [("a.jsonl#L1", "one two three")]
    example = tf.train.Example()
    for name, values in {"id": [b"7"], "q": [b"one", b"two"]}.items():
        example.features.feature[name].bytes_list.value.extend(values)
    path = write_records(f"{tmp_path}/artifact/Split-eval", 0, 1, [example.SerializeToString()])
    artifact = ExamplesBenchmark(kind="examples", name="e", uri=f"{tmp_path}/artifact", text_features=("q",))
    assert examples_of(artifact) == [(f"Split-eval/{os.path.basename(path)}#1", "one two")]


@pytest.mark.parametrize(
    ("benchmark", "content", "problem"),
    [
        ({"kind": "jsonl"}, '{"text": "a"}\n{"q": "a"}\n', r"#L2: KeyError\('text'\)"),
        ({"kind": "jsonl"}, '{"text": "a"\n', r"#L1: JSONDecodeError"),
        ({"kind": "jsonl"}, "3\n", r"#L1: TypeError"),
        ({"kind": "csv", "text_columns": ("q",)}, "a,b\n1,2\n", r"no column 'q', only \['a', 'b'\]"),
        ({"kind": "csv", "text_columns": ("b",)}, "a,b\n1\n", r"#L2: too few columns"),
        ({"kind": "csv", "text_columns": ("a",)}, 'a,b\n1,2\n"1" 2,3\n', r"#L3: .* say quoted: false"),
    ],
)
def test_evaluation_data_that_is_not_as_the_recipe_says_is_an_error(tmp_path, benchmark, content, problem):
    path = tmp_path / "data"
    path.write_text(content)
    parts = {**benchmark, "name": "exam", "paths": (str(path),)}
    config = DecontaminateStep(kind="decontaminate", benchmarks=(parts,))
    with pytest.raises(SourceError, match=problem):
        examples_of(config.benchmarks[0])
