"""An id that several records state, through every step: each record stays a document of its own."""

import json
import random

import pytest

from firth.corpus import SPLITS, Document, curate
from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import CorpusStep
from firth.recipes.corpus.benchmarks import TextBenchmark
from firth.recipes.corpus.classifiers import ClassifierStep
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.domains import DomainRulesStep, EachDomainCap
from firth.recipes.corpus.duplicates import (
    DatasetDuplicatesStep,
    DecontaminateStep,
    SentenceDuplicatesStep,
    SubstringDuplicatesStep,
)
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.duplicates_helpers import EXACT, NEAR, random_words, run_steps
from tests.corpus.helpers import document, make_pipeline, make_pipeline_of_two, read_records, read_to
from tests.corpus.quality.models import fasttext_step, scikit_learn_step

SHORT = {"min_words": 0, "min_sentences": 0}
QUIZ = " ".join(random_words(random.Random(7), 40))
SENTENCES = SentenceDuplicatesStep(kind="sentence_duplicates", **SHORT)
SUBSTRINGS = SubstringDuplicatesStep(kind="substring_duplicates", window=20, min_words=0)


def sources(folder, texts: dict[str, list[str]], ids) -> list[JsonlSource]:
    """Returns a source for each name, in two files; `ids` gives the id of the row of a number."""
    found = []
    for name, rows in texts.items():
        for part in range(2):
            lines = [{"text": text, "id": ids(i)} for i, text in enumerate(rows) if i % 2 == part]
            path = folder / f"{name}.{part}.jsonl"
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        found.append(
            JsonlSource(kind="jsonl", name=name, paths=(str(folder / f"{name}.?.jsonl"),), id_key="id")
        )
    return found


def curated(folder, texts: dict[str, list[str]], ids, *steps, pipeline=make_pipeline) -> tuple[list, dict]:
    """Returns (source, text) of what is left, sorted, and the report."""
    folder.mkdir()
    read_to(folder, sources(folder, texts, ids))
    splits = {split: f"{folder}/{split}" for split in SPLITS}
    cleaning = Cleaning(steps=steps, split=Split(eval_fraction=0.3))
    report = curate(pipeline, str(folder), f"{folder}/documents/*", cleaning, splits, f"{folder}/report")
    left = [Document.from_example(each) for split in SPLITS for each in read_records(f"{folder}/{split}/*")]
    return sorted((each.source, each.text) for each in left), report


def test_what_nothing_shares_stays_where_another_of_its_id_is_a_duplicate(tmp_path):
    generator = random.Random(0)
    same, near, unique = (" ".join(random_words(generator, 60)) for _ in range(3))
    # The first two rows of the web share three sentences; the third, of the same id, shares none.
    sentences = ["A b. C d. E f. One.", "Two. A b. C d. E f.", "Three. Four. Five. Six. Seven."]
    texts = {"books": [same, near], "web": [same, f"{near} more", unique, *sentences]}
    left, report = curated(tmp_path / "run", texts, lambda i: "D", SENTENCES, EXACT, NEAR)
    found = [text for _, text in left]
    assert ("web", unique) in left and ("web", sentences[2]) in left
    assert found.count(same) == 1 and ("web", f"{near} more") in left and ("books", near) not in left
    # One of the two keeps its sentences, and the other a single one.
    assert len({*sentences[:2]} & {*found}) == len({"One.", "Two."} & {*found}) == 1
    assert len(left) == 6 == sum(row["documents"] for row in report["splits"])


