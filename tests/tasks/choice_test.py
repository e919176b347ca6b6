"""Records that bring their own choices: as rows, as Features, as scores, and as a served model answers."""

import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.corpus.io.records import write_records
from firth.models import build_model
from firth.recipes import load_recipe
from firth.recipes.models.positions import LearnedPositionsConfig
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.data import ColumnData, PublishedData
from firth.recipes.tasks.forms import GPTForm
from firth.recipes.tasks.tasks import task_from_json
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.scores import compute
from firth.serving.served_model import Served
from firth.serving.task_signatures.choose import choose
from firth.tasks import TASKS
from firth.tasks.labelled.data import read_labelled_data
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_rows import pack_records
from firth.training.row_files import read_rows
from firth.training.rows import RowLimits, count_documents
from tests.exported_model import RECIPE, make_served
from tests.tasks.tagging_test import each_of, features_of, numpy, rows_of
from tests.tasks.texts_test import SMALL, of_forms, recipe_of

TASK = MultipleChoice(question=True)
# Records by id: context, question, choices and the place of the right one.
RECORDS = {
    "two": ("the cat sat", "on", ("the mat .", "a word"), 1),
    "three": ("you", "shall know", ("a word", "the company it keeps", "cats"), 0),
    "one": ("the mat", "of", ("a cat",), 0),
}
LENGTH = 64
MODEL = RECIPE.model.model_copy(update={"positions": LearnedPositionsConfig(length=LENGTH)})


@pytest.fixture(scope="module")
def base() -> Served:
    return make_served(RECIPE)


def record(id: str, task: MultipleChoice = TASK) -> LabelledRecord:
    context, question, choices, label = RECORDS[id]
    texts = {"context": context, "question": question, "choices": choices}
    return LabelledRecord(id, {role: texts[role] for role in task.roles}, label, "f", 1)


def lists(choices):
    """Choices as a signature reads them, with empty texts after those of a record that has fewer."""
    longest = max(map(len, choices))
    return [[*each, *[""] * (longest - len(each))] for each in choices]


def asked(served: Served, ids, task: MultipleChoice = TASK) -> dict[str, np.ndarray]:
    columns = {
        "text": [RECORDS[id][0] for id in ids],
        "choices": lists([RECORDS[id][2] for id in ids]),
        **({"question": [RECORDS[id][1] for id in ids]} if task.question else {}),
    }
    return numpy(choose(served, **{name: tf.constant(each) for name, each in columns.items()}))


def parts_of(base: Served, task: MultipleChoice, model=MODEL, length=LENGTH):
    """A served model, its function of rows, and its rows."""
    recipe = recipe_of(task, length, model)
    served = Served(build_model(recipe), base.tokenizer, recipe)
    return served, TASKS[task.kind](task, recipe.sequences, base.tokenizer), recipe.sequences


def check_packed_equals_served(base, task, model=MODEL):
    served, made, sequences = parts_of(base, task, model)
    encoded = made.encode([record(id, task) for id in RECORDS])
    rows = rows_of(task, sequences, encoded)
    assert len(rows["tokens"]) == 1
    features = features_of(made, rows)
    assert {name: (tuple(each.shape[1:]), each.dtype.name) for name, each in features.items()} == {
        name: (spec.shape, spec.dtype) for name, spec in made.specs().items()
    }
    logits = served.model.logits(features)
    outputs = numpy(made.answers(rows, features, logits))
    answer = asked(served, RECORDS, task)
    by_key = {str(each.key): each for each in encoded}
    found = made.collected(task, each_of(outputs)[0], "s")
    assert {by_key[each.id].id for each in found} == set(RECORDS)
    for each, place in zip(found, np.flatnonzero(outputs[names.RECORD_WEIGHTS][0])):
        number = list(RECORDS).index(by_key[each.id].id)
        _, _, choices, label = RECORDS[by_key[each.id].id]
        shares = outputs[names.RECORD_PREDICTIONS][0, place]
        np.testing.assert_allclose(
            shares[: len(choices)], answer["probabilities"][number][: len(choices)], atol=2e-5
        )
        assert shares[len(choices) :].sum() == 0 and shares.sum() == pytest.approx(1)
        assert each.reference == label and each.prediction == answer["place"][number]
        assert each.length == sum(len(chunk) for chunk in by_key[each.id].chunks)
    assert 0.0 <= compute("accuracy", found).value <= 1.0
    return served, features, outputs


def test_a_decoder_chooses_without_a_question(base):
    model = load_recipe("gpt_1_tiny").model
    check_packed_equals_served(base, MultipleChoice(form=GPTForm()), model)


@pytest.mark.repeated
def test_choices_among_others_are_answered_as_served_ones(base):
    served, features, outputs = check_packed_equals_served(base, TASK)
    predictions = served.model(features)["choice"]
    place = outputs[names.RECORD_LABELS][0]
    own = outputs[names.RECORD_WEIGHTS][0] > 0
    right = outputs[names.RECORD_PREDICTIONS][0][np.arange(len(place)), place]
    np.testing.assert_allclose(np.asarray(predictions.losses)[0][own], -np.log(right[own]), atol=1e-4)
    assert np.asarray(predictions.weights).sum() == len(RECORDS)


