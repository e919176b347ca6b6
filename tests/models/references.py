"""Models of golden/*.npz by name: our model that is the same, and rules that copy its weights."""

import functools
import json
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np

from firth.interop.hugging_face.encoders import electra_masked_lm
from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.rules import Rule, below, bert_block, blocks as block_rules, linear
from firth.models import PretrainingModel
from firth.recipes.models import blocks, positions, transformers, two_stream_transformer
from firth.recipes.objectives.denoising import Denoising, SpanCorruption
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection
from firth.recipes.objectives.objective_base import Objective
from tests.backends.gradients import gradients
from tests.models.weights import copy_weights

FOLDER = pathlib.Path(__file__).parent / "golden"
VOCABULARY, EPSILON = 40, 1e-3
# The rate of a step of plain descent.
RATE = 0.01

ATTENTION = blocks.AttentionConfig(heads=4, dropout=0.0)
SHAPE = {"layers": 2, "width": 16, "attention": ATTENTION, "dropout": 0.0}
SHAPE["feed_forward"] = blocks.FeedForwardConfig(width=24)
POST_NORM = blocks.NormConfig(epsilon=EPSILON)
POSITIONS = positions.LearnedPositionsConfig(length=14)
FACTORISED = blocks.EmbeddingsConfig(width=8, segments=2, norm=True)


def encoder(**parts) -> transformers.MaskedTransformerConfig:
    return transformers.MaskedTransformerConfig(
        **{**SHAPE, "norm": POST_NORM, "positions": POSITIONS, **parts}
    )


def gpt2() -> transformers.CausalTransformerConfig:
    return transformers.CausalTransformerConfig(
        **{
            **SHAPE,
            "norm": blocks.NormConfig(placement="pre", epsilon=EPSILON),
            "positions": POSITIONS,
            "feed_forward": blocks.FeedForwardConfig(width=24, activation="gelu_approximate"),
        }
    )


def gpt() -> transformers.CausalTransformerConfig:
    """Its inner width is four times the width, whatever the file says."""
    inner = blocks.FeedForwardConfig(activation="gelu_approximate")
    parts = {**SHAPE, "norm": POST_NORM, "positions": POSITIONS, "feed_forward": inner}
    return transformers.CausalTransformerConfig(**parts)


def llama(rotary: positions.RotaryPositionsConfig, **parts) -> transformers.CausalTransformerConfig:
    attention = ATTENTION.model_copy(update={"key_value_heads": 2, **parts})
    return transformers.CausalTransformerConfig(
        **{
            **SHAPE,
            "attention": attention,
            "norm": blocks.NormConfig(kind="rms_norm", placement="pre", epsilon=EPSILON),
            "positions": rotary,
            "feed_forward": blocks.FeedForwardConfig(width=24, activation="silu", gated=True),
            "biases": False,
            "tied_output": "head_width" in parts,
        }
    )


def t5(tied: bool, **feed_forward) -> transformers.EncoderDecoderConfig:
    return transformers.EncoderDecoderConfig(
        **{
            **SHAPE,
            "attention": ATTENTION.model_copy(update={"head_width": 6, "scaled": False}),
            "norm": blocks.NormConfig(kind="rms_norm", placement="pre", epsilon=EPSILON),
            "positions": positions.RelativeBucketsConfig(buckets=8, max_distance=9),
            "feed_forward": blocks.FeedForwardConfig(width=24, **feed_forward),
            "biases": False,
            "tied_output": tied,
            "scaled_output": tied,
        }
    )


def bart() -> transformers.EncoderDecoderConfig:
    return transformers.EncoderDecoderConfig(
        **SHAPE,
        norm=blocks.NormConfig(epsilon=1e-5),
        positions=positions.LearnedPositionsConfig(length=14, unused=2),
        embeddings=blocks.EmbeddingsConfig(norm=True),
    )


class Reference(NamedTuple):
    """A model of ours, and the rules of its weights."""

    model: object
    objective: Objective
    rules: Callable[[object, Objective], list[Rule]]


