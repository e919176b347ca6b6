"""Questions on texts: as windows in rows, as Features, as scores, and as a served model answers."""

import itertools
import json
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.models import build_model
from firth.recipes import load_recipe
from firth.recipes.tasks.forms import BERTForm, XLNetForm
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tasks import task_from_json
from firth.scores import best_threshold, compute
from firth.serving.evaluate import with_choice
from firth.serving.served_model import Served
from firth.serving.task_signatures import answer as answering
from firth.serving.task_signatures.answer import answer
from firth.tasks import TASKS
from firth.tasks.readers import AnswerSpan, LabelledRecord
from firth.tasks.span import NO_SPAN, find_best_spans
from firth.tasks.task_rows import pack_records
from firth.tasks.windows import MOST_WINDOWS, place_pieces, windows_of
from tests.exported_model import RECIPE, make_served
from tests.repeating import often
from tests.tasks.tagging_test import each_of, features_of, numpy, rows_of
from tests.tasks.texts_test import SMALL, recipe_of

TASK = SpanAnswering(unanswerable=True, stride=4, max_answer=5)
LONG = "The cats sat on a mat. You  know the WORD, by the company it keeps; the cats know."
# Each with its right answers.
QUESTIONS = {
    ("Who sat?", LONG): ["cats", "The cats"],
    ("What keeps company?", LONG): ["the WORD"],
    ("Who keeps?", "a cat é.cats"): [".cats"],
    ("Is it?", "\x81"): [],
    ("By what?", LONG): [],
}


@pytest.fixture(scope="module")
def served() -> Served:
    base, recipe = make_served(RECIPE), recipe_of(TASK)
    return Served(build_model(recipe), base.tokenizer, recipe)


@pytest.fixture
def all_windows_at_once():
    """Without a loop over chunks of them, which takes seconds to be traced."""
    with mock.patch.object(answering, "in_chunks", lambda function, values, size: function(values)):
        yield


def record_of(question, context, answers):
    label = tuple(AnswerSpan(each, context.index(each)) for each in answers)
    return LabelledRecord(f"{question} {context}", {"question": question, "context": context}, label, "f", 1)


def records():
    return [record_of(*texts, answers) for texts, answers in QUESTIONS.items()]


def task_of(served, task=TASK, length=32):
    sequences = recipe_of(task, length).sequences
    return TASKS[task.kind](task, sequences, served.tokenizer), sequences


def outputs_of(made, rows, encoded, logits):
    """Returns the `answers` of each row with the stored details, as the Evaluator reads them."""
    by_key = {each.key: each.details.encode() for each in encoded}
    outputs = each_of(numpy(made.answers(rows, features_of(made, rows), logits)))
    for each in outputs:
        keys = each[names.RECORD_KEYS][each[names.RECORD_WEIGHTS] > 0]
        each[names.RECORD_DETAILS] = [by_key[key] for key in keys.tolist()]
    return outputs


def joined(made, outputs, task=TASK):
    windows = [each for row in outputs for each in made.collected(task, row, "s")]
    return {name: {each.id: each for each in found} for name, found in made.joined(task, windows).items()}


def test_words_have_their_places(served):
    texts = [LONG, "", "\u200b é", "[MASK]cats"]
    pieces = place_pieces(served.tokenizer, tf.constant(texts))
    cut = [
        [text[start:end] for start, end in zip(*both)]
        for text, *both in zip(texts, pieces.starts.to_list(), pieces.ends.to_list())
    ]
    assert cut[0][:4] == ["The", "cats", "cats", "sat"] and cut[1:] == [
        [""],
        ["é"],
        ["[", "MASK", "]", "cats", "cats"],
    ]
    unknown = served.tokenizer.unk_id
    assert pieces.ids.to_list()[1] == [unknown]
    whole = served.tokenizer.tokenize(tf.constant(texts)).to_list()
    assert [pieces.ids.to_list()[n] for n in (0, 2, 3)] == [whole[n] for n in (0, 2, 3)]


