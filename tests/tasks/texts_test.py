"""Records of one text or two: as rows, as Features, and as a served model encodes them."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.features import evaluation_sums
from firth.models import build_model
from firth.models.bundle import weights_by_path
from firth.recipes import load_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.forms import BARTForm, BERTForm, EncoderForm, GPTForm, LastTokenForm, XLNetForm
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.recipes.training.evaluation import TaskEvaluation
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.serving.task_signatures.records import encode_pieces, encode_texts
from firth.tasks import TASKS
from firth.tasks.inputs import EncodedRecord
from firth.tasks.readers import LabelledRecord
from tests.exported_model import RECIPE, make_served
from tests.repeating import often

LABELS = ("no", "yes")
TASKS_AND_LABELS = {
    "one text": (Classification(labels=LABELS), "yes", 1),
    "two texts": (Classification(labels=LABELS, pair=True), "no", 0),
    "mean": (Classification(labels=LABELS, pair=True, form=BERTForm(pooling="mean")), "yes", 1),
    "state": (Classification(labels=LABELS, form=BERTForm(pooling="first_state")), "yes", 1),
    "number": (Regression(), 2.5, 2.5),
    "number of two": (Regression(pair=True), 0.5, 0.5),
    "both orders": (Regression(pair=True, form=GPTForm(both_orders=True)), 0.5, 0.5),
}
TEXTS = [("the cat sat .", "on the mat"), ("a cat", "the word keeps company ."), ("you", "shall know")]


@pytest.fixture(scope="module")
def base() -> Served:
    return make_served(RECIPE)


def recipe_of(task, length=32, model=RECIPE.model, **more):
    return AdaptingRecipe(
        name="adapted",
        data={"kind": "columns", "train": "labelled.csv"},
        base={"bundle": "base", "digest": "0" * 64},
        tokenizer=RECIPE.tokenizer,
        sequences=RECIPE.sequences.model_copy(update={"length": length, "max_documents": 4}),
        model=model,
        task=task,
        training={"precision": "float32"},
        **more,
    )


def records(task, label):
    roles = task.roles
    return [LabelledRecord(f"r{n}", dict(zip(roles, texts)), label, "f", n) for n, texts in enumerate(TEXTS)]


DECODER = load_recipe("gpt_1_tiny").model


def row_of(task, encoded, length, max_documents):
    """A row of records, as TaskRowGen packs them, padded as it is read."""
    tokens = np.concatenate([chunk for each in encoded for chunk in each.chunks])
    chunks = [len(chunk) for each in encoded for chunk in each.chunks]
    labels = [label for each in encoded for label in each.labels[names.RECORD_LABELS]]

    def sized(spec):
        return (*spec.shape, spec.dtype)

    def padded(values, size, dtype):
        return tf.constant(np.pad(np.asarray(values, dtype), (0, size - len(values))))

    raw = length - task.special_tokens
    specs = task.row_specs(Sequences(length=length, max_documents=max_documents))
    return {
        names.RAW_TOKENS: padded(tokens, raw, "int32"),
        names.WORD_STARTS: tf.zeros([raw], tf.int32),
        names.SENTENCE_STARTS: tf.zeros([raw], tf.int32),
        names.CHUNK_LENGTHS: padded(chunks, *sized(specs[names.CHUNK_LENGTHS])),
        names.DOCUMENT_KEYS: padded(
            [each.key for each in encoded for _ in each.chunks], *sized(specs[names.DOCUMENT_KEYS])
        ),
        names.RECORD_LABELS: padded(labels, *sized(specs[names.RECORD_LABELS])),
    }


@pytest.mark.parametrize("case", often(TASKS_AND_LABELS, ["two texts", "state", "number", "both orders"]))
def test_a_record_among_others_is_answered_as_a_served_one(base, case):
    """The same logits from a row of three records as from each record alone, encoded in the graph."""
    task, label, number = TASKS_AND_LABELS[case]
    length = 32 * task.form.orders
    recipe = recipe_of(task, length, DECODER if task.form.kind == "gpt" else RECIPE.model)
    served = Served(build_model(recipe), base.tokenizer, recipe)
    made = TASKS[task.kind](task, recipe.sequences, base.tokenizer)
    encoded = made.encode(records(task, label))
    row = row_of(task, encoded, length, 4)
    features = made(row, None, [0, 0])
    specs = made.specs()
    assert {name: (tuple(each.shape), each.dtype.name) for name, each in features.items()} == {
        name: (spec.shape, spec.dtype) for name, spec in specs.items()
    }
    assert features[names.RECORD_WEIGHTS].numpy().tolist() == [1, 1, 1, 0]
    batch = {name: each[tf.newaxis] for name, each in features.items()}
    logits = served.model.logits(batch)
    (packed,) = (np.asarray(each) for each in logits.values())
    texts = [tf.constant(column) for column in list(zip(*TEXTS))[: task.texts]]
    (alone,) = served.model.logits(encode_texts(served, *texts).features).values()
    np.testing.assert_allclose(packed[0, :3], np.asarray(alone)[:, 0], atol=2e-6)
    outputs = made.answers({name: each[tf.newaxis] for name, each in row.items()}, batch, logits)
    collected = made.collected(task, {name: np.asarray(each)[0] for name, each in outputs.items()}, "s")
    assert [each.reference for each in collected] == [label] * 3
    assert len({each.id for each in collected}) == 3 and {each.source for each in collected} == {"s"}
    assert row[names.RECORD_LABELS].numpy().tolist() == [number] * 3 + [0]


def on_disk(row, number):
    """A row as a serialized Example, with zeros after its lists."""
    lists = {name: tf.train.Int64List(value=each.numpy().tolist()) for name, each in row.items()}
    lists[names.EXAMPLE_ID] = tf.train.Int64List(value=[number])
    features = {name: tf.train.Feature(int64_list=each) for name, each in lists.items()}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def test_evaluation_brings_the_answers_of_all_rows(base):
    """Three rows, two at a time: the same answers as of each row, next to the sums."""
    task = Classification(labels=LABELS, pair=True)
    recipe = recipe_of(task).model_copy(update={"evaluation": TaskEvaluation(batch_size=2)})
    served = Served(build_model(recipe), base.tokenizer, recipe)
    made = served.features_function()
    encoded = made.encode(records(task, "yes"))
    rows = [row_of(task, encoded[place:], 32, 4) for place in range(3)]
    outputs = evaluator(served, None)(tf.constant([on_disk(row, n) for n, row in enumerate(rows)]))
    assert set(outputs) == {
        *evaluation_sums(task.loss_classes),
        *(names.RECORD_KEYS, names.RECORD_WEIGHTS, names.RECORD_LABELS, names.RECORD_LENGTHS),
        names.RECORD_PREDICTIONS,
    }
    for place, row in enumerate(rows):
        of_row = {name: each[place].numpy() for name, each in outputs.items()}
        features = {name: each[tf.newaxis] for name, each in made(row, None, [0, 0]).items()}
        (logits,) = served.model.logits(features).values()
        kept = encoded[place:]
        assert of_row[names.RECORD_KEYS].tolist() == [each.key for each in kept] + [0] * (4 - len(kept))
        assert of_row[names.RECORD_LENGTHS][0] == sum(len(chunk) for chunk in kept[0].chunks)
        shares = tf.nn.softmax(logits)[0]
        np.testing.assert_allclose(of_row[names.RECORD_PREDICTIONS], shares, atol=1e-5)
        assert of_row["label_weight_sum"] == len(kept)
        loss = -np.log(shares[: len(kept), 1]).sum()
        np.testing.assert_allclose(of_row["label_loss_sum"], loss, rtol=1e-4)
        assert [each.reference for each in made.collected(task, of_row, "")] == ["yes"] * len(kept)


def test_the_longest_text_is_cut_first(base):
    task = Classification(labels=LABELS, pair=True)
    made = TASKS[task.kind](task, recipe_of(task, 12).sequences, base.tokenizer)
    record = LabelledRecord("r", {"text": "the cat " * 10, "pair": "a cat sat"}, "no", "f", 1)
    (encoded,) = made.encode([record])
    assert [len(chunk) for chunk in encoded.chunks] == [6, 3] and encoded.cut == 14


def test_gpt_reads_the_last_token(base):
    task = Classification(labels=LABELS, pair=True, form=GPTForm())
    made = TASKS[task.kind](task, Sequences(length=32, max_documents=4), base.tokenizer)
    features = made(row_of(task, made.encode(records(task, "yes"))[:2], 32, 4), None, [0, 0])
    assert names.SEGMENT_IDS not in features
    pooled = features[names.POOLED_POSITIONS].numpy()
    assert features[names.TOKEN_IDS].numpy()[pooled[:2]].tolist() == [base.tokenizer.sep_id] * 2
    assert features[names.DOCUMENT_IDS].numpy()[pooled[:2]].tolist() == [1, 2]
    assert pooled[2:].tolist() == [0, 0]


def test_both_orders_tell_the_same_of_two_texts_that_change_places(base):
    task = Regression(pair=True, form=GPTForm(both_orders=True))
    recipe = recipe_of(task, 24, DECODER)
    served = Served(build_model(recipe), base.tokenizer, recipe)
    texts = [tf.constant(column) for column in zip(*TEXTS)]
    one, other = (
        served.model.logits(encode_texts(served, *each).features)["value"] for each in (texts, texts[::-1])
    )
    np.testing.assert_allclose(one, other, atol=2e-5)
    single = served.model.heads.dense(tf.ones([1, 1, recipe.model.width]))
    assert tuple(one.shape) == (3, 1, 1) and tuple(single.shape) == (1, 1, 1)
    made = TASKS[task.kind](task, recipe.sequences, base.tokenizer)
    (cut,) = made.encode([LabelledRecord("r", {"text": "the cat " * 10, "pair": "a cat sat"}, 1.0, "f", 1)])
    assert [len(chunk) for chunk in cut.chunks] == [6, 3, 3, 6] and cut.cut == 14
    assert cut.chunks[0].tolist() == cut.chunks[3].tolist()
    with pytest.raises(ValueError, match="both orders"):
        Regression(form=GPTForm(both_orders=True))


def test_a_last_token_is_one_of_the_text_and_no_token_is_new_to_a_decoder(base):
    task = Classification(labels=LABELS, pair=True, form=LastTokenForm())
    made = TASKS[task.kind](task, Sequences(length=32, max_documents=4), base.tokenizer)
    encoded = made.encode(records(task, "yes"))[:2]
    features = made(row_of(task, encoded, 32, 4), None, [0, 0])
    pooled, ids = features[names.POOLED_POSITIONS].numpy(), features[names.TOKEN_IDS].numpy()
    assert ids[pooled[:2]].tolist() == [each.chunks[1][-1] for each in encoded]
    assert pooled[2:].tolist() == [0, 0]
    assert (ids == base.tokenizer.cls_id).sum() == 4 and base.tokenizer.sep_id not in ids


def test_bart_reads_where_the_decoder_would_end_the_record(base):
    task = Classification(labels=LABELS, pair=True, form=BARTForm())
    made = TASKS[task.kind](task, Sequences(length=32, max_documents=4), base.tokenizer)
    encoded = made.encode(records(task, "yes"))[:2]
    features = made(row_of(task, encoded, 32, 4), None, [0, 0])
    ids, read = (features[name].numpy() for name in (names.TOKEN_IDS, names.DECODER_TOKEN_IDS))
    sep, pooled = base.tokenizer.sep_id, features[names.POOLED_POSITIONS].numpy()
    second = features[names.DOCUMENT_IDS].numpy().tolist().index(2)
    assert ids[pooled[:2]].tolist() == [sep] * 2 and pooled[0] == second - 1
    assert read[[0, second]].tolist() == [sep] * 2 and read[1] == ids[0] == base.tokenizer.cls_id
    assert read[1:second].tolist() == ids[: second - 1].tolist()
    between = 1 + len(encoded[0].chunks[0])
    assert ids[between : between + 2].tolist() == [sep] * 2


# The table in docs/task-forms.md: of each family, its form and two texts.
FAMILIES = [
    ("bert_tiny", BERTForm()),
    ("roberta_tiny", BERTForm(segments=False, separators=2)),
    ("albert_tiny", BERTForm()),
    ("electra_tiny", BERTForm()),
    ("deberta_v3_tiny", BERTForm()),
    ("xlnet_tiny", XLNetForm()),
    ("xlnet_tiny", XLNetForm(pooling="mean")),
    ("gpt_1_tiny", GPTForm()),
    ("gpt2_tiny", GPTForm()),
    ("gpt2_tiny", LastTokenForm()),
    ("llama_tiny", GPTForm()),
    ("llama_tiny", LastTokenForm()),
    ("bart_tiny", BARTForm()),
    ("t5_tiny", EncoderForm()),
]
SMALL = ["model.layers=1", "model.width=16"]


# An encoder, one that reads a text from its end, a decoder, and an encoder next to a decoder.
FEW = [
    ("bert_tiny", BERTForm()),
    ("xlnet_tiny", XLNetForm(pooling="mean")),
    ("llama_tiny", GPTForm()),
    ("bart_tiny", BARTForm()),
]


def cases(families, few=FEW):
    names = [f"{preset}-{form.kind}-{form.pooling}" for preset, form in families]
    return pytest.mark.parametrize(("preset", "form"), often(families, few), ids=names)


# Each form once, of the few where they have it.
of_forms = cases(list({str(form): (preset, form) for preset, form in (*FAMILIES, *FEW)}.values()))


# By family, the ids of special tokens that its published tokenizer has, and what transformers 5.23 makes
# of the texts (10 11) and (12), with the released code's segments: 0 and 1 of the texts, 2 of XLNet's cls.
PUBLISHED = {
    "BERT, ALBERT, ELECTRA": (BERTForm(), (101, 102), [101, 10, 11, 102, 12, 102], [0, 0, 0, 0, 1, 1]),
    "DeBERTa v3": (BERTForm(segments=False), (1, 2), [1, 10, 11, 2, 12, 2], [0] * 6),
    "RoBERTa": (BERTForm(segments=False, separators=2), (0, 2), [0, 10, 11, 2, 2, 12, 2], [0] * 7),
    "XLNet": (XLNetForm(), (3, 4), [10, 11, 4, 12, 4, 3], [0, 0, 0, 1, 1, 2]),
}


@pytest.mark.parametrize("family", PUBLISHED)
def test_two_texts_stand_as_in_the_published_tokenizer(family):
    form, (cls, sep), ids, segments = PUBLISHED[family]
    tokenizer = SimpleNamespace(cls_id=cls, sep_id=sep, pad_id=5, max_characters=0)
    task = Classification(labels=LABELS, pair=True, form=form)
    made = TASKS[task.kind](task, Sequences(length=16, max_documents=2), tokenizer)
    chunks = tuple(np.array(each, np.int32) for each in ([10, 11], [12]))
    record = EncodedRecord(1, "", chunks, {names.RECORD_LABELS: [0]})
    features = made(row_of(task, [record, record], 16, 2), None, [0, 0])
    size = len(ids)
    assert features[names.TOKEN_IDS].numpy().tolist() == [*ids, *ids, *[5] * (16 - 2 * size)]
    assert features[names.SEGMENT_IDS].numpy().tolist() == [*segments, *segments, *[0] * (16 - 2 * size)]
    place = ids.index(cls)
    assert features[names.POOLED_POSITIONS].numpy().tolist() == [place, size + place]
    assert task.special_tokens == size - 3
    recipe = SimpleNamespace(goal=task, sequences=SimpleNamespace(length=16))
    served = Served(SimpleNamespace(), tokenizer, recipe)
    alone = encode_pieces(served, *(tf.ragged.constant([each.tolist()], tf.int32) for each in chunks))
    assert alone[names.TOKEN_IDS].numpy().tolist() == [ids]
    assert alone[names.SEGMENT_IDS].numpy().tolist() == [segments]
    assert alone[names.POOLED_POSITIONS].numpy().tolist() == [[place]]


@cases(FAMILIES)
def test_every_family_reads_packed_records_as_it_reads_them_alone(base, preset, form):
    task = Classification(labels=LABELS, pair=True, form=form)
    recipe = recipe_of(task, model=load_recipe(preset, SMALL).model)
    served = Served(build_model(recipe), base.tokenizer, recipe)
    made = TASKS[task.kind](task, recipe.sequences, base.tokenizer)
    features = made(row_of(task, made.encode(records(task, "yes")), 32, 4), None, [0, 0])
    (packed,) = served.model.logits({name: each[tf.newaxis] for name, each in features.items()}).values()
    texts = [tf.constant(column) for column in zip(*TEXTS)]
    (alone,) = served.model.logits(encode_texts(served, *texts).features).values()
    np.testing.assert_allclose(np.asarray(packed)[0, :3], np.asarray(alone)[:, 0], atol=2e-5)


def test_a_decoder_may_learn_its_texts_next_to_their_classes(base):
    """The auxiliary loss of GPT: each next token of the same record, by the table that a base brings."""
    task = Classification(labels=LABELS, form=GPTForm(), lm_weight=0.5)
    model = load_recipe("llama_tiny", ["model.layers=1", "model.width=16"]).model
    recipe = recipe_of(task, model=model)
    served = Served(build_model(recipe), base.tokenizer, recipe)
    made = served.features_function()
    row = row_of(task, made.encode(records(task, "yes")), 32, 4)
    features = made(row, None, [0, 0])
    assert {name: spec.shape for name, spec in made.specs().items()} == {
        name: tuple(each.shape) for name, each in features.items()
    }
    ids, documents, labels, weights = (
        features[name].numpy()
        for name in (names.TOKEN_IDS, names.DOCUMENT_IDS, names.LABEL_IDS, names.LABEL_WEIGHTS)
    )
    inside = (documents[1:] == documents[:-1]) & (documents[1:] > 0)
    assert weights.tolist() == [*inside.astype(float), 0.0] and weights.sum() == (documents > 0).sum() - 3
    assert labels[:-1][inside].tolist() == ids[1:][inside].tolist()
    assert recipe.goal.losses == {"label": 1.0, "lm": 0.5}
    assert "heads/table" in weights_by_path(served.model)
    batch = {name: each[tf.newaxis] for name, each in features.items()}
    shares = tf.nn.log_softmax(
        served.model.heads.project(served.model.backbone, served.model.backbone(batch))
    )
    expected = -tf.gather(shares[0], labels, batch_dims=1) * weights
    outputs = evaluator(served, None)(tf.constant([on_disk(row, 1)]))
    np.testing.assert_allclose(outputs["lm_loss_sum"][0], tf.reduce_sum(expected), rtol=1e-4)
    assert set(evaluation_sums(task.loss_classes)) < set(outputs) and names.RECORD_PREDICTIONS in outputs
    with pytest.raises(ValueError, match=r"lm_weight: form\.kind: bert "):
        Classification(labels=LABELS, lm_weight=0.5)