def electra_rules(shape, objective) -> list[Rule]:
    """Those of a discriminator and of a generator in one file."""
    discriminator = FAMILIES["electra"].rules(shape, objective)
    small = generator_of(shape, objective)
    generator = [
        *linear("electra.embeddings_project", "heads/generator_projection"),
        *below("electra.", block_rules("encoder.layer", "heads/generator", bert_block, small.stack)),
        *electra_masked_lm(shape),
    ]
    return [*below("discriminator.", discriminator), *below("generator.", generator)]


MASKED_LM = MaskedLM(max_predictions=12, next_sentence=False)
SCALING = positions.RotaryScalingConfig(original_length=64)
REFERENCES = {
    "bert": Reference(encoder(), MaskedLM(max_predictions=12), FAMILIES["bert"].rules),
    "roberta": Reference(
        encoder(
            positions=positions.LearnedPositionsConfig(length=14, unused=2),
            embeddings=blocks.EmbeddingsConfig(segments=1, norm=True),
        ),
        MASKED_LM,
        FAMILIES["roberta"].rules,
    ),
    "distilbert": Reference(
        encoder(
            norm=blocks.NormConfig(epsilon=1e-12), embeddings=blocks.EmbeddingsConfig(segments=0, norm=True)
        ),
        MASKED_LM,
        FAMILIES["distilbert"].rules,
    ),
    "albert": Reference(
        encoder(
            embeddings=FACTORISED,
            share_layers=blocks.SharedLayersConfig(),
            feed_forward=blocks.FeedForwardConfig(width=24, activation="gelu_approximate"),
        ),
        MaskedLM(max_predictions=12, next_sentence=False, sentence_order=True),
        FAMILIES["albert"].rules,
    ),
    "deberta": Reference(
        encoder(
            positions=positions.DisentangledPositionsConfig(buckets=4, max_distance=9),
            embeddings=blocks.EmbeddingsConfig(norm=True),
        ),
        MASKED_LM,
        FAMILIES["deberta-v2"].rules,
    ),
    "electra": Reference(
        encoder(embeddings=FACTORISED), ReplacedTokenDetection(max_predictions=12), electra_rules
    ),
    "gpt2": Reference(gpt2(), CausalLM(), FAMILIES["gpt2"].rules),
    "gpt": Reference(gpt(), CausalLM(), FAMILIES["openai-gpt"].rules),
    "llama": Reference(
        llama(positions.RotaryPositionsConfig(base=100.0)), CausalLM(), FAMILIES["llama"].rules
    ),
    "llama_3_1": Reference(
        llama(positions.RotaryPositionsConfig(base=100.0, scaling=SCALING), head_width=8),
        CausalLM(),
        FAMILIES["llama"].rules,
    ),
    "qwen_3": Reference(
        llama(positions.RotaryPositionsConfig(base=100.0), head_width=8, query_key_norm=True),
        CausalLM(),
        FAMILIES["qwen3"].rules,
    ),
    "t5": Reference(t5(tied=True, activation="relu"), SpanCorruption(), FAMILIES["t5"].rules),
    "t5_1_1": Reference(
        t5(tied=False, activation="gelu_approximate", gated=True), SpanCorruption(), FAMILIES["t5"].rules
    ),
    "bart": Reference(bart(), Denoising(), FAMILIES["bart"].rules),
}
XLNET = two_stream_transformer.TwoStreamTransformerConfig(
    **{**SHAPE, "attention": blocks.AttentionConfig(heads=4, dropout=0.0)},
    norm_epsilon=EPSILON,
)
# Our model of each family; XLNet's has a parity test of its own.
SHAPES = {**{name: each.model for name, each in REFERENCES.items()}, "xlnet": XLNET}


@functools.cache
def read_golden(name: str) -> dict[str, np.ndarray]:
    """Returns the arrays of a golden file; see golden/make_transformers_golden.py."""
    with np.load(FOLDER / f"{name}.npz") as arrays:
        return dict(arrays)