@pytest.mark.parametrize(("room", "stride"), [(7, 3), (3, 7), (5, 5), (100, 1)])
def test_windows_hold_every_piece(room, stride):
    lengths = tf.constant([1, 7, 8, 23])
    windows = windows_of(lengths, tf.fill([4], room), stride)
    values = tf.ragged.range(lengths)
    seen = [set() for _ in range(4)]
    for owner, held in zip(windows.owners.numpy(), windows.of(values).to_list()):
        assert 0 < len(held) <= room
        seen[owner].update(held)
    assert [len(each) for each in seen] == lengths.numpy().tolist()
    assert np.bincount(windows.owners)[0] == 1


def test_labels_are_the_places_of_answers(served):
    made, _ = task_of(served, length=16)
    encoded = made.encode(records())
    found = {}
    for each in encoded:
        (first,), (last,) = each.labels[names.SPAN_STARTS], each.labels[names.SPAN_ENDS]
        pieces = [served.tokenizer.id_to_token(id) for id in each.chunks[1]]
        assert len(each.chunks[0]) + len(pieces) + 3 <= 16
        found.setdefault(each.id, []).append(pieces[first - 1 : last] if first else None)
    of_questions = list(found.values())
    assert len(of_questions[0]) > 2 and of_questions[0][0] == ["cat", "##s"]
    assert ["the", "word"] in of_questions[1] and None in of_questions[1]
    assert of_questions[2][-1] == [".", "cat", "##s"]
    assert of_questions[3] == [None] and set(map(str, of_questions[4])) == {"None"}
    assert len({each.key for each in encoded}) == len(encoded)


def test_a_long_question_is_cut_and_counted(served):
    made, sequences = task_of(served, length=16)
    first, *others = made.encode([record_of("the cat " * 10, LONG, [])])
    report = pack_records([each._replace(source="s") for each in (first, *others)], TASK, sequences).report
    assert json.loads(json.dumps(report))["tokens_cut"] == 14
    assert (len(first.chunks[0]), first.cut) == (6, 14) and {each.cut for each in others} == {0}
    # A long context is read in as many windows as are served, and no more.
    made, _ = task_of(served, TASK.model_copy(update={"stride": 1}), length=16)
    first, *others = made.encode([record_of("the", "the cat " * 200, [])])
    assert 1 + len(others) == MOST_WINDOWS
    assert first.cut == 400 - len(first.chunks[1]) - len(others)


def test_right_logits_give_the_right_answers(served):
    """A window may be anywhere in its row; of all windows the best answer counts, cut from the text."""
    made, sequences = task_of(served, length=24)
    encoded = made.encode(records())
    rows = rows_of(TASK, sequences, encoded)
    features = features_of(made, rows)
    assert {name: (tuple(each.shape[1:]), each.dtype.name) for name, each in features.items()} == {
        name: (spec.shape, spec.dtype) for name, spec in made.specs().items()
    }
    logits = {
        "start": tf.one_hot(features[names.START_LABELS], 24),
        "end": tf.one_hot(features[names.END_LABELS], 24),
    }
    found = joined(made, outputs_of(made, rows, encoded, logits))
    # The first of several right answers is learned.
    expected = sorted((tuple(right), right[0] if right else "") for right in QUESTIONS.values())
    assert sorted((each.reference, each.prediction) for each in found["examples"].values()) == expected
    for each in found["scored"].values():
        assert (each.prediction.no_answer < 0) == bool(each.reference)
    for name in TASK.scores:
        kind = "scored" if name.endswith("held_out") else "examples"
        assert compute(name, list(found[kind].values())).value == 100.0


