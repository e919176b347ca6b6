"""Records whose answer is written: as rows, as Features, and as a served model answers them."""

import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.corpus.packing.rows import Row
from firth.evaluation.task_metrics import ScoreRecords, metric_types
from firth.models import build_model
from firth.recipes import load_recipe
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.forms import BARTTextForm, PrefixForm, T5Form
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber
from firth.recipes.tokenizers.tokenizer import BytePairTokenizerConfig
from firth.recipes.training.evaluation import TaskEvaluation
from firth.scores.rouge import lead
from firth.scores.score_table import SCORES
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.tasks import TASKS
from firth.tasks.readers import LabelledRecord
from firth.tasks.task_rows import pack_records
from firth.tokenizers import BytePairTokenizer, count_byte_words, train_byte_pairs
from tests.exported_model import RECIPE, make_served
from tests.generation.cases import eagerly

_KEY = metric_types.MetricKey(name="scores")
LABELS = ("no", "yes")
TEXTS = ["the cat sat .", "a cat", "you shall know a word by the company it keeps"]
FORMS = {
    "t5_tiny": T5Form(),
    "bart_tiny": BARTTextForm(),
    "prefix_lm_tiny": PrefixForm(),
    "gpt2_tiny": PrefixForm(),
}
WRITING = {
    "text": (TextToText, {"prefix": "cat : "}, [["the mat", "mat"], "a word", "you know ."]),
    "label words": (LabelWords, {"labels": LABELS, "words": ("mat", "the cat")}, ["no", "yes", "yes"]),
    "number": (WrittenNumber, {}, [2.5, 0.25, 5.0]),
}


@functools.cache
def base() -> Served:
    return make_served(RECIPE)


def served(preset, kind, **more) -> Served:
    task, options, _ = WRITING[kind]
    recipe = AdaptingRecipe(
        name="adapted",
        data={"kind": "columns", "train": "labelled.csv"},
        base={"bundle": "base", "digest": "0" * 64},
        tokenizer=RECIPE.tokenizer,
        sequences=RECIPE.sequences.model_copy(update={"length": 40, "max_documents": 4}),
        model=load_recipe(preset, ["model.layers=1", "model.width=16"]).model,
        task=task(form=FORMS[preset], target_tokens=8, **{**options, **more}),
        training={"precision": "float32"},
        evaluation=TaskEvaluation(batch_size=2),
    )
    return Served(build_model(recipe), base().tokenizer, recipe)


def rows_of(made: Served, labels) -> list[Row]:
    task = made.task
    function = TASKS[task.kind](task, made.recipe.sequences, made.tokenizer)
    records = [
        LabelledRecord(f"r{n}", {"text": text}, tuple(label) if isinstance(label, list) else label, "f", n)
        for n, (text, label) in enumerate(zip(TEXTS, labels))
    ]
    return pack_records(function.encode(records), task, made.recipe.sequences).rows


def features_of(made: Served, row: Row) -> dict[str, tf.Tensor]:
    specs = made.task.row_specs(made.recipe.sequences)
    fields = {**row.lists, **{name: each.tolist() for name, each in row.labels.items()}}
    padded = {
        name: tf.constant(np.pad(fields[name], (0, spec.shape[0] - len(fields[name]))), spec.dtype)
        for name, spec in specs.items()
        if spec.shape
    }
    made_of = made.features_function()
    found = made_of(padded, None, [0, 0])
    assert {name: (tuple(each.shape), each.dtype.name) for name, each in found.items()} == {
        name: (spec.shape, spec.dtype) for name, spec in made_of.specs().items()
    }
    return found


def written_as(made: Served, ids) -> str:
    return " ".join(made.tokenizer.id_to_token(int(each)) for each in ids)


@pytest.mark.parametrize(("preset", "read", "decoder", "predicted"), [
    ("t5_tiny", "cat [UNK] a cat [SEP]", "[PAD] a word", "a word [SEP]"),
    ("bart_tiny", "[CLS] cat [UNK] a cat [SEP]", "[SEP] [CLS] a word", "[CLS] a word [SEP]"),
    ("gpt2_tiny", "[CLS] cat [UNK] a cat [SEP] a word", None, "a word [SEP]"),
])  # fmt: skip
def test_inputs_and_targets_stand_as_the_form_says(preset, read, decoder, predicted):
    made = served(preset, "text")
    (row,) = rows_of(made, WRITING["text"][2])
    found = {name: each.numpy() for name, each in features_of(made, row).items()}
    (second,) = (
        number
        for number in (1, 2, 3)
        if written_as(made, found["token_ids"][found["document_ids"] == number]) == read
    )
    of = found.get("decoder_document_ids", found["document_ids"]) == second
    assert written_as(made, found["label_ids"][of & (found["label_weights"] > 0)]) == predicted
    if decoder is not None:
        assert written_as(made, found["decoder_token_ids"][of]) == decoder
        assert found["label_weights"].sum() == (found["decoder_document_ids"] > 0).sum()


