import numpy as np
import pytest

from firth.scores import SCORES, Collected, ScoredAnswer, compute_interval
from firth.scores.bootstrap import Resampling
from firth.scores.replies import ReplyPieces
from firth.scores.score_table import NUMBERS, REPLIES, SCORED_ANSWERS, TAGS, TEXTS, VECTORS
from firth.scores.vectors import TextVectors
from tests.repeating import often

# What is resampled of these scores is whether the nearest text was found among all texts.
AMONG_ALL = {"retrieval_accuracy"}
OF_PLACES = [name for name, score in SCORES.items() if score.of_places is not None and name not in AMONG_ALL]
OPTIONS = {"f1": {"positive": "a"}}


def pairs(name, examples, seed):
    """References and predictions that agree more often than not, with ties."""
    random = np.random.default_rng(seed)
    right = random.integers(0, 3, examples)
    given = np.where(random.random(examples) < 0.7, right, random.integers(0, 3, examples))
    if SCORES[name].inputs is NUMBERS:
        return [each / 2 for each in right.tolist()], (given + random.integers(0, 2, examples) / 4).tolist()
    if SCORES[name].inputs is SCORED_ANSWERS:
        scores = (right + random.integers(-2, 2, examples)).astype(float).tolist()
        answers = [["Norse raiders", "Norse", "left"][each] for each in given]
        return [["Norse"][: 2 - each] for each in right], list(map(ScoredAnswer, answers, scores))
    if SCORES[name].inputs is VECTORS:
        angles = given + random.random(examples)
        second = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype("float32")
        first = np.array([1, 0], "float32").tobytes()
        vectors = [TextVectors(first, each.tobytes()) for each in second]
        return [each / 2 for each in right.tolist()], vectors
    if SCORES[name].inputs is TEXTS:
        texts = ("a dog bit the man .", "the dog bit a man", "a man bit the dog , and left .")
        written = [texts[each] for each in given]
        return [texts[each] if each else [texts[0], "no dog ."] for each in right], written
    if SCORES[name].inputs is REPLIES:
        return [ReplyPieces(each) for each in right.tolist()], (-random.random(examples) * right).tolist()
    if SCORES[name].inputs is TAGS:
        tags = (["B-x", "I-x", "O"], ["I-y", "I-x", "B-y"], ["O", "O", "B-x"])
        return [[tags[each] for each in values] for values in (right, given)]
    return [["abc"[each] for each in values] for values in (right, given)]


@pytest.mark.parametrize("name", OF_PLACES)
def test_a_resample_has_the_value_of_the_published_implementation(name):
    score, options = SCORES[name], OPTIONS.get(name, {})
    random = np.random.default_rng(5)
    for examples in (1, 2, 5, 25):
        references, predictions = pairs(name, examples, examples)
        value_of = score.of_places(references, predictions, **options)
        for _ in range(8):
            places = random.integers(examples, size=examples)
            wanted = score.function(
                [references[each] for each in places], [predictions[each] for each in places], **options
            )
            assert value_of(places) == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("name", often(OF_PLACES, ("f1", "bleu", "matthews", "squad_f1_held_out")))
def test_intervals_are_those_of_the_published_implementation(name):
    score, options = SCORES[name], OPTIONS.get(name, {})
    references, predictions = pairs(name, 30, 1)
    examples = [Collected(f"{n:02}", *pair) for n, pair in enumerate(zip(references, predictions))]

    def published(places):
        sides = ([side[place] for place in places] for side in (references, predictions))
        return score.function(*sides, **options)

    wanted = Resampling(resamples=40).interval(len(examples), published)
    assert compute_interval(name, examples, resamples=40, **options) == pytest.approx(wanted, abs=1e-12)
