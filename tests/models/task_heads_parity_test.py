"""Parity with transformers' models of tasks, through what golden/make_transformers_golden.py wrote down."""

import functools

import keras
import numpy as np
import pytest

# Weights of transformers are read next to tokenizers, which need KerasHub.
pytest.importorskip("keras_hub", reason="needs KerasHub")

from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.rules import Rule, linear
from firth.models import TaskModel, example_sums, total_loss
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.forms import BARTForm, BERTForm, LastTokenForm, XLNetForm
from firth.recipes.tasks.tagging import Tagging
from tests.backends.gradients import compiled_where_it_pays
from tests.models import references
from tests.models.task_features import features_for
from tests.repeating import often


def linears(*layers: tuple[str, str]) -> list[Rule]:
    """Rules of dense layers with biases, by their names and their paths of ours."""
    return [rule for each in layers for rule in linear(*each)]


POOLER = [("bert.pooler.dense", "heads/pooler/dense")]
BART = [
    ("classification_head.dense", "heads/pooler/dense"),
    ("classification_head.out_proj", "heads/dense"),
]
ROBERTA = [("classifier.dense", "heads/pooler/dense"), ("classifier.out_proj", "heads/dense")]
XLNET = [("sequence_summary.summary", "heads/pooler/dense"), ("logits_proj", "heads/dense")]
DENSE = [("classifier", "heads/dense")]
SCORE = list(linear("score", "heads/dense", biases=False))
LABELS = ("a", "b", "c")
NO_DROPOUT = {"dropout": 0.0}
PAIRS = Classification(labels=LABELS, pair=True, **NO_DROPOUT)
LAST_TOKEN = Classification(labels=LABELS, form=LastTokenForm(), **NO_DROPOUT)
# For each, the reference of its backbone, its task, and the layers of its head.
TASKS = {
    "bert_tags": ("bert", Tagging(labels=("O", "B-A", "I-A"), **NO_DROPOUT), linears(*DENSE)),
    "bert_classes": (
        "bert",
        Classification(labels=LABELS, pair=True, **NO_DROPOUT),
        linears(*POOLER, *DENSE),
    ),
    "bert_numbers": ("bert", Regression(pair=True, **NO_DROPOUT), linears(*POOLER, *DENSE)),
    "bert_choices": ("bert", MultipleChoice(**NO_DROPOUT), linears(*POOLER, *DENSE)),
    "gpt2_classes": ("gpt2", LAST_TOKEN, SCORE),
    "llama_classes": ("llama", LAST_TOKEN, SCORE),
    "roberta_classes": (
        "roberta",
        Classification(labels=LABELS, pair=True, form=BERTForm(segments=False, separators=2), **NO_DROPOUT),
        linears(*ROBERTA),
    ),
    "xlnet_classes": (
        "xlnet",
        Classification(labels=LABELS, pair=True, form=XLNetForm(), **NO_DROPOUT),
        linears(*XLNET),
    ),
    "bart_classes": ("bart", Classification(labels=LABELS, form=BARTForm(), **NO_DROPOUT), linears(*BART)),
}
# Heads that differ in kind.
FEW = ["bert_tags", "bert_choices", "gpt2_classes", "xlnet_classes"]
tasks = pytest.mark.parametrize("name", often(TASKS, [*FEW, "roberta_classes"]))


@functools.cache
def model_of(name: str) -> TaskModel:
    """Returns our model with the reference's weights."""
    family, task, layers = TASKS[name]
    shape = references.SHAPES[family]
    made = TaskModel(model=shape, task=task, vocabulary_size=references.VOCABULARY, dtype="float32")
    made.build()
    rules = [*FAMILIES[family].backbone_rules(shape), *layers]
    references.copy_by_rules(made, rules, references.read_golden(name))
    return made


def features_of(name: str) -> dict[str, np.ndarray]:
    return features_for(references.read_golden(name), TASKS[name][1])


def loss_of(model: TaskModel, features: dict[str, np.ndarray]):
    (name,) = model.heads.labels(features)
    return total_loss(example_sums(model(features)), {name: 1.0})["loss"]


@tasks
def test_logits(name):
    model, given = model_of(name), references.read_golden(name)
    (found,) = compiled_where_it_pays(model.logits)(features_of(name)).values()
    found, real = keras.ops.convert_to_numpy(found), given["input/attention_mask"] > 0
    if real.ndim == 3 or found.shape[1] == 1:
        np.testing.assert_allclose(found[:, 0], given["logits"], rtol=0, atol=1e-4)
    else:
        np.testing.assert_allclose(found[real], given["logits"][real], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", often(TASKS, FEW))
def test_the_loss_before_and_after_a_step(name):
    model, features, given = model_of(name), features_of(name), references.read_golden(name)
    (before,) = (float(given[f"loss/{each}"]) for each in TASKS[name][1].losses)
    references.check_step(model, lambda: loss_of(model, features), before, given)
