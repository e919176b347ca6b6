"""Sentences with a tag for each word: as rows, as Features, as scores, and as a served model answers."""

import random

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.models import build_model
from firth.recipes import load_recipe
from firth.recipes.tasks.data import PublishedData
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.tasks import task_from_json
from firth.scores import compute
from firth.serving.served_model import Served
from firth.serving.task_signatures.records import encode_pieces
from firth.serving.task_signatures.tag import tag, tag_words
from firth.tasks import TASKS
from firth.tasks.labelled.data import read_labelled_data
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_rows import pack_records
from firth.tasks.texts import key_of
from firth.tasks.word_offsets import pieces_of_words
from tests.exported_model import RECIPE, make_served
from tests.shared_data import shared_data
from tests.tasks.texts_test import SMALL, of_forms, recipe_of

TASK = Tagging(labels=("O", "B-PET", "I-PET"))
# `cats` and `sitting` are several pieces; a sentence of one control character has none.
SENTENCES = {
    "the cats sat .": ("O", "B-PET", "O", "O"),
    "a cat \x81 sat": ("O", "B-PET", "I-PET", "O"),
    "\x81": ("B-PET",),
    "sats on mats": ("O", "O", "B-PET"),
}


@pytest.fixture(scope="module")
def served() -> Served:
    base, recipe = make_served(RECIPE), recipe_of(TASK)
    return Served(build_model(recipe), base.tokenizer, recipe)


def sentence(words: str, tags: tuple[str, ...]) -> LabelledRecord:
    return LabelledRecord(words, {"words": tuple(words.split(" "))}, tags, "f", 1)


def task_of(served, task=TASK, length=32):
    sequences = recipe_of(task, length).sequences
    return TASKS[task.kind](task, sequences, served.tokenizer), sequences


def rows_of(task, sequences, encoded):
    """Rows of the records, padded as they are read, stacked."""
    packed = pack_records([each._replace(source="s") for each in encoded], task, sequences)
    assert packed.report["rejected"] == {}
    columns = {name: [] for name in task.row_specs(sequences)}
    for row in packed.rows:
        values = {**row.lists, **row.labels, names.EXAMPLE_ID: row.example_id}
        for name, spec in task.row_specs(sequences).items():
            given = np.asarray(values[name], spec.dtype)
            room = [(0, most - size) for most, size in zip(spec.shape, given.shape)]
            columns[name].append(np.pad(given, room) if room else given)
    return {name: tf.constant(np.stack(each)) for name, each in columns.items()}


def collected(made, rows, outputs, encoded, config=TASK):
    """The windows of all rows with their answers, as `collected` gives them, and the sentences of them."""
    by_key = {each.key: each.details.encode() for each in encoded}
    found = []
    for number, row in enumerate(each_of(outputs)):
        keys = rows[names.DOCUMENT_KEYS][number].numpy().tolist()
        row[names.RECORD_DETAILS] = [by_key[key] for key in keys if key]
        found += made.collected(config, row, "s")
    return made.joined(config, found)["examples"]


def numpy(tensors):
    return {name: np.asarray(each) for name, each in tensors.items()}


def each_of(batch):
    return [{name: each[n] for name, each in batch.items()} for n in range(len(next(iter(batch.values()))))]


