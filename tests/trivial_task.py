"""A task, a method and a recipe that adapts, as small as they can be."""

from typing import ClassVar, Literal

import keras
import tensorflow as tf
from keras import ops

from firth import features as names
from firth.layers import Pooler
from firth.models.heads import Heads
from firth.objectives.transforms.layout import Frame, lay_out
from firth.objectives.transforms.pairs import single_segments
from firth.recipes.goals.goal import Loss
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.forms import BERTForm
from firth.recipes.tasks.task import Task
from firth.recipes.tuning.method import Method
from firth.serving.signature import Output, Signature

LABEL = "label"


class TextLabel(Task):
    """Which of two labels a text has."""

    heads: ClassVar[str] = "text_label"

    kind: Literal["text_label"] = "text_label"
    form: BERTForm = BERTForm()
    scores: tuple[str, ...] = ()

    def label_specs(self, sequences):
        del sequences
        return {LABEL: names.Spec("int32", ())}

    @property
    def loss_terms(self) -> tuple[Loss, ...]:
        return (Loss(LABEL, "label", classes=2),)


class TextLabelTask:
    """`[CLS] text [SEP]` and its label."""

    def __init__(self, config, sequences, tokenizer):
        del config
        self._length, self._pad_id = sequences.length, tokenizer.pad_id
        self._frame = Frame((tokenizer.cls_id,), (), (tokenizer.sep_id,))

    def specs(self):
        labels = {
            names.LABEL_IDS: names.Spec("int32", (1,)),
            names.LABEL_WEIGHTS: names.Spec("float32", (1,)),
        }
        return {**names.encoder_specs(self._length), **labels}

    def __call__(self, row, negative, seed):
        del negative, seed
        layout = lay_out(row, None, single_segments(row), self._length, self._frame, self._pad_id)
        labels = {names.LABEL_IDS: row[LABEL][tf.newaxis], names.LABEL_WEIGHTS: tf.ones([1])}
        return {**layout.encoder_features(), **labels}


class TextLabelHeads(Heads):
    """The pooled `[CLS]`, and a dense layer on it."""

    def _make(self, model, task, seed):
        (loss,) = task.loss_terms
        self.pooler = Pooler(model.width, 0.5, seed, name="pooler")
        self.dense = keras.layers.Dense(loss.classes, name="dense")

    def build(self):
        self.pooler.build((None, None, self.pooler.width))
        self.dense.build((None, None, self.pooler.width))
        self.built = True

    def logits(self, backbone, features, training=None):
        first = ops.zeros_like(features[names.TOKEN_IDS])[:, :1]
        return {LABEL: self.dense(self.pooler(backbone(features, training=training), first))}

    def labels(self, features):
        return {LABEL: (features[names.LABEL_IDS], features[names.LABEL_WEIGHTS])}


class HeadsAlone(Method):
    """The backbone stays as it is."""

    kind: Literal["heads_alone"] = "heads_alone"
    rate: float = 1.0


def freeze_backbone(model, method, steps_per_epoch):
    """The method's function, as in `METHODS`."""
    del method, steps_per_epoch
    model.backbone.trainable = False
    return {}


class TextLabelRecipe(AdaptingRecipe):
    """A run that trains a head for text labels."""

    task: TextLabel = TextLabel()
    method: HeadsAlone = HeadsAlone()


def offer_classify(recipe):
    """The signature `classify`, of models that tell labels."""
    if LABEL not in recipe.goal.losses:
        return None
    label = Output("number of the label", "int64", is_invariant=False)
    return Signature(classify, {LABEL: label}, example={"text": "A sentence."})


def classify(served, text):
    """The likelier label of each text, int64 [batch]."""
    logits = served.model.logits(served.encode(text).features)[LABEL]
    return {LABEL: tf.argmax(logits[:, 0], axis=-1)}
