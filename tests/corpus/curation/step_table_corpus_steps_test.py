"""All corpus-wide steps in one pipeline: what they leave depends on nothing but the documents."""

import json
import random

import pytest

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.steps import CorpusStep
from firth.recipes.corpus.benchmarks import JsonlBenchmark, TextBenchmark
from firth.recipes.corpus.classifiers import ClassifierStep
from firth.recipes.corpus.domains import DomainRulesStep, EachDomainCap
from firth.recipes.corpus.duplicates import (
    DatasetDuplicatesStep,
    DecontaminateStep,
    SentenceDuplicatesStep,
    SubstringDuplicatesStep,
)
from tests.corpus.duplicates_helpers import (
    EXACT,
    NEAR,
    random_words,
    reasons,
    run_steps,
    with_changes,
)
from tests.corpus.helpers import document, make_pipeline, make_pipeline_of_two
from tests.corpus.quality.models import fasttext_step, scikit_learn_step

QUESTIONS = [" ".join(random_words(random.Random(i), 20)) for i in range(30)]


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmarks")
    lines = [json.dumps({"id": f"q{i}", "text": question}) for i, question in enumerate(QUESTIONS)]
    (folder / "quiz.jsonl").write_text("\n".join(lines))
    (folder / "essays.txt").write_text(" ".join(random_words(random.Random("essay"), 104)))
    quiz = JsonlBenchmark(kind="jsonl", name="quiz", paths=(f"{folder}/quiz.jsonl",), id_key="id")
    essays = TextBenchmark(kind="text", name="essays", paths=(f"{folder}/essays.txt",))
    return (
        EXACT,
        NEAR,
        DatasetDuplicatesStep(kind="dataset_duplicates", rounds=3, benchmarks=(essays,)),
        SentenceDuplicatesStep(kind="sentence_duplicates", unit="line", span=1, min_words=5, min_sentences=0),
        SubstringDuplicatesStep(kind="substring_duplicates", window=60),
        DecontaminateStep(kind="decontaminate", benchmarks=(quiz,), action="cut", margin_characters=0),
        DomainRulesStep(kind="domain_rules", each_domain=EachDomainCap(max_documents=1)),
        fasttext_step(threshold=0.0),
        scikit_learn_step(folder, threshold=0.0),
        ClassifierStep(kind="classifier", reference=("books",), max_documents=20, keep="threshold"),
    )


def test_each_kind_is_there(steps):
    assert {step.kind for step in steps} == {
        kind for kind, factory in STEPS.items() if issubclass(factory, CorpusStep)
    }


def corpus():
    generator = random.Random(1)
    documents = [document(" ".join(with_changes(random_words(random.Random("essay"), 104), 1)), "essay")]
    for i in range(60):
        words = random_words(generator, 104)
        text = " ".join(words) + f"\nShare this page on line {i % 5}"
        documents.append(document(text, f"{i}", "books" if i % 3 else "web"))
        if i % 4 == 0:
            documents.append(document(" ".join(with_changes(words, 1)), f"near{i}", "web"))
        if i % 6 == 0:
            documents.append(document(text, f"copy{i}", "web"))
        if i % 5 == 0:
            quoted = f"{' '.join(random_words(generator, 40))} {QUESTIONS[i // 5]}, end"
            documents.append(document(quoted, f"quiz{i}", "web"))
    return documents


@pytest.mark.repeated
def test_order_batches_groups_and_workers_change_nothing(tmp_path, steps):
    documents = corpus()

    def run(name, documents, batch, pipeline=make_pipeline, **grouping):
        folder = tmp_path / name
        kept, totals = run_steps(
            folder, documents, *steps, sources=("books", "web"), batch=batch, pipeline=pipeline, **grouping
        )
        names = ("decontaminate.json", "classifier.json", "classifier/classifier.json", "fasttext.json")
        model = (folder / "classifier" / "weights.npz").read_bytes()
        reports = [(folder / name).read_text() for name in names]
        return digest(model, *(each.to_example() for each in kept)), vars(totals), *reports

    first = run("1", documents, 9)
    shuffled = random.Random(3).sample(documents, len(documents))
    assert run("2", shuffled, 31, make_pipeline_of_two, groups=3, by_files=True) == first
    _, totals, report, *_ = first
    assert json.loads(report)["benchmarks"][0]["examples_found"] == 12
    dropped = {flow: count for flow, count in totals["documents"].items() if flow.outcome == "dropped"}
    duplicates = {flow: count for flow, count in dropped.items() if flow.step.endswith("duplicates")}
    assert {flow.step for flow in duplicates} == {"exact_duplicates", "near_duplicates", "dataset_duplicates"}
    assert sum(duplicates.values()) == 10 + 15 + 1
    assert {flow.step for flow in dropped} - {flow.step for flow in duplicates} == {"classifier"}


def test_an_empty_corpus_passes(tmp_path, steps):
    # The classifier cannot learn from an empty corpus, which is an error of its own.
    kept, totals = run_steps(tmp_path, [], *steps[:-1], groups=3, by_files=True)
    assert kept == []
    assert not reasons(totals)