def made_with(name: str) -> dict:
    return json.loads(str(read_golden(name)["made_with"]))


@functools.cache
def build_model(name: str) -> PretrainingModel:
    """Returns our model with the reference's weights."""
    reference = REFERENCES[name]
    made = PretrainingModel(
        model=reference.model,
        objective=reference.objective,
        vocabulary_size=VOCABULARY,
        dtype="float32",
    )
    made.build()
    copy_by_rules(made, reference.rules(reference.model, reference.objective), read_golden(name))
    return made


def copy_by_rules(model: keras.Model, rules: list[Rule], given: dict[str, np.ndarray]) -> None:
    """Gives a model the weights of a golden file."""
    copy_weights(
        model, {rule.ours: rule.read(*(given[f"weight/{each}"] for each in rule.theirs)) for rule in rules}
    )


def check_step(
    model: keras.Model, loss_of: Callable[[], Any], before: float, given: dict[str, np.ndarray]
) -> None:
    """Compares losses with theirs, before and after the weights have followed all gradients once."""
    assert abs(float(loss_of()) - before) < 1e-4
    saved = model.get_weights()
    try:
        for variable, gradient in zip(model.trainable_variables, gradients(model, loss_of).values()):
            if gradient is not None:
                variable.assign(keras.ops.convert_to_numpy(variable) - RATE * gradient)
        after = float(loss_of())
    finally:
        model.set_weights(saved)
    assert abs(after - float(given["loss/after"])) < 1e-4
    assert abs(after - before) > 1e-2


def features_of(name: str) -> dict[str, np.ndarray]:
    """Returns the golden inputs as features: an example a row, padding after."""
    given = {key.removeprefix("input/"): value for key, value in read_golden(name).items() if "input/" in key}
    features = _stack(given["input_ids"], given["attention_mask"])
    if "decoder_input_ids" in given:
        decoder = _stack(given["decoder_input_ids"], given["decoder_attention_mask"])
        features |= {f"decoder_{key}": value for key, value in decoder.items()} | _labels(given["labels"])
    elif REFERENCES[name].objective.kind == "causal_lm":
        features |= _labels(np.pad(given["labels"][:, 1:], ((0, 0), (0, 1)), constant_values=-100))
    else:
        features["segment_ids"] = given.get("token_type_ids", np.zeros_like(given["input_ids"]))
        features |= _selection(given["labels"])
    for task in ("next_sentence", "sentence_order"):
        if f"{task}_label" in given:
            features[f"{task}_labels"] = given[f"{task}_label"][:, None]
            features[f"{task}_weights"] = np.ones((len(given["labels"]), 1))
            features["pooled_positions"] = np.zeros((len(given["labels"]), 1))
    return {
        key: value.astype("float32" if key.endswith("weights") else "int32")
        for key, value in features.items()
    }


def packed(features: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the inputs of all examples in a single row, without padding."""
    row = {}
    for prefix in ("", "decoder_"):
        names = [f"{prefix}{kind}_ids" for kind in ("token", "position", "segment")]
        for name in filter(features.__contains__, names):
            row[name] = features[name][features[f"{prefix}document_ids"] > 0][None]
        if f"{prefix}document_ids" in features:
            real = features[f"{prefix}document_ids"] > 0
            row[f"{prefix}document_ids"] = (np.nonzero(real)[0] + 1).astype("int32")[None]
    return row


def _stack(ids, mask):
    positions = np.tile(np.arange(ids.shape[1]), (len(ids), 1))
    return {"token_ids": ids, "position_ids": positions, "document_ids": mask}


def _labels(labels):
    return {"label_ids": np.maximum(labels, 0), "label_weights": labels != -100}


def _selection(labels):
    """Every predicted position of a row, padded with weight 0."""
    positions = np.argsort(labels == -100, axis=1, kind="stable")
    picked = np.take_along_axis(labels, positions, axis=1)
    return {
        "masked_positions": positions,
        "masked_labels": np.maximum(picked, 0),
        "masked_weights": picked != -100,
    }