def test_a_missing_window_is_an_error(served):
    made, sequences = task_of(served, length=16)
    encoded = made.encode(records()[:1])
    rows = rows_of(TASK, sequences, encoded)
    zeros = {name: tf.zeros([len(rows["tokens"]), sequences.max_documents, 16]) for name in ("start", "end")}
    windows = [
        each for row in outputs_of(made, rows, encoded, zeros) for each in made.collected(TASK, row, "")
    ]
    with pytest.raises(ValueError, match=f"has {len(windows) - 1} of its {len(windows)} windows"):
        made.joined(TASK, windows[1:])
    assert made.joined(TASK, windows[1:], whole=False) == {"examples": [], "scored": []}


def test_what_is_broken_is_not_finite(served):
    made, sequences = task_of(served)
    rows = rows_of(TASK, sequences, made.encode(records()[2:4]))
    features = features_of(made, rows)
    zeros = tf.zeros([1, sequences.max_documents, 32])
    broken = tf.where(tf.range(sequences.max_documents)[:, tf.newaxis] == 1, np.nan, zeros)
    found = made.answers(rows, features, {"start": zeros, "end": broken})[names.RECORD_PREDICTIONS]
    assert np.isfinite(found.numpy()[0]).all(axis=-1).tolist() == [True, False, *[True] * (len(found[0]) - 2)]


# One family of each form.
FAMILIES = {
    "bert_tiny": BERTForm(),
    "roberta_tiny": BERTForm(pooling="mean", segments=False, separators=2),
    "xlnet_tiny": XLNetForm(pooling="mean"),
}


@pytest.mark.parametrize("preset", often(FAMILIES, ["bert_tiny", "xlnet_tiny"]))
@pytest.mark.usefixtures("all_windows_at_once")
def test_every_form_answers_from_rows_as_it_is_served(served, preset):
    """The same best answers from windows packed into rows, and from raw strings."""
    task = TASK.model_copy(update={"form": FAMILIES[preset], "threshold": 100.0})
    recipe = recipe_of(task, 24, load_recipe(preset, SMALL).model)
    own = Served(build_model(recipe), served.tokenizer, recipe)
    made = TASKS[task.kind](task, recipe.sequences, served.tokenizer)
    asked = records()
    encoded = made.encode(asked)
    rows = rows_of(task, recipe.sequences, encoded)
    logits = own.model.logits(features_of(made, rows))
    found = joined(made, outputs_of(made, rows, encoded, logits), task)
    texts = [tf.constant([each.texts[role] for each in asked]) for role in task.roles]
    told = numpy(answer(own, *texts))
    for place, each in enumerate(asked):
        (id,) = {str(one["id"]) for one in map(details, encoded) if one["of"] == each.id}
        scored = found["scored"][id].prediction
        assert told["answer"][place].decode() == scored.text == found["examples"][id].prediction
        if scored.text:
            np.testing.assert_allclose(told["score"][place], -scored.no_answer, atol=1e-4)
        start, end = told["start"][place], told["end"][place]
        assert each.texts["context"][start:end] == scored.text


def details(encoded):
    return {**json.loads(encoded.details), "of": encoded.id}


def test_served_answers(served):
    """Nothing of one text depends on the others; what has no answer has no place."""
    asked = ["Who sat?", "", "Who?" * 40, "Who?"], [LONG, "", LONG, "the cat sat " * 4000]
    told = numpy(answer(served, *map(tf.constant, asked)))
    assert (told["answer"][1], told["start"][1], told["end"][1]) == (b"", 0, 0)
    assert told["truncated"].tolist() == [False, False, True, True]
    assert np.isfinite(told["score"]).all()
    with mock.patch.object(answering, "in_chunks", lambda function, values, size: function(values)):
        alone = numpy(answer(served, tf.constant(asked[0][:1]), tf.constant(asked[1][:1])))
    np.testing.assert_allclose(told["score"][0], alone["score"][0], atol=1e-5)


