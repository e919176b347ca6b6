import pytest

from firth.scores import OFFICIAL_THRESHOLD, apply_threshold, best_threshold, collect
from firth.scores.answers import (
    answer_f1_of,
    exact_match_of,
    normalised,
    squad_exact_match,
    squad_f1,
)

NO_ANSWER: list[str] = []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The Norman  dynasty", "norman dynasty"),
        ("U.S.A.", "usa"),
        ("an apple a day", "apple day"),
        ("theatre", "theatre"),
        ("the-atre", "theatre"),
        ("10th–11th", "10th–11th"),
        ("A", ""),
        ("\tthe\n", ""),
        ("Über", "über"),
    ],
)
def test_the_official_normalisation(answer, expected):
    """Lower case, then ASCII punctuation, then articles as words, then white space."""
    assert normalised(answer) == expected


@pytest.mark.parametrize(
    ("right", "prediction", "exact", "f1"),
    [
        (["Denver Broncos"], "the Denver Broncos!", 100, 100),
        (["Denver Broncos"], "Broncos", 0, 200 / 3),
        (["Denver Broncos", "Broncos"], "broncos", 100, 100),
        (["a b c", "x y"], "x z", 0, 50),
        (["to be or not to be"], "to be to", 0, 100 * 2 * 3 / 9),
        (["Denver Broncos"], "", 0, 0),
        (NO_ANSWER, "", 100, 100),
        ([""], "", 100, 100),
        (NO_ANSWER, "Broncos", 0, 0),
        (NO_ANSWER, "the", 100, 100),
    ],
)
def test_single_questions(right, prediction, exact, f1):
    assert exact_match_of(right, prediction) == exact
    assert answer_f1_of(right, prediction) == pytest.approx(f1)


def test_a_set_is_the_mean_in_percent():
    references = [["Denver Broncos"], ["1066"], NO_ANSWER]
    predictions = ["Broncos", "1066", "Norse"]
    assert squad_exact_match(references, predictions) == pytest.approx(100 / 3)
    assert squad_f1(references, predictions) == pytest.approx((200 / 3 + 100) / 3)


def test_a_missing_prediction_is_an_error():
    with pytest.raises(ValueError, match=r"1 of 2 .*'q2'"):
        collect({"q1": ["a"], "q2": ["b"]}, {"q1": "a"})
    with pytest.raises(ValueError, match=r"1 of 2 .*'q9'"):
        collect({"q1": ["a"]}, {"q1": "a", "q9": "b"})
    with pytest.raises(ValueError, match=r"example 1 .*prediction"):
        squad_f1([["a"], ["b"]], ["a", None])  # type: ignore[list-item]


def test_one_string_is_not_a_list_of_answers():
    with pytest.raises(TypeError, match="string"):
        squad_f1(["abc"], ["a"])


REFERENCES = [["k"], ["b"], NO_ANSWER, NO_ANSWER, ["c"]]
PREDICTIONS = ["k", "x", "y", "z", "c"]


def official_best(references, predictions, scores):
    """The search of SQuAD 2.0's script, written from its description: walk up the scores, keep the best."""
    current = best = sum(not each for each in references)
    threshold = -float("inf")
    for place in sorted(range(len(scores)), key=lambda each: scores[each]):
        right = references[place]
        current += answer_f1_of(right, predictions[place]) / 100 if right else -1
        if current > best:
            best, threshold = current, scores[place]
    return threshold, 100 * best / len(references)


@pytest.mark.parametrize(
    "scores", [[0.1, 0.2, 0.3, 0.9, 0.4], [0.9, 0.8, 0.1, 0.2, 0.7], [5.0, 1.0, 2.0, -4.0, 0.0]]
)
def test_the_best_threshold_is_that_of_the_official_search(scores):
    threshold = best_threshold(REFERENCES, PREDICTIONS, scores)
    expected, value = official_best(REFERENCES, PREDICTIONS, scores)
    assert threshold == expected
    assert squad_f1(REFERENCES, apply_threshold(PREDICTIONS, scores, threshold)) == pytest.approx(value)


def test_equal_scores_are_answered_together():
    """Between them there is no threshold, so that the first answer alone cannot be had."""
    assert best_threshold([["k"], NO_ANSWER, NO_ANSWER], ["k", "x", "y"], [0.5, 0.5, 0.5]) == -float("inf")
    assert best_threshold([["k"], ["b"], NO_ANSWER], ["k", "b", "y"], [0.5, 0.5, 0.5]) == 0.5


def test_the_held_out_threshold_is_not_the_best_of_the_scored_questions():
    held_out = best_threshold([["k"], NO_ANSWER], ["k", "x"], [0.3, 0.6])
    answered = apply_threshold(["b", "y"], [0.4, 0.2], held_out)
    assert answered == ["", "y"]
    assert apply_threshold(["b", "y"], [0.4, 1.0], OFFICIAL_THRESHOLD) == ["b", "y"]


def test_scores_of_having_no_answer_are_checked():
    with pytest.raises(ValueError, match="1 is nan"):
        apply_threshold(["k", "b"], [0.0, float("nan")], 0.5)
    with pytest.raises(ValueError, match=r"2 predictions.* 1 scores"):
        best_threshold([["k"], ["b"]], ["k", "b"], [0.0])
