"""Stretches of text that repeat are found wherever they begin, as a search without any hash finds them."""

import pickle
import random
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from firth.corpus.dedup.sentence_duplicates import CUT, decide_spans
from firth.corpus.dedup.substring_duplicates import (
    CutSpans,
    anchors_of,
    repeated_anchors,
    repeated_positions,
    windows_of,
)
from firth.corpus.documents.corpus_counts import Count
from firth.corpus.documents.steps import Drop, Keep
from firth.corpus.grouping.marks import MarkIndex
from firth.corpus.grouping.tables import table_of
from firth.corpus.grouping.values import Values
from firth.recipes.corpus.duplicates import SubstringDuplicatesStep
from tests.corpus.duplicates_helpers import random_words, reasons, run_steps
from tests.corpus.helpers import document

KIND = "substring_duplicates"


def step(window, **keys):
    return SubstringDuplicatesStep(kind=KIND, **{"window": window, "min_words": 0, **keys})


def units_of(text, unit):
    """Returns each unit with the white space after it, and what of it is compared."""
    found = re.findall(r"\S+\s*", text) if unit == "word" else list(text)
    return found, [each.strip() if unit == "word" else each for each in found]


def by_hand(documents, window, unit="word"):
    """Returns the texts that stay, by the documents' ids, without those that are cut to nothing."""
    first, windows = {}, []
    # The web is the most preferred source of `corpus`.
    for each in sorted(documents, key=lambda each: (each.source != "web", each.id)):
        _, units = units_of(each.text, unit)
        for i in range(len(units) - window + 1):
            content = tuple(units[i : i + window])
            windows.append((each.id, i, content))
            first.setdefault(content, (each.id, i))
    several = {content for *_, content in windows if sum(other[2] == content for other in windows) > 1}
    kept = {}
    for each in documents:
        pieces, _ = units_of(each.text, unit)
        stays = [True] * len(pieces)
        own = [(i, content) for id, i, content in windows if id == each.id and content in several]
        for is_first in (False, True):
            for i, content in own:
                if (first[content] == (each.id, i)) == is_first:
                    stays[i : i + window] = [is_first] * window
        kept[each.id] = each.text if all(stays) else "".join(p for p, s in zip(pieces, stays) if s).strip()
    return {id: text for id, text in kept.items() if text}


def texts_of(kept):
    return {each.id: each.text for each in kept}


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=25).map(" ".join)


def group(name, table):
    return 0, Values([(name, pickle.dumps(table))])


def without_beam(documents, config):
    """Returns the documents after the functions that Beam calls, in one group and one batch."""
    places = np.concatenate(list(repeated_anchors(group("anchors", anchors_of(documents, config)))))
    found = [
        (each, repeated_positions(each, marks, False)) for each, marks in MarkIndex([places]).of(documents)
    ]
    spans = windows_of(found, config, {"docs": 0})
    marks = MarkIndex(decide_spans(group("spans", spans)))
    decisions = [CutSpans(config)(each, rows, False) for each, rows in marks.of(documents)]
    return [decision.document for decision in decisions if isinstance(decision, Keep)]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(2, 9), st.sampled_from(["word", "character"]))
def test_it_finds_what_a_search_of_all_windows_finds(texts, window, unit):
    documents = [document(text, f"{i}") for i, text in enumerate(texts) if text.strip()]
    assume(documents)
    kept = without_beam(documents, step(window, unit=unit))
    assert texts_of(kept) == by_hand(documents, window, unit)


def corpus(seed=0):
    """Returns texts of random words, of which some of which quote 12 to 60 words of another."""
    generator = random.Random(seed)
    texts = [random_words(generator, 120) for _ in range(20)]
    for number in range(0, 20, 2):
        quoted = texts[generator.randrange(20)]
        start, count = generator.randrange(60), generator.randint(12, 60)
        place = generator.randrange(100)
        texts[number] = texts[number][:place] + quoted[start : start + count] + texts[number][place:]
    # Two that are the same are too short to have a window.
    texts += [["the", "same", "text"]] * 2
    return [document("\n".join(text), f"{i}", "books" if i % 3 else "web") for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("window", "options"),
    [
        (10, {"batch": 4, "groups": 3, "by_files": True}),
        pytest.param(50, {"batch": 31}, marks=pytest.mark.repeated),
    ],
)
def test_quotations_of_random_lengths(tmp_path, window, options):
    """The text that is left is that of a search by hand, whatever the batches and groups are."""
    documents = corpus()
    kept, totals = run_steps(tmp_path, documents, step(window), sources=["web", "books"], **options)
    assert texts_of(kept) == by_hand(documents, window)
    counts = {each.name: 0 for each in totals.counts}
    for each, count in totals.counts.items():
        counts[each.name] += count
    assert set(counts) == {"spans_cut", "words_cut", "bytes_cut"}
    before, after = (sum(each.size for each in part) for part in (documents, kept))
    assert counts["bytes_cut"] == before - after > 0
    words = [sum(each.words for each in part) for part in (documents, kept)]
    assert counts["words_cut"] == words[0] - words[1]


def test_the_preferred_source_keeps_the_stretch(tmp_path):
    quoted = " ".join(random_words(random.Random(1), 30))
    documents = [document(f"before{n} {quoted} after{n}", f"{n}", s) for n, s in enumerate(["web", "books"])]
    config = step(20, source_priority=("books",))
    kept, totals = run_steps(tmp_path, documents, config, sources=["web", "books"])
    assert {each.source: each.text for each in kept} == {
        "books": documents[1].text,
        "web": documents[0].text.replace(f"{quoted} ", ""),
    }
    assert totals.counts[Count(KIND, "web", "bytes_cut")] == len(f"{quoted} ")


def test_documents_with_a_later_occurrence_are_dropped_by_choice_or_when_little_is_left(tmp_path):
    quoted = " ".join(random_words(random.Random(2), 30))
    documents = [document(quoted, "a", "books"), document(f"see: {quoted}", "b", "web")]
    kept, totals = run_steps(tmp_path / "a", documents, step(20, action="drop"), sources=["books", "web"])
    assert [each.uri for each in kept] == ["a"] and reasons(totals) == {"repeated_span": 1}
    kept, totals = run_steps(tmp_path / "b", documents, step(20, min_words=2), sources=["books", "web"])
    assert [each.uri for each in kept] == ["a"] and reasons(totals) == {"too_few_words": 1}


def test_text_without_white_space_is_measured_in_characters():
    text = "".join(chr(0x4E00 + number) for number in range(90))
    marks = table_of(position=np.arange(60, 71), code=np.full(11, CUT, np.uint8))
    config = SubstringDuplicatesStep(kind=KIND, unit="character", window=20)
    assert CutSpans(config)(document(text), marks, False).document.text == text[:60]
    config = step(20, unit="character", min_words=61)
    assert CutSpans(config)(document(text), marks, False) == Drop("too_few_words")


def test_each_window_has_an_anchor_and_most_words_have_none():
    text = " ".join(random_words(random.Random(3), 5000))
    config = step(50)
    places = anchors_of([document(text)], config)["position"].tolist()
    for start in range(5000 - 50 + 1):
        assert any(start <= place <= start + 25 for place in places if abs(place - start) < 60)
    assert len(places) < 5000 / 10


@pytest.mark.parametrize("keys", [{"window": 1}, {"window": 10**6}, {"unit": "token"}, {"action": "cutt"}])
def test_what_makes_no_sense_is_refused(keys):
    with pytest.raises(ValueError, match=next(iter(keys))):
        SubstringDuplicatesStep(kind=KIND, **keys)