def features_of(made, rows):
    parts = [
        made({name: each[n] for name, each in rows.items()}, None, [0, 0]) for n in range(len(rows["tokens"]))
    ]
    return {name: tf.stack([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.repeated
def test_a_sentence_among_others_is_answered_as_alone_and_as_served(served):
    made, sequences = task_of(served)
    encoded = made.encode([sentence(*each) for each in SENTENCES.items()])
    together = rows_of(TASK, sequences, encoded)
    assert len(together["tokens"]) == 1
    packed = features_of(made, together)
    assert {name: (tuple(each.shape[1:]), each.dtype.name) for name, each in packed.items()} == {
        name: (spec.shape, spec.dtype) for name, spec in made.specs().items()
    }
    of_packed = np.asarray(served.model.logits(packed)["tag"])[0]
    for record in encoded:
        alone = features_of(made, rows_of(TASK, sequences, [record]))
        (number,) = np.flatnonzero(together[names.DOCUMENT_KEYS][0] == record.key)
        own = packed[names.DOCUMENT_IDS][0].numpy() == number + 1
        size = own.sum()
        of_alone = np.asarray(served.model.logits(alone)["tag"])[0, :size]
        np.testing.assert_allclose(of_packed[own], of_alone, atol=2e-6)
        words = tf.ragged.constant([record.id.split(" ")])
        tokens = pieces_of_words(served.tokenizer, words).tokens
        if len(tokens[0]):
            of_served = served.model.logits(encode_pieces(served, tokens))["tag"]
            np.testing.assert_allclose(of_alone, np.asarray(of_served)[0], atol=2e-6)


@of_forms
def test_every_form_tags_packed_sentences_as_it_tags_served_ones(served, preset, form):
    task = TASK.model_copy(update={"form": form})
    recipe = recipe_of(task, model=load_recipe(preset, SMALL).model)
    made, sequences = TASKS[task.kind](task, recipe.sequences, served.tokenizer), recipe.sequences
    other = Served(build_model(recipe), served.tokenizer, recipe)
    sentences = [sentence(words, tags) for words, tags in SENTENCES.items() if "\x81" not in words]
    rows = rows_of(task, sequences, made.encode(sentences))
    features = features_of(made, rows)
    shares = np.asarray(tf.nn.softmax(other.model.logits(features)["tag"]))[0]
    document_ids, weights = features[names.DOCUMENT_IDS][0].numpy(), features[names.LABEL_WEIGHTS][0].numpy()
    keys = rows[names.DOCUMENT_KEYS][0].numpy().tolist()
    answer = numpy(tag(other, tf.constant([each.id for each in sentences])))
    for number, each in enumerate(made.encode(sentences)):
        own = shares[(document_ids == keys.index(each.key) + 1) & (weights > 0)]
        np.testing.assert_allclose(answer["probabilities"][number][: len(own)], own.max(axis=1), atol=2e-5)


def test_first_pieces_carry_the_tags(served):
    made, _ = task_of(served)
    first, gap, empty, _ = made.encode([sentence(*each) for each in SENTENCES.items()])
    pieces = [served.tokenizer.id_to_token(id) for id in first.chunks[0]]
    assert pieces == ["the", "cat", "##s", "sat", "."]
    assert first.labels[names.TOKEN_LABELS] == [1, 2, 0, 1, 1]
    assert gap.labels[names.WORD_LABELS] == [1, 2, -3, 1] and gap.labels[names.RECORD_WORDS] == [4]
    assert empty.chunks[0].tolist() == [served.tokenizer.unk_id]
    assert empty.labels[names.TOKEN_LABELS] == [0] and empty.labels[names.WORD_LABELS] == [-2]


@pytest.mark.parametrize("length", [32, 6])
def test_words_that_are_not_seen_count_as_predicted_outside(served, length):
    """A word without pieces stays in the reference; one that does not fit in a row is in its next window."""
    made, sequences = task_of(served, length=length)
    encoded = made.encode([sentence(*each) for each in SENTENCES.items()])
    assert len(encoded) == (4 if length == 32 else 6) and sum(each.cut for each in encoded) == 0
    rows = rows_of(TASK, sequences, encoded)
    features = features_of(made, rows)
    wanted = np.full((*features[names.LABEL_IDS].shape, 3), 0.0, "float32")
    wanted[..., 1] = 1.0
    outputs = numpy(made.answers(rows, features, {"tag": tf.constant(wanted)}))
    found = collected(made, rows, outputs, encoded)
    by_id = {str(each.key): each.id for each in encoded}
    assert {by_id[each.id]: each.reference for each in found} == SENTENCES
    predicted = {by_id[each.id]: each.prediction for each in found}
    assert predicted == {
        **{words: ("B-PET",) * len(tags) for words, tags in SENTENCES.items()},
        "a cat \x81 sat": ("B-PET", "B-PET", "O", "B-PET"),
        "\x81": ("O",),
    }
    assert 0.0 < compute("entity_f1", found).value < 1.0


def test_likeliest_tags_are_those_of_the_words(served):
    """Scores read the tags at the words' own places, wherever their sentence is in the row."""
    made, sequences = task_of(served)
    encoded = made.encode([sentence(*each) for each in SENTENCES.items()])
    rows = rows_of(TASK, sequences, encoded)
    features = features_of(made, rows)
    perfect = tf.one_hot(features[names.LABEL_IDS], 3) * features[names.LABEL_WEIGHTS][:, :, tf.newaxis]
    outputs = numpy(made.answers(rows, features, {"tag": perfect}))
    found = collected(made, rows, outputs, encoded)
    unseen = {"\x81", "a cat \x81 sat"}
    by_id = {str(each.key): each.id for each in encoded}
    assert {by_id[each.id] for each in found if each.reference != each.prediction} == unseen
    broken = perfect + tf.constant(np.where(np.arange(32) == 1, np.nan, 0.0)[None, :, None], tf.float32)
    sums = made.answers(rows, features, {"tag": broken})[names.RECORD_PREDICTIONS].numpy()[0]
    assert np.isfinite(sums).tolist() == [False, True, True, True]


def test_a_sentence_of_too_many_words_is_refused(served):
    made, _ = task_of(served)
    words = " ".join(["\x81"] * 100)
    with pytest.raises(ValueError, match=r"100 words, .*12 words"):
        made.encode([sentence(words, ("O",) * 100)])


def test_served_words_have_tags_and_places(served):
    texts = ["The cat's  mat.", "", "é \u200b cats", "a " * 40]
    found = numpy(tag(served, tf.constant(texts)))
    assert found["word_count"].tolist() == [6, 0, 2, 40]
    assert not found["truncated"].any()
    for text, words, starts, ends, count in zip(
        texts, *(found[name] for name in ("words", "starts", "ends", "word_count"))
    ):
        assert [text[start:end] for start, end in zip(starts, ends)][:count] == [
            word.decode() for word in words[:count]
        ]
        assert not any(words[count:]) and not any(ends[count:])
    assert found["words"][2][:2].tolist() == ["é".encode(), b"cats"]
    assert (found["probabilities"][3][:40] > 1 / 3).all() and found["are_read"][3][:40].all()
    alone = tag(served, tf.constant(texts[:1]))
    np.testing.assert_allclose(found["probabilities"][0, :6], alone["probabilities"][0], atol=2e-6)


def test_served_tags_are_those_of_a_row(served):
    """The same words, split by the served model or given as a record, have the same probabilities."""
    made, sequences = task_of(served)
    for words in ("the cats sat .", "sats on mats"):
        record = made.encode([sentence(words, SENTENCES[words])])
        features = features_of(made, rows_of(TASK, sequences, record))
        shares = np.asarray(tf.nn.softmax(served.model.logits(features)["tag"]))
        own = shares[features[names.LABEL_WEIGHTS].numpy() > 0]
        answer = numpy(tag(served, tf.constant([words])))
        np.testing.assert_allclose(answer["probabilities"][0], own.max(axis=1), atol=2e-6)
        assert [TASK.labels.index(name.decode()) for name in answer["tags"][0]] == own.argmax(axis=1).tolist()


# What files hold: words that a splitter would cut, line ends, control characters, emoji, and other scripts.
ODD_WORDS = (
    *(
        "U.S.",
        "don't",
        "cat's",
        "a b",
        "10\u00a0000",
        "\x00",
        "ca\x00t",
        "cat\x1c",
        "\x85",
        "sat\u2028on",
        "\r\n",
    ),
    *(
        "\U0001f600",
        "\U0001f468\u200d\U0001f469",
        "北京",
        "हिन्दी",
        "العربية",
        "[CLS]",
        "cats",
        "\ufeff",
        "\u200b",
    ),
)


@pytest.mark.parametrize("length", [pytest.param(32, marks=pytest.mark.repeated), 7])
def test_words_are_served_as_they_are_learned_whatever_they_hold(served, length):
    """Each word has the tag and probability of its row, in the window that the row's label is in."""
    sequences = recipe_of(TASK, length).sequences
    own = Served(served.model, served.tokenizer, recipe_of(TASK, length))
    made = TASKS[TASK.kind](TASK, sequences, served.tokenizer)
    chosen = random.Random(3)
    sentences = [tuple(chosen.choices(ODD_WORDS, k=size)) for size in (1, 2, 9, 30)]
    tags = [tuple(chosen.choices(TASK.labels, k=len(words))) for words in sentences]
    records = [
        LabelledRecord(f"{n}", {"words": w}, t, "f", 1) for n, (w, t) in enumerate(zip(sentences, tags))
    ]
    encoded = made.encode(records)
    rows = rows_of(TASK, sequences, encoded)
    features = features_of(made, rows)
    outputs = numpy(made.answers(rows, features, served.model.logits(features)))
    found = {each.id: each for each in collected(made, rows, outputs, encoded)}
    longest = max(map(len, sentences))
    padded = tf.constant([[*words, *[""] * (longest - len(words))] for words in sentences])
    answer = numpy(tag_words(own, padded))
    for number, record in enumerate(records):
        scored, size = found[str(key_of(record.id))], len(sentences[number])
        assert scored.reference == tags[number] and answer["word_count"][number] == size
        given = tuple(each.decode() for each in answer["tags"][number])
        assert given[:size] == scored.prediction and set(given[size:]) <= {""}
        assert [each.decode() for each in answer["words"][number][:size]] == list(sentences[number])
        alone = numpy(tag_words(own, tf.constant([sentences[number]])))
        np.testing.assert_allclose(
            answer["probabilities"][number][:size], alone["probabilities"][0], atol=2e-6
        )
    unread = {
        w
        for words, row in zip(sentences, answer["are_read"])
        for w, is_read in zip(words, row)
        if not is_read
    }
    assert unread and all(len(served.tokenizer.tokenize([word])[0]) == 0 for word in unread)


def test_scores_follow_from_the_tags():
    assert TASK.scores == ("entity_f1",) and Tagging().scores == ("entity_f1",)
    assert Tagging(labels=("NOUN", "VERB")).scores == ("tag_accuracy",)
    assert Tagging(labels=("NOUN", "VERB"), scores=("tag_accuracy",)).scores == ("tag_accuracy",)
    assert task_from_json(TASK.to_json()) == TASK
    with pytest.raises(ValueError, match=r"entity_f1 .*B-PER"):
        Tagging(labels=("NOUN", "VERB"), scores=("entity_f1",))
    with pytest.raises(ValueError, match="only one tag"):
        Tagging(labels=("O",))
    with pytest.raises(ValueError, match="a tag occurs twice"):
        Tagging(labels=("O", "O"))


def check_wnut(folder, served, sentences):
    """Reads, encodes and packs the training split; every word of it is in some row's labels."""
    data = PublishedData(format="wnut17", folder=str(folder), eval="dev")
    found = read_labelled_data(data, Tagging())
    records = found.splits["train"].records
    assert len(records) == sentences
    task = Tagging(labels=found.labels)
    made, sequences = task_of(served, task, length=32)
    packed = pack_records([each._replace(source="s") for each in made.encode(records)], task, sequences)
    words = [number for row in packed.rows for number in row.labels[names.RECORD_WORDS]]
    assert sum(words) == sum(len(each.texts["words"]) for each in records)
    gold = np.concatenate([row.labels[names.WORD_LABELS] for row in packed.rows])
    expected = [found.labels.index(tag) for each in records for tag in each.label]
    assert np.bincount(np.abs(gold) - 1).tolist() == np.bincount(expected).tolist()


def test_a_published_format_becomes_rows(served, tmp_path):
    lines = ["the\tO", "cat\tB-person", "\u200b\tI-person", "", "on\tO", "mats\tB-location", ""]
    for name in ("wnut17train.conll", "emerging.dev.conll"):
        (tmp_path / name).write_text("\n".join(lines))
    check_wnut(tmp_path, served, 2)


@pytest.mark.repeated
@pytest.mark.needs_data("wnut17", twin="test_a_published_format_becomes_rows")
def test_wnut17_becomes_rows(served):
    check_wnut(shared_data("wnut17"), served, 3394)
