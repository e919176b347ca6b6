"""Dialogues as rows and as Features: what is learned, what is left out, and what replies the model gives."""

import functools
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.evaluation.constant_answers import constant_comparisons
from firth.evaluation.record_scores import Records
from firth.models import build_model
from firth.recipes import load_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tokenizers.chat_template import TEMPLATES
from firth.recipes.training.evaluation import TaskEvaluation
from firth.scores import Collected
from firth.scores.replies import ReplyPieces
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.tasks import TASKS
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_rows import pack_records
from firth.tasks.texts import key_of
from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.chat import Chat
from tests.exported_model import RECIPE, VOCABULARY
from tests.generation.cases import eagerly
from tests.repeating import often
from tests.tasks.text_to_text_test import SCHEMA, bytes_tokenizer, scored_rows, with_tokenizer

SPEAKERS = ("system", "user", "assistant", "user", "assistant")
SHORT = LabelledRecord("a", {"messages": ("the cat", "sat on mat")}, SPEAKERS[1:3], "f", 1)
LONG = LabelledRecord("b", {"messages": ("a", "the cat", "sat", "a word", "you know")}, SPEAKERS, "f", 2)


@functools.cache
def served(preset="gpt2_tiny", length=40, reply_tokens=6, **options) -> Served:
    tokenizer = WordPieceTokenizer([*VOCABULARY, "user", "assistant", ":"], chat_template=TEMPLATES["plain"])
    recipe = AdaptingRecipe(
        name="adapted",
        data={"kind": "columns", "train": "chat.jsonl", "texts": {"messages": "messages"}, "label": None},
        base={"bundle": "base", "digest": "0" * 64},
        tokenizer=RECIPE.tokenizer,
        sequences=RECIPE.sequences.model_copy(update={"length": length, "max_documents": 3}),
        model=load_recipe(preset, ["model.layers=1", "model.width=16"]).model,
        task=Dialogue(reply_tokens=reply_tokens, **options),
        training={"precision": "float32"},
        evaluation=TaskEvaluation(batch_size=2),
    )
    keras.utils.set_random_seed(4)
    return Served(build_model(recipe), tokenizer, recipe)


def rows_of(made: Served, *records):
    function = TASKS["dialogue"](made.task, made.recipe.sequences, made.tokenizer)
    return pack_records(function.encode(records), made.task, made.recipe.sequences)


def features_of(made: Served, row) -> dict[str, np.ndarray]:
    specs = made.task.row_specs(made.recipe.sequences)
    fields = {**row.lists, **{name: each.tolist() for name, each in row.labels.items()}}
    padded = {
        name: tf.constant(np.pad(fields[name], (0, spec.shape[0] - len(fields[name]))), spec.dtype)
        for name, spec in specs.items()
        if spec.shape
    }
    found = made.features_function()(padded, None, [0, 0])
    assert {name: (tuple(each.shape), each.dtype.name) for name, each in found.items()} == {
        name: (spec.shape, spec.dtype) for name, spec in made.features_function().specs().items()
    }
    return {name: each.numpy() for name, each in found.items()}


def words(made: Served, ids) -> str:
    return " ".join(made.tokenizer.id_to_token(int(each)) for each in ids)


# By record, what is read, and what each place of it predicts, written by hand; `.` where nothing is.
READ = {
    "a": "[CLS] user : the cat assistant : sat on mat [SEP]",
    "b": "[CLS] a user : the cat assistant : sat [SEP] user : a word assistant : you know [SEP]",
}
PREDICTED = {
    ("a", "all"): ". . . . . . sat on mat [SEP] .",
    ("b", "all"): ". . . . . . . sat [SEP] . . . . . . you know [SEP] .",
    ("b", "last"): ". . . . . . . . . . . . . . . you know [SEP] .",
}
# How many tokens stand before the first one that is learned, which a prefix LM reads in both directions.
PREFIX = {("a", "all"): 7, ("b", "all"): 8, ("b", "last"): 16}


