"""All tasks: what is scored by rows is what the task's own signature answers to the same records."""

import copy
import dataclasses
import functools
import json
import random
import types

import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.models import build_model
from firth.recipes import load_recipe
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.dialogue import Dialogue
from firth.recipes.tasks.embedding import SentenceEmbedding
from firth.recipes.tasks.forms import BERTForm, EncoderForm, GPTForm, T5Form
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.tasks import TextTasks
from firth.recipes.tasks.text_to_text import LabelWords, TextToText, WrittenNumber
from firth.recipes.tokenizers.chat_template import TEMPLATES
from firth.recipes.training.evaluation import TaskEvaluation
from firth.reports.task_scores import served_line
from firth.serving import Client
from firth.serving.evaluate import evaluator
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.serving.task_signatures import tag
from firth.serving.task_signatures.classify import classify
from firth.serving.task_signatures.records import encode_pieces
from firth.serving.task_signatures.served_score import TOLERANCE, served_score
from firth.tasks import TASKS
from firth.tasks.readers import LabelledRecord
from firth.tasks.readers.records import AnswerSpan
from firth.tasks.span import SpanTask
from firth.tasks.task_rows import pack_records
from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.chat import Chat
from tests.exported_model import RECIPE, VOCABULARY
from tests.generation.cases import eagerly
from tests.repeating import often
from tests.tasks.dialogue_test import likely_to_end
from tests.tasks.text_to_text_test import bytes_tokenizer, with_tokenizer
from tests.tasks.texts_test import recipe_of

TEXTS = [
    "U.S. cat's mat, isn't it (the mat)?",
    "the cat\nsat\r\non\tthe mat",
    "a\x00cat \x07 sat\x1c on\x1d\x1e\x1fmat\x85 .",
    "the\u2028cat\u2029 sat\ufeff on \u200bmat\u00a0z",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 the cat \U0001f600",
    "北京的猫坐在垫子上。 the cat",
    "हिन्दी में बिल्ली बैठी है । cat",
    "العربية القطة على السجادة ؟ the cat",
    "[CLS] [SEP] [MASK] <extra_id_0> cat",
    "the cat sat on the mat . " * 15,
]
MORE = ("北", "京", "猫", "हिन्दी", "है", "العربية", "؟", "\U0001f600", "u", "##と", "!", "'")
LABELS, TAGS = ("no", "yes"), ("O", "B-PET", "I-PET")
WRITING = {"form": T5Form(), "target_tokens": 4}


class InMemory(Client):
    """The client of a model that was not exported: its signatures run op by op."""

    def __init__(self, served: Served) -> None:
        self.path, self._served = "in memory", served
        offered = {
            name: each for name, each in text_signatures(served.recipe).items() if name != "embed_tokens"
        }
        self.__dict__["description"] = {
            "recipe": json.loads(served.recipe.to_json()),
            "signatures": {name: each.describe() for name, each in offered.items()},
            "evaluation_sums": ["sum"],
        }
        by_frequency = np.full(served.tokenizer.vocabulary_size(), -3.0, "float32")
        evaluate = evaluator(served, by_frequency if served.task.signature == "reply" else None)
        functions = {name: _function(served, each) for name, each in offered.items()}
        # An exported graph is not rewritten by AutoGraph either.
        functions["evaluate"] = tf.autograph.experimental.do_not_convert(lambda examples: evaluate(examples))
        self.saved_model = types.SimpleNamespace(signatures=functions)


def _function(served, signature):
    def ask(**inputs):
        return signature.function(served, *(inputs[name] for name in signature.inputs))

    ask.structured_input_signature = ((), dict.fromkeys(signature.inputs))
    return ask


def served_of(task, model=RECIPE.model, **more) -> Served:
    random.seed(7)
    # Chunks of rows, of which each is read op by op, have their own tests.
    more = {"evaluation": TaskEvaluation(batch_size=16, thresholds=()), **more}
    # Several tasks learn from a mixture of data, which nothing here reads.
    recipe = recipe_of(TextToText(**WRITING) if task.tasks_by_source else task, model=model, **more)
    recipe = recipe.model_copy(update={"task": task})
    made = build_model(recipe)
    generator = np.random.default_rng(1)
    for weight in made.trainable_variables:
        weight.assign_add(generator.normal(0, 0.3, weight.shape).astype("float32"))
    return Served(made, WordPieceTokenizer([*VOCABULARY, *MORE]), recipe)


