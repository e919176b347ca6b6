"""firth's recipes of the families that `benchmarks.models` measures."""

from benchmarks.workers.families import (
    EMBEDDING_WIDTH,
    NEGATIVES,
    PREDICTIONS,
    Family,
    Size,
    elmo_cells,
    llama_inner_width,
)
from firth.recipes.corpus.sources import TextSource
from firth.recipes.models import bilstm, blocks, positions, transformers, two_stream_transformer
from firth.recipes.objectives.denoising import Denoising, SpanCorruption
from firth.recipes.objectives.language_models import BidirectionalLM, CausalLM, PermutationLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection
from firth.recipes.run.recipe import Recipe
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig, WordTokenizerConfig
from firth.recipes.training.training import Training

OBJECTIVES = {
    "masked": MaskedLM(max_predictions=PREDICTIONS, next_sentence=False),
    "replaced": ReplacedTokenDetection(max_predictions=PREDICTIONS),
    "permutation": PermutationLM(max_predictions=PREDICTIONS),
    "causal": CausalLM(),
    "corruption": SpanCorruption(),
    "denoising": Denoising(),
    "bidirectional": BidirectionalLM(negatives=NEGATIVES),
}
PRE_NORM = blocks.NormConfig(placement="pre", epsilon=1e-5)
RMS_NORM = blocks.NormConfig(kind="rms_norm", placement="pre", epsilon=1e-6)
FACTORISED = blocks.EmbeddingsConfig(width=EMBEDDING_WIDTH, segments=2, norm=True)


def _encoder(**parts):
    return lambda common, size: transformers.MaskedTransformerConfig(**common, **parts)


def _elmo(common, size):
    shape = {"cells": elmo_cells(size), "projection_width": size.width}
    return bilstm.BiLSTMConfig(layers=size.layers // 2, dropout=common["dropout"], **shape)


def _xlnet(common, size):
    return two_stream_transformer.TwoStreamTransformerConfig(**common)


def _gpt2(common, size):
    feed_forward = blocks.FeedForwardConfig(activation="gelu_approximate")
    placed = positions.LearnedPositionsConfig(length=1024)
    parts = {"feed_forward": feed_forward, "norm": PRE_NORM, "positions": placed}
    return transformers.CausalTransformerConfig(**common, **parts)


def _llama(common, size):
    attention = common["attention"].model_copy(update={"key_value_heads": size.heads // 2})
    feed_forward = blocks.FeedForwardConfig(width=llama_inner_width(size), activation="silu", gated=True)
    parts = {"attention": attention, "feed_forward": feed_forward, "norm": RMS_NORM}
    untied = {"biases": False, "tied_output": False, "positions": positions.RotaryPositionsConfig()}
    return transformers.CausalTransformerConfig(**{**common, **parts}, **untied)


def _t5(inner_factor, tied, **feed_forward):
    def make(common, size):
        attention = common["attention"].model_copy(update={"scaled": False})
        inner = blocks.FeedForwardConfig(width=inner_factor * size.width, **feed_forward)
        parts = {"attention": attention, "feed_forward": inner, "norm": RMS_NORM, "biases": False}
        output = {"tied_output": tied, "scaled_output": tied}
        return transformers.EncoderDecoderConfig(
            **{**common, **parts}, positions=positions.RelativeBucketsConfig(), **output
        )

    return make


def _bart(common, size):
    placed = positions.LearnedPositionsConfig(length=1024, unused=2)
    norm = blocks.NormConfig(epsilon=1e-5)
    return transformers.EncoderDecoderConfig(
        **common, norm=norm, positions=placed, embeddings=blocks.EmbeddingsConfig(norm=True)
    )


MODELS = {
    "elmo": _elmo,
    "bert": _encoder(),
    "roberta": _encoder(
        positions=positions.LearnedPositionsConfig(length=512, unused=2),
        embeddings=blocks.EmbeddingsConfig(norm=True),
    ),
    "albert": _encoder(embeddings=FACTORISED, share_layers=blocks.SharedLayersConfig()),
    "electra": _encoder(embeddings=FACTORISED),
    "deberta_v3": _encoder(
        positions=positions.DisentangledPositionsConfig(), embeddings=blocks.EmbeddingsConfig(norm=True)
    ),
    "xlnet": _xlnet,
    "gpt2": _gpt2,
    "llama": _llama,
    "t5": _t5(4, True, activation="relu"),
    "t5_1_1": _t5(2, False, activation="gelu_approximate", gated=True),
    "bart": _bart,
}


def make_recipe(name: str, family: Family, size: Size) -> Recipe:
    """Returns the recipe of a family in a size."""
    attention = blocks.AttentionConfig(heads=size.heads, dropout=family.dropout)
    common = {"layers": size.layers, "width": size.width, "attention": attention, "dropout": family.dropout}
    objective = OBJECTIVES[family.task]
    tokenizer = WordPieceTokenizerConfig(
        vocabulary_size=family.vocabulary, sentinels=100 if family.task == "corruption" else 0
    )
    if family.task == "bidirectional":
        tokenizer = WordTokenizerConfig(vocabulary_size=family.vocabulary)
    return Recipe(
        name="benchmark",
        sources=(TextSource(kind="text", paths=("*.txt",)),),
        tokenizer=tokenizer,
        sequences=Sequences(length=size.length),
        objective=objective,
        model=MODELS[name](common, size),
        training=Training.model_validate({"batch_size": size.batch, "precision": size.precision}),
    )