@of_forms
def test_every_form_chooses_among_packed_records_as_among_served_ones(base, preset, form):
    model = load_recipe(preset, SMALL).model
    check_packed_equals_served(base, TASK.model_copy(update={"form": form}), model)


def test_a_choice_has_its_context_and_its_question(base):
    _, made, _ = parts_of(base, TASK)
    (two,) = made.encode([record("two")])
    pieces = [" ".join(base.tokenizer.id_to_token(id) for id in chunk) for chunk in two.chunks]
    assert pieces == ["the cat sat on", "the mat .", "the cat sat on", "a word"]
    assert two.labels == {names.RECORD_LABELS: [1, 0], names.CHOICE_COUNTS: [2, 0]} and two.cut == 0


def test_the_context_is_cut_and_not_the_question(base):
    _, made, _ = parts_of(base, TASK, length=24)
    texts = {"context": "the cat " * 10, "question": "on", "choices": ("a mat", "a word it keeps")}
    (encoded,) = made.encode([LabelledRecord("r", texts, 0, "f", 1)])
    assert [len(chunk) for chunk in encoded.chunks] == [7, 2, 5, 4]
    assert encoded.cut == 14 + 16
    assert {base.tokenizer.id_to_token(chunk[-1]) for chunk in encoded.chunks[::2]} == {"on"}


def test_more_choices_than_a_row_holds_are_refused(base):
    _, made, _ = parts_of(base, TASK, length=24)
    many = LabelledRecord("r", {"context": "a", "question": "a", "choices": ("a",) * 5}, 0, "f", 1)
    with pytest.raises(ValueError, match=r"'r' .*5 choices.*24 tokens.* 4"):
        made.encode([many])
    with pytest.raises(ValueError, match="no two texts"):
        MultipleChoice(form=GPTForm(both_orders=True))
    assert task_from_json(TASK.to_json()) == TASK


def test_rows_of_choices_are_read_for_training(base, tmp_path):
    """A row may have room for as many choices as records."""
    sequences = Sequences(length=LENGTH, max_documents=LENGTH // 5)
    made = TASKS[TASK.kind](TASK, sequences, base.tokenizer)
    encoded = [each._replace(source="s") for each in made.encode([record(id) for id in RECORDS])]
    packed = pack_records(encoded, TASK, sequences)
    assert packed.report["records"] == 3 and packed.report["rejected"] == {}
    assert packed.report["tokens"] == sum(len(chunk) for each in encoded for chunk in each.chunks)
    write_records(str(tmp_path / "rows"), 0, 1, (row.to_example() for row in packed.rows))
    limits = RowLimits.of(TASK, sequences, 40, 0)
    rows = read_rows([str(tmp_path / "rows" / "*")], str(tmp_path / "cache"), limits)
    assert count_documents(rows) == 3 and len(rows) == len(packed.rows)


def test_served_choices_are_a_list(base):
    served, _, _ = parts_of(base, MultipleChoice())
    texts = tf.constant(["the cat sat", "", "a " * 99])
    found = numpy(choose(served, texts, tf.constant(lists([["on", "the\nmat", "you"], [], ["a", "", "b"]]))))
    assert found["choice_count"].tolist() == [3, 1, 3] and found["truncated"].tolist() == [False, False, True]
    assert found["choices"].tolist() == [[b"on", b"the\nmat", b"you"], [b"", b"", b""], [b"a", b"", b"b"]]
    np.testing.assert_allclose(found["probabilities"].sum(axis=1), 1.0, atol=1e-6)
    assert found["probabilities"][1].tolist() == [1.0, 0.0, 0.0]
    for place, name, choices in zip(found["place"], found["choice"], found["choices"]):
        assert choices[place] == name
    many = numpy(choose(served, texts[:1], tf.constant([["a"] * 200])))
    assert many["choice_count"].tolist() == [200] and np.isfinite(many["probabilities"]).all()


@pytest.mark.repeated
def test_no_records_get_no_choices(base):
    served, _, _ = parts_of(base, MultipleChoice())
    strings = [tf.TensorSpec([None] * rank, tf.string) for rank in (1, 2)]
    ask = tf.function(functools.partial(choose, served), input_signature=strings, autograph=False)
    assert numpy(ask(tf.constant([], tf.string), tf.constant([], tf.string, [0, 0])))[
        "probabilities"
    ].shape == (0, 1)


def test_copa_and_columns_are_read(tmp_path):
    lines = [
        {"premise": "a cat", "choice1": "sat", "choice2": "on", "question": "cause", "label": n % 2, "idx": n}
        for n in range(3)
    ]
    for name in ("train", "val"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = read_labelled_data(PublishedData(format="copa", folder=str(tmp_path)), TASK)
    assert [each.label for each in found.splits["eval"].records] == [0, 1, 0] and found.labels == ()
    rows = [
        ["s", "0", "1", "gold"],
        *([f"a {n}", "b", "c", str(n % 2)] for n in range(8)),
        ["d", "e", "f", "2"],
    ]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, rows)))
    data = ColumnData(
        train=str(tmp_path / "a.csv"), texts={"context": "s", "choices": ("0", "1")}, label="gold"
    )
    found = read_labelled_data(data, MultipleChoice())
    assert found.splits["train"].counts == {"unknown_label": 1}
    assert sum(len(each.records) for each in found.splits.values()) == 8