def words_of(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(" ")))


def spans_of(text: str) -> tuple[AnswerSpan, ...]:
    return (AnswerSpan("cat", text.index("cat")),) if "cat" in text else ()


def records_of(task):
    """The texts as records of a task, each with a label that its kind can have."""
    chosen, made = random.Random(2), []
    for number, text in enumerate(TEXTS):
        other = TEXTS[(number + 3) % len(TEXTS)]
        texts = {
            "text": text,
            "pair": other,
            "negative": TEXTS[(number + 5) % len(TEXTS)],
            "words": words_of(text),
            "question": other[:40],
            "context": text,
            "choices": tuple(chosen.sample(TEXTS, 2 + number % 2)),
        }
        label = {
            "class": LABELS[number % 2],
            "number": float(number % 5),
            "tags": tuple(chosen.choice(TAGS) for _ in words_of(text)),
            "spans": spans_of(text),
            "choice": number % 2,
            "text": text[:20],
        }[task.label_type]
        own = {role: texts[role] for role in task.roles}
        source = tuple(task.tasks_by_source or ("s",))[number % max(len(task.tasks_by_source), 1)]
        made.append(LabelledRecord(f"r{number}", own, label, "f", number, source))
    return made


def scored(served, records):
    """Returns `served_score` of records, with rows as TaskRowGen makes them."""
    task, sequences = served.task, served.recipe.sequences
    kind = TASKS[task.kind](task, sequences, served.tokenizer)
    sources = {each.id: each.source for each in records}
    encoded = [each._replace(source=sources[each.id]) for each in kind.encode(records)]
    packed = pack_records(encoded, task, sequences)
    assert packed.report["rejected"] == {}
    rows = [row.to_example() for row in packed.rows]
    with eagerly():
        return served_score(
            InMemory(served), lambda: ((each, each.source) for each in records), lambda: rows, 1e-4
        )


T5 = load_recipe("t5_tiny", ["model.layers=1", "model.width=16"]).model
GPT = load_recipe("gpt_1_tiny", ["model.layers=1", "model.width=16"]).model
PAIRS = {"export": {"pooling": "mean_with_special"}}
ALL_TASKS = {
    "classes": (Classification(labels=LABELS), {}),
    "classes of two texts": (Classification(labels=LABELS, pair=True, form=BERTForm(pooling="mean")), {}),
    "classes, calibration": (Classification(labels=LABELS, scores=("brier",)), {}),
    "classes, long texts in windows": (
        Classification(labels=LABELS),
        {"export": {"long_texts": "windows"}},
    ),
    "number": (Regression(), {}),
    "number of two, both orders": (Regression(pair=True, form=GPTForm(both_orders=True)), {"model": GPT}),
    "number by an encoder": (Regression(form=EncoderForm()), {"model": T5}),
    "tags": (Tagging(labels=TAGS), {}),
    "tags by a decoder": (Tagging(labels=TAGS, form=GPTForm()), {"model": GPT}),
    "spans": (SpanAnswering(stride=8), {}),
    "spans or none": (SpanAnswering(unanswerable=True, threshold=0.5, stride=8), {}),
    "vectors": (SentenceEmbedding(), PAIRS),
    "vectors, numbers": (SentenceEmbedding(positive_from=3.0, negatives=True), PAIRS),
    "choices": (MultipleChoice(), {}),
    "choices with questions": (MultipleChoice(question=True), {}),
    "text": (TextToText(prefix="cat: ", **WRITING), {"model": T5}),
    "label words": (LabelWords(labels=LABELS, words=("mat", "the cat"), pair=True, **WRITING), {"model": T5}),
    "written number": (WrittenNumber(**WRITING), {"model": T5}),
    "several texts": (
        TextTasks(tasks={"a": TextToText(scores=("exact_match",)), "b": WrittenNumber()}, **WRITING),
        {"model": T5},
    ),
}