# Each preset and each kind.
@pytest.mark.parametrize(
    ("preset", "kind"),
    [
        ("t5_tiny", "text"),
        *(
            pytest.param(*each, marks=pytest.mark.repeated)
            for each in (("bart_tiny", "label words"), ("prefix_lm_tiny", "text"), ("gpt2_tiny", "number"))
        ),
    ],
)
@eagerly()
def test_the_records_of_rows_are_answered_and_scored_as_raw_texts_are(preset, kind):
    made, labels = served(preset, kind), WRITING[kind][2]
    task = made.task
    (row,) = rows_of(made, labels)
    unigram = np.zeros(made.recipe.tokenizer.vocabulary_size, "float32")
    outputs = evaluator(made, unigram)(tf.constant([row.to_example()] * 3))
    details = {names.RECORD_DETAILS: np.array(row.details, object)} if row.details else {}
    answers, again = (
        {**{name: each[place].numpy() for name, each in outputs.items()}, **details} for place in (0, -1)
    )
    collected = TASKS[task.kind].collected(task, answers, "s")
    assert collected == TASKS[task.kind].collected(task, again, "s")
    signature = text_signatures(made.recipe)[task.signature]
    asked = signature.function(made, tf.constant(TEXTS))
    right = {str(each): 0 for each in answers[names.RECORD_KEYS]}
    assert len(collected) == 3 and {each.id for each in collected} < right.keys()
    given = {
        "text": lambda: [each.decode() for each in asked["generated"].numpy()],
        "label words": lambda: [each.decode() for each in asked["label"].numpy()],
        "number": lambda: asked["value"].numpy().tolist(),
    }[kind]()
    assert sorted(map(str, given)) == sorted(str(each.prediction) for each in collected)
    expected = [label if not isinstance(label, list) or len(label) > 1 else label[0] for label in labels]
    assert sorted(map(str, expected)) == sorted(str(each.reference) for each in collected)
    scored = ScoreRecords(_KEY, task.to_json())
    made_of = scored.add_input(scored.create_accumulator(), _Element(answers))
    found = scored.extract_output(made_of)[_KEY]
    assert set(task.scores) <= found.keys()
    assert ("rouge_l[baseline=lead_3]" in found) == ("rouge_l" in task.scores)
    if "rouge_l" in task.scores:
        baseline = SCORES["rouge_l"].function(expected, [lead(each) for each in TEXTS])
        assert found["rouge_l[baseline=lead_3]"] == pytest.approx(baseline)


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def bytes_tokenizer(**options) -> BytePairTokenizer:
    """Returns a tokenizer whose pieces can write JSON."""
    pieces = train_byte_pairs(count_byte_words([*TEXTS, '{"a": 12}']), 280, 1, 16)
    return BytePairTokenizer(pieces, **options)


def with_tokenizer(plain, tokenizer) -> Served:
    config = BytePairTokenizerConfig(vocabulary_size=tokenizer.vocabulary_size())
    recipe = plain.model_copy(update={"tokenizer": config})
    return Served(build_model(recipe), tokenizer, recipe)


def scored_rows(made: Served, rows):
    """Returns the scores of rows as the evaluation has them, and the records."""
    vocabulary = made.recipe.tokenizer.vocabulary_size
    outputs = evaluator(made, np.zeros(vocabulary, "float32"))(
        tf.constant([row.to_example() for row in rows])
    )
    scored = ScoreRecords(_KEY, made.task.to_json())
    records = scored.create_accumulator()
    for place, row in enumerate(rows):
        answers = {name: each[place].numpy() for name, each in outputs.items()}
        details = {names.RECORD_DETAILS: np.array(row.details, object)}
        records = scored.add_input(records, _Element({**answers, **details}, row.source))
    return scored.extract_output(records)[_KEY], records


@pytest.mark.repeated
@eagerly()
def test_a_schema_is_scored_of_free_texts_and_of_those_that_it_holds():
    """Of random weights, of which no free text is valid."""
    made = with_tokenizer(served("t5_tiny", "text", schema=SCHEMA).recipe, bytes_tokenizer())
    found, records = scored_rows(made, rows_of(made, WRITING["text"][2]))
    assert len(records.examples) == 3 and records.of_source("") == records
    asked = text_signatures(made.recipe)["generate"].function(made, tf.constant(TEXTS))
    ended = np.where(asked["is_finished"], asked["generated"], b"")
    assert sorted(each.prediction.encode() for each in records.complete) == sorted(ended)
    assert b"" in ended and any(each.prediction for each in records.examples)
    assert [json.loads(each.prediction).keys() for each in records.constrained] == [{"a"}] * 3
    assert (found["schema_valid"], found["schema_valid_constrained"]) == (0.0, 1.0)
    assert found["schema_valid_high"] == 0.0 and found["schema_valid_constrained[length=0-16]"] == 1.0


class _Element:
    def __init__(self, outputs, source="s"):
        self._outputs, self._source = outputs, source

    def get_predictions(self):
        return self._outputs

    def get_features(self):
        return {names.SOURCE: np.array([self._source.encode()])}
