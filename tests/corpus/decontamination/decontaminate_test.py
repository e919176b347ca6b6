import json
import random

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from firth.corpus.decontamination import ngram_index
from firth.corpus.decontamination.benchmarks import BenchmarkExample, list_benchmark_files, read_benchmark
from firth.corpus.decontamination.decontaminate import cut_ngrams
from firth.corpus.decontamination.ngram_index import Hit, NgramIndex
from firth.corpus.documents.errors import SourceError
from firth.corpus.documents.tally import Count
from firth.corpus.io.record_files import write_records
from firth.corpus.text.words import comparable_words
from firth.recipes.corpus.benchmarks import CsvBenchmark, ExamplesBenchmark, JsonlBenchmark, TextBenchmark
from firth.recipes.corpus.duplicates import DecontaminateStep
from tests.corpus.duplicates_helpers import random_words, reasons, run_steps
from tests.corpus.helpers import document

QUESTION = "Who was the captain of the whaling ship that went down in 1851, and why did he sail?"


def exam(tmp_path, lines) -> JsonlBenchmark:
    path = tmp_path / "exam.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return JsonlBenchmark(kind="jsonl", name="exam", paths=(str(path),), text_keys=("q", "a"), id_key="id")


def step(*benchmarks, **settings) -> DecontaminateStep:
    return DecontaminateStep(kind="decontaminate", benchmarks=benchmarks, **settings)


def test_what_was_found_of_each_benchmark_by_hand(tmp_path):
    # Of 18 words and 1, seven 13-grams; "q2" has five words.
    lines = [{"id": "q1", "q": QUESTION, "a": "Gain."}, {"id": "q2", "q": "Too short to be", "a": "found"}]
    other = tmp_path / "other.txt"
    other.write_text("Nothing of this benchmark is anywhere in the corpus, as far as the corpus goes here.\n")
    config = step(exam(tmp_path, lines), TextBenchmark(kind="text", name="other", paths=(str(other),)))
    documents = [
        document(f"Quiz:\n{QUESTION.upper()} Nobody knows.", "whole"),
        document("The captain of the whaling ship that went down in 1851 — and why did he sail off?", "part"),
        document("Captain of the whaling ship that went down in 1851.", "short"),
    ]
    kept, tally = run_steps(tmp_path, documents, config, batch=1)
    assert [each.uri for each in kept] == ["short"]
    assert reasons(tally) == {"contaminated": 2}
    report = json.loads((tmp_path / "decontaminate.json").read_text())
    assert report["ngram_words"] == 13
    first, second = report["benchmarks"]
    assert first == {
        "benchmark": "exam",
        "examples": 2,
        "examples_too_short": 1,
        "examples_found": 1,
        "ngrams": 7,
        "ngrams_found": 6,
        "found": [{"id": "q1", "ngrams": 7, "ngrams_found": 6}],
    }
    assert (second["examples"], second["ngrams_found"], second["found"]) == (1, 0, [])
    assert tally.counts[Count("decontaminate", "exam", "ngrams_found")] == 6
    assert tally.counts[Count("decontaminate", "other", "examples_found")] == 0


def test_a_span_is_cut_with_a_margin_and_short_pieces_go(tmp_path):
    benchmark = exam(tmp_path, [{"id": "q1", "q": QUESTION, "a": ""}])
    before, behind = "Words before it are here to stay.", "Some words stand after it and stay as well."
    documents = [
        document(f"{before} {QUESTION} {behind}", "cut"),
        document(f"Quiz: {QUESTION} {behind}", "piece"),
        document(f"Quiz: {QUESTION} End.", "all"),
    ]
    config = step(benchmark, action="cut", margin_characters=6, min_piece_characters=20)
    kept, tally = run_steps(tmp_path, documents, config)
    texts = {each.uri: each.text for each in kept}
    assert texts == {
        "cut": "Words before it are here to\n\nwords stand after it and stay as well.",
        "piece": "words stand after it and stay as well.",
    }
    assert reasons(tally) == {"contaminated": 1}
    assert tally.counts[Count("decontaminate", "docs", "documents_cut")] == 2


@given(st.text("ab .é\n", max_size=60), st.integers(1, 3), st.integers(0, 5), st.data())
def test_a_cut_leaves_nothing_of_the_ngram_and_all_words_that_are_far(text, size, margin, data):
    words = comparable_words(text)
    place = data.draw(st.integers(0, max(0, len(words) - size)))
    if len(words) < size:
        return
    left = [comparable_words(piece) for piece in cut_ngrams(text, [place], size, margin)]
    assert sum(map(len, left)) <= len(words) - size
    flat = [word for piece in left for word in piece]
    if not margin:
        assert flat == words[:place] + words[place + size :]


