import json

import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.decontamination.decontaminate import cut_ngrams
from firth.corpus.decontamination.evidence import CorpusEvidence, list_found_ngrams
from firth.corpus.documents.corpus_counts import Count
from firth.corpus.text.comparable_text import comparable_words
from firth.recipes.corpus.benchmarks import JsonlBenchmark, TextBenchmark
from firth.recipes.corpus.duplicates import DecontaminateStep
from tests.corpus.duplicates_helpers import reasons, run_steps
from tests.corpus.helpers import document

QUESTION = "Who was the captain of the whaling ship that went down in 1851, and why did he sail?"


def exam(tmp_path, lines) -> JsonlBenchmark:
    path = tmp_path / "exam.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return JsonlBenchmark(kind="jsonl", name="exam", paths=(str(path),), text_keys=("q", "a"), id_key="id")


def step(*benchmarks, **settings) -> DecontaminateStep:
    return DecontaminateStep(kind="decontaminate", benchmarks=benchmarks, **settings)


def test_what_was_found_of_each_benchmark_by_hand(tmp_path):
    # The 18 words and 1 have seven 13-grams; "q2" has five words.
    lines = [{"id": "q1", "q": QUESTION, "a": "Gain."}, {"id": "q2", "q": "Too short to be", "a": "found"}]
    other = tmp_path / "other.txt"
    other.write_text("Nothing of this benchmark is anywhere in the corpus, as far as the corpus goes here.\n")
    config = step(exam(tmp_path, lines), TextBenchmark(kind="text", name="other", paths=(str(other),)))
    documents = [
        document(f"Quiz:\n{QUESTION.upper()} Nobody knows.", "whole"),
        document("The captain of the whaling ship that went down in 1851 — and why did he sail off?", "part"),
        document("Captain of the whaling ship that went down in 1851.", "short"),
    ]
    kept, totals = run_steps(tmp_path, documents, config, batch=1)
    assert [each.uri for each in kept] == ["short"]
    assert reasons(totals) == {"contaminated": 2}
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
    assert totals.counts[Count("decontaminate", "exam", "ngrams_found")] == 6
    assert totals.counts[Count("decontaminate", "other", "examples_found")] == 0


def test_what_is_kept_is_told_all_the_same(tmp_path):
    benchmark = exam(tmp_path, [{"id": "q1", "q": QUESTION, "a": "Gain."}])
    documents = [document(QUESTION, "whole"), document("Nothing of it.", "other")]
    kept, totals = run_steps(tmp_path, documents, step(benchmark, action="keep"))
    assert len(kept) == 2 and reasons(totals) == {}
    assert totals.counts[Count("decontaminate", "docs", "documents_found")] == 1
    (known,) = CorpusEvidence("mine", list_found_ngrams(tmp_path)).load()
    assert (known.step, known.action) == ("decontaminate", "keep")
    assert known.look_up([f"{QUESTION} No gain.", "x " * 13]).found.tolist() == [True, False]


def test_a_span_is_cut_with_a_margin_and_short_pieces_go(tmp_path):
    benchmark = exam(tmp_path, [{"id": "q1", "q": QUESTION, "a": ""}])
    before, behind = "Words before it are here to stay.", "Some words stand after it and stay as well."
    documents = [
        document(f"{before} {QUESTION} {behind}", "cut"),
        document(f"Quiz: {QUESTION} {behind}", "piece"),
        document(f"Quiz: {QUESTION} End.", "all"),
    ]
    config = step(benchmark, action="cut", margin_characters=6, min_piece_characters=20)
    kept, totals = run_steps(tmp_path, documents, config)
    texts = {each.uri: each.text for each in kept}
    assert texts == {
        "cut": "Words before it are here to\n\nwords stand after it and stay as well.",
        "piece": "words stand after it and stay as well.",
    }
    assert reasons(totals) == {"contaminated": 1}
    assert totals.counts[Count("decontaminate", "docs", "documents_cut")] == 2


@settings(max_examples=50, deadline=None, derandomize=True)
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


def test_two_benchmarks_of_one_name_are_refused():
    one = TextBenchmark(kind="text", name="exam", paths=("a",))
    with pytest.raises(ValueError, match="exam"):
        step(one, one)