# One of each kind of answer, which reads what the others read and more.
OFTEN = (
    *("classes", "number of two, both orders", "tags", "spans or none", "vectors"),
    *("choices with questions", "label words", "several texts"),
)


@pytest.mark.parametrize("case", often(ALL_TASKS, OFTEN))
def test_a_score_by_the_signature_is_the_score_by_rows(case):
    task, more = ALL_TASKS[case]
    served = served_of(task, **more)
    records = records_of(task)
    found = scored(served, records)
    assert (found["reason"], found["different"]) == ("", [])
    assert found["served"] == pytest.approx(found["scored"], abs=TOLERANCE, nan_ok=True)
    assert found["signature"] == task.signature and found["score"] == task.score_names[0]
    of_source = [each for each in records if task.tasks_by_source == {} or each.source == "a"]
    assert found["records"] + found["cut"] == found["of"] == len(of_source)
    # A row holds the texts of a record together, and one window of a long text.
    assert bool(found["cut"]) == (task.kind == "embedding" or "windows" in case)


def test_a_long_text_has_the_mean_of_the_logits_of_its_windows():
    cut, served = (
        served_of(Classification(labels=LABELS), export={"long_texts": each}) for each in ("cut", "windows")
    )
    (pieces,), room = served.tokenizer.tokenize(TEXTS[-1:]).to_list(), 30
    starts = range(0, len(pieces) - room // 4, room - room // 4)
    parts = [pieces[start : start + room] for start in starts]
    made = [served.model.logits(encode_pieces(served, tf.ragged.constant([part]))) for part in parts]
    expected = tf.nn.softmax(np.mean([each["label"][0, 0] for each in made], axis=0))
    with eagerly():
        found = classify(served, tf.constant([TEXTS[-1], TEXTS[0]]))
        of_cut = classify(cut, tf.constant([TEXTS[-1], TEXTS[0]]))
    np.testing.assert_allclose(found["probabilities"][0], expected, atol=1e-5)
    np.testing.assert_allclose(found["probabilities"][1], of_cut["probabilities"][1], atol=1e-5)
    assert of_cut["truncated"].numpy().tolist() == [True, False] and not found["truncated"].numpy().any()
    assert found["tokens_read"].numpy()[0] == len(pieces) > of_cut["tokens_read"].numpy()[0] == room
    with pytest.raises(ValueError, match=r"export\.long_texts: windows"):
        recipe_of(Tagging(labels=TAGS), export={"long_texts": "windows"})


def test_every_task_is_asked():
    kinds = {task.kind for task, _ in ALL_TASKS.values()}
    assert kinds | {"dialogue"} == TASKS.keys()


def dialogues_of(texts):
    """Dialogues of one turn to three, with instructions for some."""
    for number, text in enumerate(texts):
        turns = [texts[(number + place) % len(texts)][:40] for place in range(2 * (number % 3 + 1))]
        turns[0] = text
        speakers = ("user", "assistant") * (len(turns) // 2)
        if number % 2:
            turns, speakers = ["the cat .", *turns], ("system", *speakers)
        yield LabelledRecord(f"r{number}", {"messages": tuple(turns)}, speakers, "f", number, "s")


@pytest.mark.parametrize(
    ("model", "length", "replies"), [("gpt_1_tiny", 128, "last"), ("prefix_lm_tiny", 48, "all")]
)
def test_the_probability_of_replies_by_the_signature_is_that_by_rows(model, length, replies):
    """Of rows of 48 tokens, dialogues lose turns, and one reply its end."""
    task = Dialogue(reply_tokens=4, template="plain", replies=replies)
    made = load_recipe(model, ["model.layers=1", "model.width=16"]).model
    pieces = [*VOCABULARY, *MORE[:-3], "user", "assistant", ":"]
    tokenizer = WordPieceTokenizer(pieces, chat_template=TEMPLATES["plain"])
    served = dataclasses.replace(served_of(task, made, length=length), tokenizer=tokenizer)
    found = scored(served, list(dialogues_of([each for each in TEXTS if length > 99 or len(each) < 60])))
    assert (found["reason"], found["different"], found["cut"]) == ("", [], 0)
    assert 0.0 < found["served"] == pytest.approx(found["scored"], abs=TOLERANCE)
    assert (found["score"], found["signature"]) == ("reply_probability", "score_replies")
    assert found["records"] == found["of"] > 5


SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": [1, 2]}},
    "required": ["a"],
    "additionalProperties": False,
}


def of_bytes(task, **more) -> Served:
    """A model of random weights whose pieces can write JSON."""
    return with_tokenizer(served_of(task, **more).recipe, bytes_tokenizer(chat_template=TEMPLATES["plain"]))


@pytest.mark.parametrize(
    "scores", [pytest.param((), marks=pytest.mark.repeated), ("schema_valid_constrained",)]
)
def test_replies_that_are_scored_by_a_schema_are_those_that_are_served(scores):
    """Of rows of 128 bytes, which leave some no room for a reply and others a part of their turns."""
    made = load_recipe("gpt_1_tiny", ["model.layers=1", "model.width=16"]).model
    task = Dialogue(reply_tokens=10, template="plain", scores=scores, schema=SCHEMA)
    served = likely_to_end(of_bytes(task, model=made, length=128))
    found = scored(served, list(dialogues_of([each for each in TEXTS if len(each.encode()) < 45])))
    assert (found["score"], found["signature"]) == ("schema_valid", "reply_turns")
    assert (found["reason"], found["different"], found["served"]) == ("", [], 0.0)
    assert found["records"] == found["of"] > 3
    assert found["unchecked"] == dict.fromkeys(scores, "no signature writes under task.schema")


@functools.cache
def scored_by_a_schema() -> InMemory:
    """Returns a model that computes its outputs of the same rows and texts once."""
    scores = ("schema_valid_constrained", "schema_valid", "rouge_l")
    task = TextToText(scores=scores, schema=SCHEMA, target_tokens=10)
    made = InMemory(of_bytes(task, model=T5, length=32))
    evaluate, call, known = made.evaluate, made._call, {}

    def evaluated(rows):
        key = tuple(rows)
        return known[key] if key in known else known.setdefault(key, evaluate(rows))

    def called(name, tensors):
        key = (name, *((each, value.numpy().tobytes()) for each, value in tensors.items()))
        return known[key] if key in known else known.setdefault(key, call(name, tensors))

    made.evaluate, made._call = evaluated, called
    return made


def rewritten(made, others):
    """Returns a model whose outputs of rows are other ones."""

    def evaluated(rows):
        found = made.evaluate(rows)
        return {**found, **{name: np.full_like(found[name], text) for name, text in others.items()}}

    changed = copy.copy(made)
    changed.evaluate = evaluated
    return changed


@pytest.mark.parametrize(
    ("others", "said"),
    [
        pytest.param({}, "", marks=pytest.mark.repeated),
        # It is valid where it is whole.
        pytest.param({names.RECORD_TEXTS: b'{"a":1}'}, "", marks=pytest.mark.repeated),
        ({names.RECORD_COMPLETE_TEXTS: b'{"a":1}'}, "schema_valid"),
        ({names.RECORD_CONSTRAINED_TEXTS: b'{"a":3}'}, "not valid by it: 3, those to 'r"),
        pytest.param({names.RECORD_CONSTRAINED_TEXTS: b""}, "", marks=pytest.mark.repeated),
    ],
)
def test_texts_by_a_schema_are_checked_whole_and_those_written_under_it_by_themselves(
    others, said, monkeypatch
):
    made = scored_by_a_schema()
    served = made._served
    monkeypatch.setattr(
        "tests.serving.task_signatures.served_score_test.InMemory", lambda _: rewritten(made, others)
    )
    found = scored(served, records_of(served.task)[:3])
    assert (found["score"], found["signature"]) == ("schema_valid", "generate")
    assert list(found["unchecked"]) == ["schema_valid_constrained"] and found["served"] == 0.0
    assert said in found["reason"] and bool(said) == bool(found["reason"])


def test_texts_under_the_schema_of_another_task_of_a_mixture_are_checked(monkeypatch):
    others = {names.RECORD_CONSTRAINED_TEXTS: b'{"a":3}'}
    in_memory = InMemory
    monkeypatch.setattr(
        "tests.serving.task_signatures.served_score_test.InMemory",
        lambda served: rewritten(in_memory(served), others),
    )
    tasks = {"a": TextToText(scores=("exact_match",)), "b": TextToText(schema=SCHEMA)}
    found = scored(
        of_bytes(TextTasks(tasks=tasks, **WRITING), model=T5, length=32),
        records_of(TextTasks(tasks=tasks, **WRITING))[:4],
    )
    assert (found["score"], found["records"]) == ("a.exact_match", 2)
    assert "not valid by it: 2, those to 'r1', 'r3' first" in found["reason"]


def test_a_task_without_a_score_of_single_answers_says_so():
    task = SpanAnswering(unanswerable=True, scores=("squad_f1_held_out",), stride=8)
    found = scored(served_of(task), records_of(task)[:2])
    assert found["unchecked"].keys() == {"squad_f1_held_out"} and not found["reason"]
    assert served_line(found).startswith("as served: not scored; squad_f1_held_out is not compared: ")


def test_a_turn_of_a_dialogue_is_read_as_it_was_learned():
    """The prompt of a reply equals the training row up to that reply."""
    task = Dialogue(reply_tokens=4, template="plain")
    tokenizer = WordPieceTokenizer([*VOCABULARY, *MORE, "user", ":"], chat_template=TEMPLATES["plain"])
    sequences = RECIPE.sequences.model_copy(update={"length": 256})
    messages = [(text, "the cat") for text in [*TEXTS, " \x1f\x00 cat \x0b", "\u2028\xa0 cat \u3000"]]
    records = [
        LabelledRecord(f"r{n}", {"messages": each}, ("user", "assistant"), "f", n)
        for n, each in enumerate(messages)
    ]
    rows = TASKS[task.kind](task, sequences, tokenizer).encode(records)
    asked = Chat(tokenizer).prompts(tf.constant([text for text, _ in messages]), 256)
    for row, ids in zip(rows, asked.ids.to_list(), strict=True):
        given = row.labels[names.REPLY_TOKENS].index(1)
        assert row.chunks[0][:given].tolist() == ids


def test_a_signature_that_splits_words_otherwise_is_named_with_a_record_and_both_values(monkeypatch):
    """The score of a tagger that is served on text, as it was before lists were read."""
    served = served_of(Tagging(labels=TAGS))

    def joined(served, words):
        return tag.tag(served, tf.strings.reduce_join(words, axis=1, separator=" "))

    whole = text_signatures(served.recipe)
    as_text = dataclasses.replace(whole["tag_words"], function=joined)
    monkeypatch.setattr(
        "tests.serving.task_signatures.served_score_test.text_signatures",
        lambda recipe: {**whole, "tag_words": as_text},
    )
    records = [each for each in records_of(served.task) if each.id in ("r1", "r2", "r9")]
    punctuated = LabelledRecord("dots", {"words": ("U.S.", "cat")}, ("B-PET", "I-PET"), "f", 1, "s")
    found = scored(served, [*records, punctuated])
    assert found["served"] is None and "dots" in found["different"]
    assert all(each in found["reason"] for each in ("tag_words", "entity_f1", "'dots'"))


def test_answers_that_differ_stop_the_model(monkeypatch):
    served = served_of(SpanAnswering(stride=8))
    monkeypatch.setattr(SpanTask, "served_answer", classmethod(lambda *_: "another answer"))
    found = scored(served, records_of(served.task)[:6])
    assert found["different"][0].startswith("r") and len(found["different"]) == 5
    # Answers of random weights are no better.
    assert found["served"] == 0.0
    assert bool(found["reason"]) == (found["scored"] > 0.0)
