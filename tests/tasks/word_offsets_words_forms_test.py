"""ELMo's form: whole words, each text read alone, as rows, as Features, and as a served model reads them."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.models import build_model
from firth.recipes.models.bilstm import BiLSTMConfig, CharacterCNNConfig
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.forms import ELMoForm
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tokenizers.tokenizer import Sequences, WordTokenizerConfig
from firth.serving.encoding import parse_rows
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.serving.task_signatures.records import encode_texts
from firth.serving.task_signatures.tag import tag
from firth.tasks import TASKS
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_rows import pack_records
from firth.tokenizers.word import WordTokenizer
from tests.repeating import often

WORDS = ("<S>", "</S>", "<UNK>", "the", "cat", "sat", "on", "a", "mat", ".", "Don", "'", "t")
CHARACTERS = 10
MODEL = BiLSTMConfig(
    cells=12,
    projection_width=8,
    characters=CharacterCNNConfig(width=4, max_characters=CHARACTERS, filters=((1, 4), (2, 6))),
    carry_state=True,
)
SEQUENCES = Sequences(length=32, max_documents=4)
FORM = ELMoForm(layers=1, cells=6, output_mix=True)
LABELS = ("no", "yes")
TEXTS = [("the purring cat sat .", "on a mat"), ("a cat", "Don't sit ."), ("the", "shall know")]
TAGS = ("O", "B-PET", "I-PET")
# A word of one control character is not read, and "Don't" is one word, as it was given.
SENTENCES = {
    "the purring cat": ("O", "O", "B-PET"),
    "Don't \x81 sat": ("B-PET", "I-PET", "O"),
    "\x81": ("B-PET",),
}


@pytest.fixture(scope="module")
def tokenizer():
    return WordTokenizer(WORDS, max_characters=CHARACTERS)


def served_of(task, tokenizer, length=32) -> Served:
    recipe = AdaptingRecipe(
        name="adapted",
        data={"kind": "columns", "train": "labelled.csv"},
        base={"bundle": "base", "digest": "0" * 64},
        tokenizer=WordTokenizerConfig(vocabulary_size=20, max_characters=CHARACTERS),
        sequences=SEQUENCES.model_copy(update={"length": length}),
        model=MODEL,
        task=task,
        training={"precision": "float32"},
    )
    return Served(build_model(recipe), tokenizer, recipe)


def rows_of(served, encoded) -> list[bytes]:
    """Rows as they stand on disk."""
    packed = pack_records(
        [each._replace(source="s") for each in encoded], served.task, served.recipe.sequences
    )
    assert packed.report["rejected"] == {}
    return [row.to_example() for row in packed.rows]


def answers_of(served, encoded):
    """Returns the answers that scores read, of the one row of records, as it is read from disk."""
    made, recipe = made_of(served), served.recipe
    specs = served.task.row_specs(recipe.sequences, CHARACTERS)
    rows, _ = parse_rows(tf.constant(rows_of(served, encoded)), specs)
    features = made({name: each[0] for name, each in rows.items()}, None, [0, 0])
    batch = {name: each[tf.newaxis] for name, each in features.items()}
    outputs = made.answers(rows, batch, served.model.logits(batch))
    return {name: np.asarray(each)[0] for name, each in outputs.items()}


def made_of(served, task=None):
    task = task or served.task
    return TASKS[task.kind](task, served.recipe.sequences, served.tokenizer)


TEXT_TASKS = {
    "one text": (Classification(labels=LABELS, form=FORM), "yes"),
    "two texts": (Classification(labels=LABELS, pair=True, form=FORM), "no"),
    "a number of two": (Regression(pair=True, form=ELMoForm(layers=1, cells=6, layer_norm=True)), 2.5),
}


@pytest.mark.parametrize("case", often(TEXT_TASKS, ["two texts"]))
def test_a_record_among_others_is_answered_as_a_served_one(tokenizer, case):
    """Of three records, the answers of each alone, from rows as they stand on disk."""
    task, label = TEXT_TASKS[case]
    served = served_of(task, tokenizer)
    made = made_of(served)
    records = [
        LabelledRecord(f"r{n}", dict(zip(task.roles, texts)), label, "f", n) for n, texts in enumerate(TEXTS)
    ]
    encoded = made.encode(records)
    outputs = answers_of(served, encoded)
    texts = [tf.constant(column) for column in list(zip(*TEXTS))[: task.texts]]
    (alone,) = served.model.logits(encode_texts(served, *texts).features).values()
    wanted = made.predictions_of(alone)[:, 0].numpy()
    by_key = {each.key: wanted[number] for number, each in enumerate(encoded)}
    keys = outputs[names.RECORD_KEYS].tolist()
    assert sorted(keys[:3]) == sorted(by_key) and keys[3] == 0
    for place, key in enumerate(keys[:3]):
        np.testing.assert_allclose(outputs[names.RECORD_PREDICTIONS][place], by_key[key], atol=2e-6)
    collected = made.collected(task, outputs, "s")
    assert [each.reference for each in collected] == [label] * 3
    assert np.ptp(wanted, axis=0).max() > 1e-4


def test_features_are_as_their_specs_say_and_each_text_is_alone(tokenizer):
    task = Classification(labels=LABELS, pair=True, form=FORM)
    made = TASKS[task.kind](task, SEQUENCES, tokenizer)
    record = LabelledRecord("r", dict(zip(task.roles, TEXTS[0])), "yes", "f", 1)
    (encoded,) = made.encode([record])
    assert [words.tolist() for words in encoded.words] == [text.encode().split() for text in TEXTS[0]]
    assert [chunk.tolist() for chunk in encoded.chunks] == [[3, 2, 4, 5, 9], [6, 7, 8]]
    characters = tokenizer.characters(tf.constant(np.concatenate(encoded.words)))
    room = task.row_specs(SEQUENCES, CHARACTERS)[names.CHARACTERS].shape[0]
    row = {
        names.RAW_TOKENS: tf.zeros([room], tf.int32),
        names.WORD_STARTS: tf.zeros([room], tf.int32),
        names.SENTENCE_STARTS: tf.zeros([room], tf.int32),
        names.CHUNK_LENGTHS: tf.constant([5, 3, 0, 0, 0, 0, 0, 0]),
        names.RECORD_LABELS: tf.constant([1, 0, 0, 0]),
        names.CHARACTERS: tf.pad(characters, [[0, room - 8], [0, 0]]),
    }
    features = made(row, None, [0, 0])
    assert {name: (tuple(each.shape), each.dtype.name) for name, each in features.items()} == {
        name: (spec.shape, spec.dtype) for name, spec in made.specs().items()
    }
    assert features[names.DOCUMENT_IDS].numpy().tolist() == [1] * 7 + [2] * 5 + [0] * 20
    assert features[names.RECORD_WEIGHTS].numpy().tolist() == [1, 0, 0, 0]
    read = features[names.CHARACTERS].numpy()
    for place in (0, 7):
        assert read[place].tolist() == tokenizer.bos_characters.tolist()
        assert read[place + 1].tolist() == characters[0 if place == 0 else 5].numpy().tolist()
    assert read[6].tolist() == tokenizer.eos_characters.tolist() and not read[12:].any()


def test_the_longest_text_is_cut_first(tokenizer):
    task = Classification(labels=LABELS, pair=True, form=FORM)
    made = TASKS[task.kind](task, SEQUENCES.model_copy(update={"length": 12}), tokenizer)
    record = LabelledRecord("r", {"text": "the cat " * 10, "pair": "a cat sat"}, "no", "f", 1)
    (encoded,) = made.encode([record])
    assert [len(words) for words in encoded.words] == [5, 3] and encoded.cut == 15


@pytest.fixture(scope="module")
def tagger(tokenizer) -> Served:
    served = served_of(Tagging(labels=TAGS, form=FORM), tokenizer, 12)
    generator = np.random.default_rng(0)
    for weight in served.model.heads.crf.weights:
        weight.assign(2.0 * generator.normal(size=weight.shape))
    return served


@pytest.mark.repeated
def test_words_keep_their_tags_and_are_read_whole(tagger):
    made = made_of(tagger)
    sentences = [
        LabelledRecord(words, {"words": tuple(words.split(" "))}, tags, "f", 1)
        for words, tags in SENTENCES.items()
    ]
    first, second, third = encoded = made.encode(sentences)
    assert first.chunks[0].tolist() == [3, 2, 4] and first.words[0].tolist() == [b"the", b"purring", b"cat"]
    assert second.words[0].tolist() == [b"Don't", b"sat"] and third.words[0].tolist() == [b"<UNK>"]
    assert second.labels[names.WORD_LABELS] == [2, -3, 1] and second.labels[names.TOKEN_LABELS] == [2, 1]
    (row,) = rows_of(tagger, encoded)
    outputs = {name: each[0].numpy() for name, each in evaluator(tagger, None)(tf.constant([row])).items()}
    assert outputs["tag_weight_sum"] == 5.0
    by_key = {each.key: each.details for each in encoded}
    outputs[names.RECORD_DETAILS] = [by_key[key] for key in outputs[names.RECORD_KEYS] if key]
    windows = made.collected(tagger.task, outputs, "s")
    found = {each.id: each for each in made.joined(tagger.task, windows)["examples"]}
    # In a graph that knows neither the number nor the lengths of the texts.
    asked = tf.function(
        lambda text: tag(tagger, text), input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
    )
    answers = asked(tf.constant(["the purring cat", "sat"]))
    collected = found[str(first.key)]
    assert collected.reference == SENTENCES["the purring cat"]
    assert collected.prediction == tuple(name.decode() for name in answers["tags"][0].numpy())
    shares = answers["probabilities"][0].numpy()
    assert (shares > 0).all() and (shares < 1).all()


def test_words_that_a_row_has_no_room_for_are_in_the_next_window(tokenizer):
    made = made_of(served_of(Tagging(labels=TAGS, form=FORM), tokenizer, 8))
    words = ("the", "\x81", *["cat"] * 8)
    first, second = made.encode([LabelledRecord("r", {"words": words}, ("O",) * 10, "f", 1)])
    assert first.cut == 0 and len(first.chunks[0]) == len(first.words[0]) == 6
    assert first.labels[names.WORD_LABELS] == [1, -1, 1, 1, 1, 1, 1]
    assert first.labels[names.TOKEN_LABELS] == [1, 1, 1, 1, 1, 1]
    # The tag of the first word is known, as of a chain, and another window is asked about it.
    assert second.labels[names.TOKEN_LABELS] == [-1, 1, 1, 1] and len(second.labels[names.WORD_LABELS]) == 3


def test_no_text_has_an_answer(tokenizer, tagger):
    served = served_of(Classification(labels=LABELS, form=FORM), tokenizer)
    (logits,) = served.model.logits(encode_texts(served, tf.constant(["", "\x81"])).features).values()
    assert np.isfinite(logits).all()
    answers = tag(tagger, tf.constant([""]))
    assert answers["word_count"].numpy().tolist() == [0]