@pytest.mark.parametrize(("key", "replies"), PREDICTED)
def test_replies_are_learned_and_nothing_else(key, replies):
    made = served(replies=replies)
    (row,) = rows_of(made, SHORT, LONG).rows
    found = features_of(made, row)
    numbers = {words(made, found["token_ids"][found["document_ids"] == number]): number for number in (1, 2)}
    assert set(numbers) == set(READ.values())
    own = found["document_ids"] == numbers[READ[key]]
    learned = [
        made.tokenizer.id_to_token(int(id)) if weight else "."
        for id, weight in zip(found["label_ids"][own], found["label_weights"][own])
    ]
    assert " ".join(learned) == PREDICTED[key, replies]
    assert found["position_ids"][own].tolist() == list(range(own.sum()))
    prefix = PREFIX[key, replies]
    assert found["attention_order"][own].tolist() == [0] * prefix + list(range(prefix, own.sum()))
    assert found["label_weights"][found["document_ids"] == 0].sum() == 0


def test_the_loss_does_not_see_what_a_user_is_predicted_to_say():
    """Bit for bit: logits of places that predict a turn of the user change nothing."""
    made = served()
    (row,) = rows_of(made, SHORT, LONG).rows
    found = features_of(made, row)
    batch = {name: tf.constant(each[np.newaxis]) for name, each in found.items()}
    with tf.GradientTape() as tape:
        logits = made.model.logits(batch, training=False)["lm"]
        tape.watch(logits)
        (predictions,) = made.model.heads.predictions_of({"lm": logits}, batch).values()
        loss = tf.reduce_sum(predictions.losses * predictions.weights)
    gradient = tape.gradient(loss, logits).numpy()[0]
    touched = np.abs(gradient).sum(axis=1) > 0
    assert touched.tolist() == (found["label_weights"] > 0).tolist()
    assert (gradient[~touched] == 0).all()


def test_a_dialogue_that_is_too_long_loses_its_oldest_turns_and_keeps_its_instructions():
    made = served(length=12)
    packed = rows_of(made, LONG)
    assert words(made, packed.rows[0].lists["tokens"]) == "[CLS] a user : a word assistant : you know [SEP]"
    assert packed.report["records_cut"] == 1 and packed.report["tokens_cut"] == 8
    # The end of the last reply is left out, and without any of it the record.
    assert words(made, rows_of(served(length=9), LONG).rows[0].lists["tokens"]).endswith("assistant : you")
    report = rows_of(served(length=8), LONG, SHORT).report
    assert report["rejected"] == {"too_long": 1} and report["records"] == 1
    assert report["first_rejected"] == [{"source": "", "id": "b", "reason": "too_long"}]


def test_rows_are_evaluated_by_the_loss_on_replies_and_by_the_pieces_of_each():
    made = served()
    (row,) = rows_of(made, SHORT, LONG).rows
    size = made.recipe.tokenizer.vocabulary_size
    by_frequency = -np.arange(size, dtype="float32")
    outputs = evaluator(made, by_frequency)(tf.constant([row.to_example()]))
    assert outputs["lm_weight_sum"].numpy() == [9.0]
    assert made.task.headline_metrics == ("reply_probability", "lm_perplexity", "lm_accuracy")
    of_row = {name: each.numpy()[0] for name, each in outputs.items()}
    found = {each.id: each for each in TASKS["dialogue"].collected(made.task, of_row, "s")}
    for record, words_of_replies in ((SHORT, "sat on mat"), (LONG, "sat you know")):
        ids = made.tokenizer.tokenize([words_of_replies])[0].numpy()
        reference = found[str(key_of(record.id))].reference
        assert reference == (3, by_frequency[ids].sum())
    total = sum(each.prediction for each in found.values())
    assert total == pytest.approx(-outputs["text_loss_sum"].numpy()[0], rel=1e-5)
    of_loss_alone = evaluator(served(scores=()), by_frequency)(tf.constant([row.to_example()]))
    assert "record_predictions" not in of_loss_alone


def likely_to_end(made: Served) -> Served:
    """Returns the model after the piece that ends a reply has become the likeliest one in many places."""
    rows = made.recipe.tokenizer.vocabulary_size
    (table,) = [
        each for each in made.model.trainable_variables if each.shape[0] == rows and "token" in each.path
    ]
    weights = table.numpy()
    weights[Chat(made.tokenizer).end_id] *= 3.0
    table.assign(weights)
    return made