@given(st.lists(st.text("abc ", max_size=30), max_size=5), st.text("abc ", max_size=60), st.integers(1, 3))
def test_ngrams_are_found_as_by_a_naive_search(examples, text, size):
    index = NgramIndex([BenchmarkExample("exam", f"{i}", each) for i, each in enumerate(examples)], size)

    def ngrams(words):
        return [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]

    known = {ngram for each in examples for ngram in ngrams(each.split())}
    hits = list(index.find(["", text]))
    expected = [i for i, ngram in enumerate(ngrams(text.split())) if ngram in known]
    assert [(hit.text, hit.word) for hit in hits] == [(1, place) for place in expected]
    if examples:
        (row,) = index.table([hit.ngram for hit in hits])
        mine = set(ngrams(text.split()))
        assert row["ngrams"] == len(known)
        assert row["ngrams_found"] == len(known & mine)
        assert [each["id"] for each in row["found"]] == [
            f"{i}" for i, each in enumerate(examples) if mine & set(ngrams(each.split()))
        ]


def test_hashes_that_agree_by_chance_are_told_apart(monkeypatch):
    honest = ngram_index.shingle_hashes

    def poor(words, *arguments):
        hashes, runs = honest(words, *arguments)
        return hashes % 101, runs

    monkeypatch.setattr(ngram_index, "shingle_hashes", poor)
    words = random_words(random.Random(0), 3000)
    index = NgramIndex([BenchmarkExample("exam", f"{i}", " ".join(words[i * 9 :][:9])) for i in range(3)], 5)
    assert len(index._hashes) == 15
    found = index.find([" ".join(words[100:] + words[9:14])])
    assert [hit.word for hit in found] == [2900]


def examples_of(benchmark) -> list[tuple[str, str]]:
    files = list_benchmark_files(benchmark)
    return [(each.id, each.text) for path in files for each in read_benchmark(benchmark, path)]


def test_benchmarks_of_each_kind(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("one two\r\n\nthree\n")
    assert examples_of(TextBenchmark(kind="text", name="t", paths=(str(text),))) == [
        (f"{text}#L1", "one two"),
        (f"{text}#L3", "three"),
    ]
    whole = TextBenchmark(kind="text", name="t", paths=(str(text),), examples="file")
    assert examples_of(whole) == [(str(text), "one two\n\nthree")]
    table = tmp_path / "a.tsv"
    table.write_text('\ufeffid\tq\ta\n7\t"one\ntwo"\tthree\n')
    columns = CsvBenchmark(
        kind="csv", name="c", paths=(str(table),), text_columns=("q", "a"), id_column="id", delimiter="\t"
    )
    assert examples_of(columns) == [("7", "one\ntwo three")]
    table.write_text('q\ta\n"one\t"two" three\n')
    unquoted = columns.model_copy(update={"quoted": False, "id_column": None})
    assert examples_of(unquoted) == [(f"{table}#L2", '"one "two" three')]
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"q": "one", "choices": {"text": ["two", "three"]}}\n')
    keys = JsonlBenchmark(kind="jsonl", name="j", paths=(str(lines),), text_keys=("q", "choices"))
    assert examples_of(keys) == [(f"{lines}#L1", "one two three")]
    example = tf.train.Example()
    for name, values in {"id": [b"7"], "q": [b"one", b"two"]}.items():
        example.features.feature[name].bytes_list.value.extend(values)
    path = write_records(f"{tmp_path}/artifact/Split-eval", 0, 1, [example.SerializeToString()])
    artifact = ExamplesBenchmark(kind="examples", name="e", uri=f"{tmp_path}/artifact", text_features=("q",))
    assert examples_of(artifact) == [(f"{path}#1", "one two")]


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
    config = step({**benchmark, "name": "exam", "paths": (str(path),)})
    with pytest.raises(SourceError, match=problem):
        examples_of(config.benchmarks[0])


def test_two_benchmarks_of_one_name_are_refused():
    one = TextBenchmark(kind="text", name="exam", paths=("a",))
    with pytest.raises(ValueError, match="several benchmarks are called exam"):
        step(one, one)


def test_a_hit_names_text_word_and_ngram():
    index = NgramIndex([BenchmarkExample("exam", "1", "a b")], 2)
    assert list(index.find(["x a b", "a B"])) == [Hit(0, 1, 0), Hit(1, 0, 0)]