@pytest.mark.usefixtures("all_windows_at_once")
def test_best_answers_of_all_windows_are_different(served):
    """Short strides give the same span many times; each counts once, by its best window."""
    task = TASK.model_copy(update={"stride": 1, "n_best": 20, "max_answer": 2})
    own = Served(served.model, served.tokenizer, recipe_of(task, 16))
    text = "the cat sat on a mat by you"
    (told,) = each_of(numpy(answer(own, tf.constant(["Who?"]), tf.constant([text]))))
    words = text.split()
    every = {" ".join(words[a : a + size]) for size in (1, 2) for a in range(len(words) + 1 - size)}
    found = [each.decode() for each in told["answers"]]
    assert len(every) == 15 and set(found[:15]) == every and not any(found[15:])
    assert [text[start:end] for start, end in zip(told["starts"], told["ends"])] == found
    shares = told["probabilities"]
    assert (np.diff(shares) <= 0).all() and 0 < shares.sum() < 1 and not shares[15:].any()
    assert told["probability"] == pytest.approx(shares[0] if told["answer"] else 1 - shares.sum(), abs=1e-5)


@pytest.mark.usefixtures("all_windows_at_once")
def test_no_answer_is_given_above_the_threshold(served):
    def told(threshold, unanswerable=True):
        task = TASK.model_copy(update={"threshold": threshold, "unanswerable": unanswerable})
        own = Served(served.model, served.tokenizer, recipe_of(task))
        return numpy(answer(own, tf.constant(["Who sat?"]), tf.constant([LONG])))

    score = told(0.0)["score"][0]
    assert told(-score - 0.1)["answer"][0] == b"" != told(-score + 0.1)["answer"][0]
    assert told(-score - 0.1, False)["answer"][0] == told(-score + 0.1)["answer"][0]


def test_best_spans_are_those_of_a_search():
    random = np.random.default_rng(3)
    start, end = random.normal(size=(2, 2, 3, 9)).astype("float32")
    begins, lengths = random.integers(0, 5, (2, 3)), np.array([[0, 1, 4], [4, 3, 2]])
    found = find_best_spans(
        *map(tf.constant, (start, end, begins.astype("int32"), lengths.astype("int32"))), 3, 4
    )
    for place in itertools.product(range(2), range(3)):
        begin, length = begins[place], lengths[place]
        pairs = [(a, b) for a in range(length) for b in range(a, min(a + 3, length))]
        scores = {(a, b): start[place][begin + a] + end[place][begin + b] for a, b in pairs}
        best = sorted(scores, key=scores.get, reverse=True)[:4]
        of_found = zip(*(np.asarray(each)[place].tolist() for each in found))
        told = [(a, b) for score, a, b in of_found if score > NO_SPAN]
        assert told == best


def test_the_served_threshold_is_chosen_on_held_out_questions(served):
    """By the rows as they stand on disk; SQuAD's own stays at 0."""
    assert TASK.leaves_choice and not SpanAnswering().leaves_choice
    made, sequences = task_of(served)
    encoded = made.encode(records())
    packed = pack_records([each._replace(source="s") for each in encoded], TASK, sequences)
    found = with_choice(served, [row.to_example() for row in packed.rows]).task
    rows = rows_of(TASK, sequences, encoded)
    logits = served.model.logits(features_of(made, rows))
    scored = joined(made, outputs_of(made, rows, encoded, logits))["scored"].values()
    differences = [each.prediction.no_answer for each in scored]
    best = best_threshold([each.reference for each in scored], *zip(*(each.prediction for each in scored)))
    assert found.threshold == pytest.approx(max(best, min(differences) - 1), abs=1e-4)
    assert not found.leaves_choice and found.limit == found.threshold and TASK.limit == 0.0


def test_a_task_of_questions():
    assert SpanAnswering().scores == ("squad_exact_match", "squad_f1")
    assert TASK.scores[2:] == ("squad_exact_match_held_out", "squad_f1_held_out")
    assert task_from_json(TASK.to_json()) == TASK
    assert SpanAnswering().losses == {"start": 0.5, "end": 0.5}
