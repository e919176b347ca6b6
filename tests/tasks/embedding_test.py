"""Sentence embeddings: texts as rows, the loss over a batch, and the vectors as they are served."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.models import build_model, example_sums
from firth.recipes import load_recipe
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.forms import BERTForm, XLNetForm
from firth.scores import compute
from firth.serving.embeddings import embed
from firth.serving.encoding import parse_rows
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.tasks import TASKS
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_rows import pack_records
from tests.exported_model import RECIPE, make_served
from tests.repeating import often
from tests.tasks.texts_test import recipe_of

TEXTS = [
    ("the cat sat .", "a cat on the mat", "the word ."),
    ("you shall know", "know a word by the company", "the mat"),
    ("company it keeps", "the company", "a cat"),
    ("the cat sat .", "the cat of the company", "you ."),
    ("a word", "know a word by the company", "it keeps ."),
]
STILL = RECIPE.model.model_copy(
    update={"dropout": 0.0, "attention": RECIPE.model.attention.model_copy(update={"dropout": 0.0})}
)
MEAN, FIRST = BERTForm(pooling="mean"), BERTForm(pooling="first")


@pytest.fixture(scope="module")
def base() -> Served:
    return make_served(RECIPE)


def export_of(task):
    return {"export": {"pooling": task.served_poolings[task.form.pooling]}}


def served_of(base, task, model=RECIPE.model):
    recipe = recipe_of(task, model=model, **export_of(task))
    return Served(build_model(recipe), base.tokenizer, recipe)


def rows_of(served, labels=(1.0, 1.0, 1.0, 1.0, 1.0)):
    """The texts as rows of TaskRowGen, serialized, and the places of their records."""
    task, sequences = served.task, served.recipe.sequences
    records = [
        LabelledRecord(f"r{place}", dict(zip(task.roles, texts)), label, "f", place)
        for place, (texts, label) in enumerate(zip(TEXTS, labels))
    ]
    encoded = TASKS[task.kind](task, sequences, served.tokenizer).encode(records)
    places = {each.key: place for place, each in enumerate(encoded)}
    rows = pack_records(encoded, task, sequences).rows
    order = [places[key] for row in rows for key in dict.fromkeys(chunk.document_key for chunk in row.chunks)]
    return [row.to_example() for row in rows], order


def batch_of(served, rows):
    make = served.features_function()
    specs = make.specs()
    parsed, _ = parse_rows(tf.constant(rows), served.task.row_specs(served.recipe.sequences))
    outputs = {name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in specs.items()}
    made = tf.map_fn(lambda row: make(row, None, [0, 0]), parsed, fn_output_signature=outputs)
    return parsed, made


def vectors_of(served, texts):
    """The vectors that the served model gives of texts alone, of length 1."""
    found = embed(served, tf.constant(texts))["embedding"].numpy()
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def packed_vectors(served):
    """The vectors of packed records, float32 [record, text, width], in the order of `TEXTS`."""
    rows, order = rows_of(served)
    parsed, batch = batch_of(served, rows)
    assert len(rows) < len(TEXTS)
    made = served.features_function()
    outputs = made.answers(parsed, batch, served.model.logits(batch, training=False))
    there = outputs[names.RECORD_WEIGHTS].numpy() > 0
    found = outputs[names.RECORD_PREDICTIONS].numpy()[there]
    return found.reshape(len(order), served.task.documents_of_record, -1)[np.argsort(order)]


# The table in docs/task-forms.md: of each family.
FAMILIES = ("bert_tiny", "roberta_tiny", "albert_tiny", "electra_tiny", "deberta_v3_tiny", "xlnet_tiny")


@pytest.mark.parametrize("preset", often(FAMILIES, ["bert_tiny", "xlnet_tiny"]))
def test_every_encoder_gives_packed_texts_the_vectors_it_serves(base, preset):
    model = load_recipe(preset, ["model.layers=1", "model.width=16"]).model
    form = MEAN.model_copy(update={"segments": model.separates_segments})
    if model.architecture not in form.architectures:
        form = XLNetForm(pooling="mean")
    served = served_of(base, SentenceEmbedding(form=form), model)
    packed = packed_vectors(served)
    for place in range(2):
        alone = vectors_of(served, [texts[place] for texts in TEXTS])
        np.testing.assert_allclose(packed[:, place], alone, atol=2e-5)


@pytest.fixture(scope="module", params=often(["mean, pairs", "first, triples"], ["mean, pairs"]))
def served(base, request) -> Served:
    """A tiny model without dropout, of either pooling, on pairs or on triples."""
    form = {"mean": MEAN, "first": FIRST}[request.param.split(",")[0]]
    task = SentenceEmbedding(form=form, negatives="triples" in request.param, temperature=0.2)
    return served_of(base, task, STILL)


def test_the_loss_is_over_the_texts_of_the_whole_batch(served):
    """Gao et al. 2021, equation 5, in NumPy, from the vectors of the texts alone."""
    columns = [
        vectors_of(served, [texts[place] for texts in TEXTS])
        for place in range(served.task.documents_of_record)
    ]
    cosines = np.concatenate([columns[0] @ each.T for each in columns[1:]], axis=1) / 0.2
    # The records 0 and 3 have one first text, and the records 1 and 4 have one second text.
    for one, other in ((0, 3), (3, 0), (1, 4), (4, 1)):
        cosines[one, other] = -np.inf
    right = np.diagonal(cosines)
    expected = np.log(np.exp(cosines).sum(axis=1)) - right
    rows, _ = rows_of(served)
    _, batch = batch_of(served, rows)
    (made,) = served.model(batch, training=True).values()
    assert made.weights.numpy().sum() == len(TEXTS)
    np.testing.assert_allclose((made.losses * made.weights).numpy().sum(), expected.sum(), rtol=1e-4)
    hits = right >= cosines.max(axis=1)
    assert (made.correct * made.weights).numpy().sum() == hits.sum()


def test_evaluation_scores_the_vectors_of_all_rows_whatever_the_batch(served):
    rows, order = rows_of(served)
    evaluate = evaluator(served, None)
    if served.task.documents_of_record == 2:
        evaluate = tf.function(evaluate, [tf.TensorSpec([None], tf.string)], autograph=False)
    together, last = evaluate(tf.constant(rows)), evaluate(tf.constant(rows[-1:]))
    for name, value in last.items():
        np.testing.assert_allclose(value[0], together[name][-1], atol=1e-5)
    task = TASKS[served.task.kind]
    of_rows = [{name: each[place].numpy() for name, each in together.items()} for place in range(len(rows))]
    found = [each for outputs in of_rows for each in task.collected(served.task, outputs, "s")]
    firsts, seconds = (vectors_of(served, [TEXTS[place][side] for place in order]) for side in (0, 1))
    cosines = firsts @ seconds.T
    hits = np.diagonal(cosines) >= cosines.max(axis=1) - 1e-6
    assert compute("retrieval_accuracy", found).value == hits.mean()


def test_only_records_from_the_number_on_are_learned_from(base):
    served = served_of(base, SentenceEmbedding(positive_from=4.0))
    rows, _ = rows_of(served, (4.0, 3.5, 5.0, 0.0, 4.5))
    _, batch = batch_of(served, rows)
    (made,) = served.model(batch, training=True).values()
    assert made.weights.numpy().sum() == 3
    assert served.task.scores == ("cosine_spearman",) and SentenceEmbedding().scores == (
        "retrieval_accuracy",
    )
    assert SentenceEmbedding(positive_from=4.0).score_options("retrieval_accuracy") == {"positive_from": 4.0}


def test_texts_are_cut_the_longest_first(base):
    task = SentenceEmbedding(negatives=True)
    made = TASKS[task.kind](task, recipe_of(task, 24, **export_of(task)).sequences, base.tokenizer)
    texts = {"text": "the cat " * 10, "pair": "a cat sat", "negative": "the mat " * 10}
    (encoded,) = made.encode([LabelledRecord("r", texts, 1.0, "f", 1)])
    assert [len(chunk) for chunk in encoded.chunks] == [8, 3, 7] and encoded.cut == 25


@pytest.mark.repeated
def test_it_learns_which_texts_belong_together(base):
    served = served_of(base, SentenceEmbedding(), STILL)
    rows, _ = rows_of(served)
    _, batch = batch_of(served, rows)
    model = served.model
    model.compile(keras.optimizers.Adam(0.03))
    history = model.fit(tf.data.Dataset.from_tensors(batch).repeat(), steps_per_epoch=20, verbose=0)
    sums = example_sums(model(batch, training=True))
    loss = float(tf.reduce_sum(sums["contrastive_loss_sum"]) / len(TEXTS))
    assert loss < 0.1 and np.isfinite(history.history["loss"]).all()