@eagerly()
def test_the_last_reply_of_each_dialogue_is_written_freely_and_under_a_schema():
    """Of random weights: as `reply_turns` writes it, of dialogues that fill their row or are longer too."""
    tokenizer = bytes_tokenizer(chat_template=TEMPLATES["plain"])
    # A mapping has no hash to keep the model by.
    plain = served.__wrapped__(length=110, scores=(), schema=SCHEMA, reply_tokens=8).recipe
    made = likely_to_end(with_tokenizer(plain, tokenizer))
    turns = (
        ("the cat", "sat on mat"),
        ("the cat", "sat", "a word", "you know"),
        ("the cat", "sat", "a word", "it sat on", "you know? 1234567890123", "I"),
        ("the cat", "sat on mat") * 4,
    )
    records = [
        LabelledRecord(
            f"r{number}", {"messages": ("a", *each)}, ("system", *SPEAKERS[1:3] * (len(each) // 2)), "f", 1
        )
        for number, each in enumerate(turns)
    ]
    packed = rows_of(made, *records).rows
    assert [len(row.chunks) for row in packed] == [2, 1, 1]
    found, by_schema = scored_rows(made, packed)
    messages = tf.ragged.constant([each[:-1] for each in turns]).to_tensor("")
    asked = text_signatures(made.recipe)["reply_turns"].function(made, messages, tf.constant(["a"] * 4))
    # The third one fits its row, which leaves no room for a reply.
    assert asked["truncated"].numpy().tolist() == [False, False, True, True]
    assert [asked[f"tokens_{each}"].numpy()[2] for each in ("given", "read")] == [103, 77]
    ended = np.where(asked["is_finished"], asked["reply"], b"").tolist()
    assert ended[2]
    by_id = {each.id: each.prediction.encode() for each in by_schema.complete}
    assert [by_id[str(key_of(each.id))] for each in records] == ended
    assert [json.loads(each.prediction).keys() for each in by_schema.constrained] == [{"a"}] * 4
    assert (found["schema_valid"], found["schema_valid_constrained"]) == (0.0, 1.0)


def test_replies_are_better_than_frequencies_by_an_interval_or_not_at_all():
    task = Dialogue()
    assert task.constant_bounds == {"reply_probability_beats_constant": (1.0, None)}
    references = [ReplyPieces(10, -30.0 - n % 3) for n in range(40)]
    for above, beats in ((1.0, 1.0), (0.0, 0.0), (-1.0, 0.0)):
        records = Records(
            [Collected(f"{n}", each, each.by_frequency + above) for n, each in enumerate(references)]
        )
        made = constant_comparisons(task, records)
        assert made["reply_probability_beats_constant"] == beats
        constant = made["reply_probability[constant=pieces by their frequency]"]
        assert constant == pytest.approx(np.exp(sum(each.by_frequency for each in references) / 400))


@pytest.mark.parametrize("preset", often(["gpt2_tiny", "llama_tiny", "prefix_lm_tiny"], ["prefix_lm_tiny"]))
@eagerly()
def test_a_reply_is_what_the_whole_model_finds_likeliest_token_by_token(preset):
    made = served(preset)
    chat = Chat(made.tokenizer)
    texts = ["the cat", "a word [SEP] you"]
    answers = text_signatures(made.recipe)["reply"].function(made, tf.constant(texts))
    allowed = [*np.flatnonzero(made.proposable()).tolist(), chat.end_id]
    for place, text in enumerate(texts):
        prompt = chat.prompt([{"role": "user", "content": text}]).tolist()
        ids, written = list(prompt), []
        while len(written) < made.task.reply_tokens and written[-1:] != [chat.end_id]:
            order = [*[0] * len(prompt), *range(len(prompt), len(ids))]
            row = {"token_ids": ids, "position_ids": range(len(ids)), "document_ids": [1] * len(ids)}
            batch = {
                name: tf.constant([list(each)]) for name, each in {**row, "attention_order": order}.items()
            }
            logits = made.model.logits(batch, training=False)["lm"].numpy()[0, -1]
            written.append(max(allowed, key=lambda each: logits[each]))
            ids.append(written[-1])
        is_finished = written[-1] == chat.end_id
        expected = made.tokenizer.detokenize(written[:-1] if is_finished else written).numpy().decode()
        assert answers["reply"].numpy()[place].decode() == expected.strip()
        assert bool(answers["is_finished"].numpy()[place]) == is_finished