def corpus_steps(folder) -> list:
    (folder / "benchmark.txt").write_text(QUIZ)
    benchmark = TextBenchmark(kind="text", name="quiz", paths=(str(folder / "benchmark.txt"),))
    return [
        SENTENCES,
        EXACT,
        NEAR,
        DatasetDuplicatesStep(kind="dataset_duplicates", benchmarks=(benchmark,), rounds=2),
        DecontaminateStep(kind="decontaminate", benchmarks=(benchmark,)),
        ClassifierStep(
            kind="classifier", reference=("books",), keep="threshold", threshold=0.0, buckets=2**10
        ),
        DomainRulesStep(kind="domain_rules", each_domain=EachDomainCap(max_documents=100)),
        fasttext_step(threshold=0.0),
        scikit_learn_step(folder, threshold=0.0),
        # Last: of two copies that are still there, which one is cut depends on their ids.
        SUBSTRINGS,
    ]


def rows() -> dict[str, list[str]]:
    """Returns rows of two sources: copies, near copies, evaluation data, and what is like nothing else."""
    generator = random.Random(1)
    # All of different lengths, so that who survives does not depend on ids.
    plain = [" ".join(random_words(generator, 80 - i)) + "." for i in range(12)]
    near = [f"{text} And more." for text in plain[:3]]
    return {"books": [*plain[:6], *near], "web": [*plain[4:], QUIZ, f"{QUIZ} {plain[11]}", *plain[:2]]}


@pytest.mark.repeated
def test_every_kind_of_step_does_to_repeated_ids_what_it_does_to_others(tmp_path):
    steps = corpus_steps(tmp_path)
    assert {step.kind for step in steps} == {k for k, each in STEPS.items() if issubclass(each, CorpusStep)}
    texts = rows()
    left, report = curated(tmp_path / "1", texts, lambda i: "D", *steps, pipeline=make_pipeline_of_two)
    # Deduplication keeps the longest of near copies, here the last books: copies on the web are dropped.
    stays = {"books": texts["books"][3:], "web": texts["web"][2:8]}
    assert left == sorted((source, text) for source, kept in stays.items() for text in kept)
    dropped = {
        (row["step"], row["source"], reason): size["documents"]
        for row in report["funnel"]
        for reason, size in row["dropped"].items()
    }
    assert dropped == {
        ("exact_duplicates", "web", "duplicate"): 4,
        ("near_duplicates", "books", "duplicate"): 3,
        ("dataset_duplicates", "web", "in_benchmark"): 1,
        ("decontaminate", "web", "contaminated"): 1,
    }
    assert {row["source"]: row["documents"] for row in report["repeated_ids"]} == {"books": 9, "web": 12}


@pytest.mark.repeated
def test_every_kind_of_step_does_the_same_to_ids_that_are_not_repeated(tmp_path):
    steps = corpus_steps(tmp_path)
    unique = curated(tmp_path / "1", rows(), lambda i: f"row {i}", *steps)
    repeated = curated(tmp_path / "2", rows(), lambda i: "D", *steps)
    assert repeated[0] == unique[0]
    assert repeated[1]["funnel"] == unique[1]["funnel"] and not unique[1]["repeated_ids"]


def test_repeated_ids_are_reported(tmp_path):
    texts = {"books": ["One.", "Two.", "Three."], "web": [f"Text {i}." for i in range(9)]}
    # Seven rows of the web have three ids; an id that both sources have once is not a repeat.
    left, report = curated(
        tmp_path / "1", texts, lambda i: f"{'aabbccc'[i]}" if i < 7 else f"jane@roe.org{i}"
    )
    assert len(left) == 12
    books, web = report["repeated_ids"]
    assert (books["source"], books["ids"], books["documents"]) == ("books", 1, 2)
    assert (web["source"], web["ids"], web["documents"]) == ("web", 3, 7)
    assert [each["uri"].rpartition("/")[2].split(".")[0] for each in web["examples"]] == ["web"] * 3
    assert not any(row["step"] == "repeated_ids" for row in report["counts"] + report["dropped_examples"])


def test_two_texts_of_one_id_are_refused(tmp_path):
    with pytest.raises(Exception, match=r"id .*'a'") as error:
        run_steps(tmp_path, [document("One."), document("Two.")], EXACT)
    assert isinstance(error.value, CorpusError) or "CorpusError" in repr(error.value)
