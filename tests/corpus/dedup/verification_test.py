"""Pairs of MinHash are linked by their true similarity alone, as all pairs compared one by one are."""

import itertools
import random

import numpy as np
import pytest

from firth.corpus.dedup.clusters import MinHash
from firth.corpus.dedup.verification import jaccard
from firth.corpus.text.comparable_text import comparable_words
from firth.recipes.corpus.duplicates import DatasetDuplicatesStep, NearDuplicatesStep, Verification
from tests.corpus.duplicates_helpers import random_words, run_steps, with_changes
from tests.corpus.helpers import document

STEP = "near_duplicates"


def step(min_jaccard, max_compared=16, **keys):
    verification = Verification(min_jaccard=min_jaccard, max_compared=max_compared)
    return NearDuplicatesStep(kind=STEP, rounds=3, verification=verification, **keys)


def counts(totals, kind=STEP):
    return {each.name: count for each, count in totals.counts.items() if each[:2] == (kind, "")}


def corpus(seed=0):
    """Returns texts with copies of many similarities: 1 to 6 of 84 words have been replaced."""
    generator = random.Random(seed)
    documents = []
    for i in range(30):
        words = random_words(generator, 84)
        documents.append(document(" ".join(words), f"{i}"))
        copies = [with_changes(words, generator.randint(1, 6)) for _ in range(generator.randint(0, 3))]
        documents += [document(" ".join(each), f"{i}_{n}") for n, each in enumerate(copies)]
    return generator.sample(documents, len(documents))


def ngrams(text):
    words = comparable_words(text)
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}


def by_hand(documents, least):
    """Returns the kept documents, and the numbers of pairs in a bucket and of those that are too unlike."""
    _, buckets = MinHash().buckets([each.text for each in documents])
    label = list(range(len(documents)))
    met = refused = 0
    for i, j in itertools.combinations(range(len(documents)), 2):
        if not (buckets[i] == buckets[j]).any():
            continue
        met += 1
        one, other = ngrams(documents[i].text), ngrams(documents[j].text)
        if len(one & other) / len(one | other) < least:
            refused += 1
            continue
        label = [label[i] if each == label[j] else each for each in label]
    clusters = {}
    for each, number in zip(documents, label):
        clusters.setdefault(number, []).append(each)
    kept = [min(each, key=lambda one: (-len(one.text), one.id)) for each in clusters.values()]
    return sorted(kept, key=lambda each: each.id), met, refused


@pytest.mark.parametrize(
    ("least", "options"),
    [
        (0.0, {"batch": 31}),
        (0.75, {"batch": 4, "groups": 3, "by_files": True}),
    ],
)
def test_it_is_as_if_every_pair_were_compared(tmp_path, least, options):
    documents = corpus()
    kept, totals = run_steps(tmp_path / "verified", documents, step(least), **options)
    expected, met, refused = by_hand(documents, least)
    assert kept == expected and len(kept) < len(documents)
    assert counts(totals) == {
        "pairs_compared": met,
        "pairs_refused": refused,
        "buckets_too_large": 0,
        "pairs_left_out": 0,
    }
    assert (refused == 0) == (least == 0.0)
    if not least:
        plain, _ = run_steps(tmp_path / "plain", documents, NearDuplicatesStep(kind=STEP, rounds=3))
        assert plain == kept


def test_a_large_bucket_is_compared_in_part_and_counted(tmp_path):
    text = "the same five words again and again"
    copies = [document(text, f"{n}") for n in range(40)]
    few, totals = run_steps(tmp_path / "a", copies, step(1.0, 4, buckets=1), groups=3, batch=3)
    # All are copies, so that comparing each with four links all.
    assert len(few) == 1
    pairs = 40 * 39 // 2
    compared = 4 * 3 // 2 + 36 * 4
    assert counts(totals) == {
        "pairs_compared": compared,
        "pairs_refused": 0,
        "buckets_too_large": 1,
        "pairs_left_out": pairs - compared,
    }


def test_a_document_read_twice_stays_once(tmp_path):
    twice = [document("The same place, read twice.", "a")] * 2
    kept, totals = run_steps(tmp_path, [*twice, document("Another one.", "b")], step(0.8), batch=1)
    assert sorted(each.uri for each in kept) == ["a", "b"]
    assert counts(totals)["pairs_compared"] == 0


def test_data_sets_are_verified_too(tmp_path):
    words = random_words(random.Random(5), 84)
    documents = [
        document(" ".join(words), "a", "books"),
        document(" ".join(with_changes(words, 1)), "b", "web"),
        document(" ".join(with_changes(words[::-1], 2)[::-1]), "c", "web"),
    ]
    # One word of 84 changes five 5-grams of 80: 0.88 of all are the same; two words leave 0.78.
    verification = Verification(min_jaccard=0.85)
    config = DatasetDuplicatesStep(kind="dataset_duplicates", rounds=3, verification=verification)
    kept, totals = run_steps(tmp_path, documents, config, sources=("books", "web"))
    assert {each.uri for each in kept} == {"a", "c"}
    assert counts(totals, "dataset_duplicates")["pairs_compared"] > 1


def test_jaccard_is_that_of_sets():
    generator = np.random.default_rng(0)
    for _ in range(50):
        one, other = (np.unique(generator.integers(0, 30, generator.integers(1, 20))) for _ in range(2))
        sets = set(one.tolist()), set(other.tolist())
        assert jaccard(one, other) == len(sets[0] & sets[1]) / len(sets[0] | sets[1])


@pytest.mark.parametrize("keys", [{"min_jaccard": 1.5}, {"max_compared": 0}, {"min_jacard": 0.8}])
def test_what_makes_no_sense_is_refused(keys):
    with pytest.raises(ValueError, match=next(iter(keys))):
        Verification(**keys)
