import random

import pytest

from firth.corpus.documents.errors import SourceError
from firth.recipes.corpus.benchmarks import TextBenchmark
from firth.recipes.corpus.duplicates import DatasetDuplicatesStep
from tests.corpus.duplicates_helpers import random_words, reasons, run_steps, sizes, with_changes
from tests.corpus.helpers import document


def step(**settings) -> DatasetDuplicatesStep:
    return DatasetDuplicatesStep(kind="dataset_duplicates", rounds=2, **settings)


def corpus():
    words = [random_words(random.Random(i), 104) for i in range(3)]
    books = [document(" ".join(words[0]), f"{n}", "books") for n in "ab"]
    web = [document(" ".join(with_changes(words[i], 1)), f"{i}", "web") for i in range(3)]
    return words, books, web


def test_between_sources_the_first_keeps_all_of_its_own(tmp_path):
    _, books, web = corpus()
    kept, totals = run_steps(tmp_path / "1", [*web, *books], step(), sources=["books", "web"], batch=2)
    assert {each.id for each in kept} == {each.id for each in [*books, *web[1:]]}
    assert sizes(totals, "dataset_duplicates.cluster_sizes") == {3: 1}
    config = step(source_priority=("web",))
    kept, totals = run_steps(tmp_path / "2", [*web, *books], config, sources=["books", "web"])
    assert {each.id for each in kept} == {each.id for each in web}
    assert reasons(totals) == {"duplicate": 2}


def test_evaluation_data_comes_before_every_source(tmp_path):
    words, books, web = corpus()
    path = tmp_path / "exam.txt"
    path.write_text("\n\n".join([" ".join(words[0]).upper(), " ".join(words[1])]))
    config = step(benchmarks=(TextBenchmark(kind="text", name="exam", paths=(str(path),)),))
    kept, totals = run_steps(tmp_path / "1", [*web, *books], config, sources=["books", "web"], batch=2)
    assert [each.id for each in kept] == [web[2].id]
    assert reasons(totals) == {"in_benchmark": 4}


def test_evaluation_data_that_is_not_there_is_an_error(tmp_path):
    missing = TextBenchmark(kind="text", name="exam", paths=(f"{tmp_path}/none.txt",))
    with pytest.raises(SourceError, match=r"'exam'.*none\.txt"):
        run_steps(tmp_path, [document("text")], step(benchmarks=(missing,)))
