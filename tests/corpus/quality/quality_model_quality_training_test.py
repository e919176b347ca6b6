import numpy as np
import pytest

from firth.corpus.quality.quality_model import Examples, train
from tests.corpus.quality.texts import GOOD, HASHING, examples


def test_measures_are_of_held_out_documents_alone():
    model, measures = train(examples(), HASHING, 1.0, 0.1)
    assert measures["trained"] == {"crawl": 54, "reference": 54}
    assert measures["held_out"] == {"crawl": 6, "reference": 6}
    assert measures["auc"] == 1.0 and measures["converged"]
    # The first of each side by hash.
    drawn = examples()
    out = [place for side in (0, 1) for place in by_hash(drawn, side)[:6]]
    scores = model.scores(drawn.vectors)[out]
    roc = measures["roc"]
    for score, crawl, reference in zip(roc["score"], roc["crawl"], roc["reference"]):
        assert (crawl, reference) == ((scores[:6] >= score).sum(), (scores[6:] >= score).sum())
    assert roc["crawl"][0] == 6 and roc["crawl"][-1] == 0


def by_hash(drawn, side):
    members = np.flatnonzero(drawn.sides == side)
    return members[np.argsort(drawn.hashes[members])].tolist()


def test_the_area_is_that_of_pairs_and_a_half_where_sides_are_alike():
    drawn = examples(200, bad=GOOD)
    model, measures = train(drawn, HASHING, 1.0, 0.4)
    scores = model.scores(drawn.vectors)
    crawl, reference = (scores[by_hash(drawn, side)[:80]] for side in (0, 1))
    pairs = np.sign(reference[:, None] - crawl[None]) / 2 + 0.5
    assert measures["auc"] == pytest.approx(pairs.mean())
    assert 0.35 < measures["auc"] < 0.65


def test_examples_in_another_order_and_twice_make_the_same_model():
    drawn = examples()
    places = [*np.random.default_rng(1).permutation(len(drawn.hashes)).tolist(), 3, 77]
    rows = [slice(drawn.vectors.splits[place], drawn.vectors.splits[place + 1]) for place in places]
    vectors = drawn.vectors._replace(
        splits=np.cumsum([0, *(each.stop - each.start for each in rows)]),
        buckets=np.concatenate([drawn.vectors.buckets[each] for each in rows]),
        values=np.concatenate([drawn.vectors.values[each] for each in rows]),
    )
    first = train(drawn, HASHING, 1.0, 0.1)
    second = train(Examples(drawn.hashes[places], drawn.sides[places], vectors), HASHING, 1.0, 0.1)
    assert first[1] == second[1]
    assert first[0].weights.tobytes() == second[0].weights.tobytes()
