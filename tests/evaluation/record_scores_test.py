import dataclasses

import pytest

from firth.evaluation.record_scores import Records, record_scores
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.text_to_text import TextToText
from firth.scores import SCORES, Collected

CLASSES = Classification(labels=("no", "yes"), scores=("matthews", "f1", "accuracy", "brier"))


def records(references, predictions):
    pairs = list(zip(references, predictions))
    examples = [Collected(str(place), *pair) for place, pair in enumerate(pairs)]
    places = {"no": 0, "yes": 1}
    probable = [
        Collected(str(n), places[right], [1.0, 0.0] if given == "no" else [0.0, 1.0])
        for n, (right, given) in enumerate(pairs)
        if right in places
    ]
    return Records(examples, probable)


@pytest.mark.parametrize("references", [("no", "yes", "yes"), ("yes", "yes", "yes")])
def test_a_correlation_with_one_class_is_zero_and_nothing_is_known_of_it(references):
    found = record_scores(CLASSES, records(references, ["yes"] * 3))
    assert (found["matthews"], found["matthews_low"], found["matthews_high"]) == (0.0, -1.0, 1.0)
    assert found["accuracy"] == pytest.approx(references.count("yes") / 3)


def test_a_correlation_with_a_constant_number_is_zero():
    found = record_scores(Regression(), records([1.0, 2.0, 4.0], [2.5, 2.5, 2.5]))
    assert found["pearson"] == found["spearman"] == 0.0
    assert not any(name.partition("[")[2] for name in found)


def test_of_no_records_every_score_is_the_worst():
    found = record_scores(CLASSES, Records())
    assert {name: found[name] for name in CLASSES.scores} == {
        name: SCORES[name].worst for name in CLASSES.scores
    }
    assert found["brier"] == 2.0 and found["matthews"] == -1.0


def test_clean_records_are_scored_next_to_all():
    made = records(["no", "yes", "yes", "no"], ["no", "no", "yes", "yes"])
    assert not any("clean" in name for name in record_scores(CLASSES, made))
    made.found = {"0", "3"}
    found = record_scores(CLASSES, made)
    alone = record_scores(CLASSES, made.clean)
    clean = {name.partition("[")[0]: found[name] for name in found if name.endswith("[subset=clean]")}
    assert (found["example_count"], clean.pop("example_count")) == (4, 2)
    assert clean == {name: alone[name] for name in CLASSES.score_metrics}
    assert (found["accuracy"], clean["accuracy"], clean["brier"]) == (0.5, 0.5, 1.0)
    made.found = {"0", "1", "2", "3"}
    found = record_scores(CLASSES, made)
    assert [name for name in found if "subset" in name] == ["example_count[subset=clean]"]


def test_scores_of_summaries_stand_next_to_their_baseline():
    task = TextToText(scores=("exact_match", "rouge_1"))
    made = Records(
        [Collected("a", "a cat sat", "a dog ran")], lead=[Collected("a", "a cat sat", "a cat ran")]
    )
    found = record_scores(task, made)
    assert {name: value for name, value in found.items() if "baseline" in name} == {
        f"rouge_1{end}[baseline=lead_3]": pytest.approx(2 / 3) for end in ("", "_low", "_high")
    }
    assert found["rouge_1"] == pytest.approx(1 / 3)


def test_the_scores_by_a_schema_are_of_free_texts_and_of_constrained_ones():
    task = TextToText(scores=("exact_match",), schema={"type": "integer"})
    assert task.score_names == ("exact_match", "schema_valid", "schema_valid_constrained")
    # The text of c was cut.
    texts = (["1", "one", "34", "4"], ["1", "one", "", "4"], ["1", "2", "3", "4"])
    examples, *by_schema = ([Collected(*each) for each in zip("abcd", "4444", own)] for own in texts)
    made = Records(examples, complete=by_schema[0], constrained=by_schema[1], found={"a", "b"})
    found = record_scores(task, made)
    values = [found[name] for name in task.score_names]
    assert values == [0.25, 0.5, 1.0] and found["schema_valid_low"] < 0.5 < found["schema_valid_high"]
    assert [found[f"{name}[subset=clean]"] for name in task.score_names] == [0.5, 0.5, 1.0]


def test_records_are_counted_in_all_and_in_each_slice():
    made = records(["no", "yes", "yes"], ["no", "no", "yes"])
    made.examples = [
        dataclasses.replace(each, length=length) for each, length in zip(made.examples, (3, 20, 4))
    ]
    found = record_scores(CLASSES, made)
    counts = {name: value for name, value in found.items() if name.startswith("example_count")}
    assert counts == {
        "example_count": 3,
        **{"example_count[length=0-16]": 2, "example_count[length=17-32]": 1},
        **{"example_count[label=no]": 1, "example_count[label=yes]": 2},
    }


def test_by_label_there_are_only_means_over_records():
    found = record_scores(CLASSES, records(["no", "yes", "yes"], ["no", "no", "yes"]))
    counts = ("example_count[label=no]", "example_count[label=yes]")
    by_label = {name: value for name, value in found.items() if "label=" in name and name not in counts}
    assert by_label == {
        "accuracy[label=no]": 1.0,
        "accuracy[label=yes]": 0.5,
        "brier[label=no]": 0.0,
        "brier[label=yes]": 1.0,
    }


def test_a_record_without_a_prediction_is_an_error():
    with pytest.raises(ValueError, match=r"example 1 .*prediction"):
        record_scores(CLASSES, records(["no", "no"], ["no", None]))
