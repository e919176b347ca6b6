"""Tiny models of all families, their objectives, and rows for them to read."""

import numpy as np

from firth import features as names
from firth.recipes.corpus.sources import TextSource
from firth.recipes.models import blocks, positions
from firth.recipes.models.bilstm import BiLSTMConfig, CharacterCNNConfig
from firth.recipes.models.model import AnyModel
from firth.recipes.models.transformers import (
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
)
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig
from firth.recipes.objectives.denoising import Denoising, IidDenoising, SalientSpans, SpanCorruption
from firth.recipes.objectives.language_models import BidirectionalLM, CausalLM, PermutationLM, PrefixLM
from firth.recipes.objectives.masking import (
    EnhancedMaskDecoder,
    MaskedLM,
    ReplacedTokenDetection,
    SpanMasking,
    UniLM,
)
from firth.recipes.run.recipe import Recipe
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from firth.recipes.training.training import Training

VOCABULARY, LENGTH, TARGET_LENGTH, BATCH, PREDICTIONS, CHARACTERS = 23, 12, 10, 3, 3, 8
# Lengths of the documents of a row; the rest is padding.
DOCUMENTS, TARGETS = (7, 4), (3, 5)

SHAPE = {
    "layers": 2,
    "width": 16,
    "attention": blocks.AttentionConfig(heads=4),
    "feed_forward": blocks.FeedForwardConfig(width=24),
    # Large, that every input and every weight matters to the outputs of so small a model.
    "initializer_stddev": 0.3,
}
LEARNED = positions.LearnedPositionsConfig(length=14)
FACTORISED = blocks.EmbeddingsConfig(width=8, segments=2, norm=True)
PRE_NORM = blocks.NormConfig(placement="pre")
RMS_NORM = blocks.NormConfig(kind="rms_norm", placement="pre", epsilon=1e-6)
BUCKETS = positions.RelativeBucketsConfig(buckets=8, max_distance=9)
LLAMA = {
    **SHAPE,
    "attention": blocks.AttentionConfig(heads=4, key_value_heads=2),
    "feed_forward": blocks.FeedForwardConfig(width=24, activation="silu", gated=True),
    "norm": RMS_NORM,
    "biases": False,
    "tied_output": False,
}
T5 = {
    **SHAPE,
    "attention": blocks.AttentionConfig(heads=4, head_width=6, scaled=False),
    "feed_forward": blocks.FeedForwardConfig(width=24, activation="relu"),
    "norm": RMS_NORM,
    "positions": BUCKETS,
    "biases": False,
    "scaled_output": True,
}
GEGLU = blocks.FeedForwardConfig(width=24, activation="gelu_approximate", gated=True)

ENCODERS = {
    "bert": MaskedTransformerConfig(**SHAPE, positions=LEARNED),
    "roberta": MaskedTransformerConfig(
        **SHAPE,
        positions=positions.LearnedPositionsConfig(length=14, unused=2),
        embeddings=blocks.EmbeddingsConfig(segments=1, norm=True),
    ),
    "albert": MaskedTransformerConfig(
        **SHAPE, positions=LEARNED, embeddings=FACTORISED, share_layers=blocks.SharedLayersConfig()
    ),
    "albert, groups": MaskedTransformerConfig(
        **{**SHAPE, "layers": 4},
        positions=LEARNED,
        embeddings=FACTORISED,
        share_layers=blocks.SharedLayersConfig(groups=2, blocks=1),
    ),
    "electra": MaskedTransformerConfig(**SHAPE, positions=LEARNED, embeddings=FACTORISED),
    "deberta": MaskedTransformerConfig(
        **SHAPE,
        positions=positions.DisentangledPositionsConfig(max_distance=9, buckets=4),
        embeddings=blocks.EmbeddingsConfig(norm=True),
    ),
    "modernbert": MaskedTransformerConfig(
        **{**SHAPE, "layers": 4, "feed_forward": blocks.FeedForwardConfig(width=24, gated=True)},
        norm=blocks.NormConfig(placement="pre", first=False),
        positions=positions.RotaryPositionsConfig(base=100.0, local_base=10.0),
        # Each document of seven tokens has some that are out of sight.
        local_attention=blocks.LocalAttentionConfig(window=4, global_every=3),
        embeddings=blocks.EmbeddingsConfig(norm=True),
        biases=False,
    ),
    # Its rows have an order.
    "unilm": MaskedTransformerConfig(**SHAPE, positions=LEARNED),
    "transformer": MaskedTransformerConfig(
        **SHAPE,
        positions=positions.SinusoidalPositionsConfig(),
        embeddings=blocks.EmbeddingsConfig(),
        norm=PRE_NORM,
    ),
}
DECODERS = {
    "gpt2": CausalTransformerConfig(
        **SHAPE, positions=LEARNED, norm=PRE_NORM, scaled_residual_initializer=True
    ),
    "llama": CausalTransformerConfig(**LLAMA, positions=positions.RotaryPositionsConfig(base=100.0)),
    "llama_3_1": CausalTransformerConfig(
        **LLAMA,
        positions=positions.RotaryPositionsConfig(
            base=100.0, scaling=positions.RotaryScalingConfig(original_length=64)
        ),
        share_layers=blocks.SharedLayersConfig(),
    ),
    "qwen_3": CausalTransformerConfig(
        **{**LLAMA, "attention": blocks.AttentionConfig(heads=4, key_value_heads=2, query_key_norm=True)},
        positions=positions.RotaryPositionsConfig(base=100.0),
    ),
    "local": CausalTransformerConfig(
        **{**LLAMA, "layers": 3},
        positions=positions.RotaryPositionsConfig(base=100.0, local_base=10.0),
        local_attention=blocks.LocalAttentionConfig(window=2, global_every=2),
    ),
    "causal t5": CausalTransformerConfig(**SHAPE, positions=BUCKETS, norm=RMS_NORM, biases=False),
    "prefix lm": CausalTransformerConfig(
        **SHAPE, positions=BUCKETS, norm=RMS_NORM, biases=False, bidirectional_prefix=True
    ),
    # A prefix that is not predicted, but no other mask for it.
    "causal prefix lm": CausalTransformerConfig(**SHAPE, positions=LEARNED),
}
ENCODER_DECODERS = {
    "t5": EncoderDecoderConfig(**T5),
    "t5_1_1": EncoderDecoderConfig(**{**T5, "feed_forward": GEGLU}, tied_output=False, decoder_layers=1),
    "shared t5": EncoderDecoderConfig(**T5, share_encoder_decoder=True),
    "bart": EncoderDecoderConfig(
        **SHAPE,
        positions=positions.LearnedPositionsConfig(length=14, unused=2),
        embeddings=blocks.EmbeddingsConfig(norm=True),
    ),
    "factorised": EncoderDecoderConfig(
        **SHAPE,
        positions=positions.SinusoidalPositionsConfig(),
        embeddings=blocks.EmbeddingsConfig(width=8),
        share_layers=blocks.SharedLayersConfig(),
    ),
}
MODELS: dict[str, AnyModel] = {**ENCODERS, **DECODERS, **ENCODER_DECODERS}
ORDERED = {"unilm", "prefix lm", "causal prefix lm", "xlnet"}

# Families whose blocks are others, and which tests of their own look at.
OTHERS: dict[str, AnyModel] = {
    "xlnet": TwoStreamTransformerConfig(**SHAPE),
    "elmo": BiLSTMConfig(
        cells=12,
        projection_width=8,
        characters=CharacterCNNConfig(width=4, max_characters=CHARACTERS, filters=((1, 4), (2, 6))),
        initializer_stddev=0.3,
    ),
}

# What is trained with what, by the kind of the objective; where there are several, with what is special.
TRAINED = {
    "masked_lm": ("bert", MaskedLM(max_predictions=PREDICTIONS)),
    "masked_lm, order of sentences": ("albert", MaskedLM(next_sentence=False, sentence_order=True)),
    "masked_lm, mask decoder": (
        "deberta",
        MaskedLM(next_sentence=False, mask_decoder=EnhancedMaskDecoder(length=LENGTH, passes=2)),
    ),
    "unilm": ("unilm", UniLM()),
    "span_masking": ("bert", SpanMasking()),
    "replaced_token_detection": ("electra", ReplacedTokenDetection(generator_width_fraction=0.5)),
    "replaced_token_detection, mask decoder": (
        "deberta",
        ReplacedTokenDetection(
            generator_width_fraction=0.5, mask_decoder=EnhancedMaskDecoder(length=LENGTH, passes=2)
        ),
    ),
    "permutation_lm": ("xlnet", PermutationLM()),
    "causal_lm": ("gpt2", CausalLM()),
    "causal_lm, table of its own": ("llama", CausalLM()),
    "prefix_lm": ("prefix lm", PrefixLM()),
    "span_corruption": ("t5", SpanCorruption()),
    "iid_denoising": ("t5_1_1", IidDenoising()),
    "salient_spans": ("shared t5", SalientSpans()),
    "denoising": ("bart", Denoising()),
    "bidirectional_lm": ("elmo", BidirectionalLM(negatives=None)),
}


def shape_of(name: str, **changed) -> AnyModel:
    """Returns the model of a case of `TRAINED`, of one layer; `changed` are other values of its shape."""
    return {**MODELS, **OTHERS}[TRAINED[name][0]].model_copy(update={"layers": 1, **changed})


def tiny_recipe(model=MODELS["bert"], **parts) -> Recipe:
    defaults = {
        "tokenizer": WordPieceTokenizerConfig(vocabulary_size=VOCABULARY),
        "sequences": Sequences(length=LENGTH, max_documents=len(DOCUMENTS)),
        "objective": MaskedLM(max_predictions=PREDICTIONS),
        "training": Training(steps=20_000),
    }
    sources = (TextSource(kind="text", paths=("*.txt",)),)
    return Recipe(name="tiny", sources=sources, model=model, **{**defaults, **parts})


def make_features(name: str, seed: int = 0, batch: int = BATCH) -> dict[str, np.ndarray]:
    """Returns features of rows with two documents, and one or two tokens of padding."""
    generator = np.random.default_rng(seed)
    features = dict(zip(names.encoder_specs(1), _row(generator, batch, DOCUMENTS, LENGTH)))
    segments = 2 if name == "xlnet" else MODELS[name].embeddings.segments if name in MODELS else 0
    if segments:
        drawn = generator.integers(0, segments, (batch, LENGTH))
        features[names.SEGMENT_IDS] = drawn * (features[names.DOCUMENT_IDS] > 0)
    if name in ORDERED:
        # The first three tokens of a document stand at one place of its order.
        features[names.ATTENTION_ORDER] = np.maximum(features[names.POSITION_IDS] - 2, 0)
    if name in ENCODER_DECODERS:
        decoder = _row(generator, batch, TARGETS, TARGET_LENGTH)
        features |= dict(zip(names.decoder_specs(1), decoder))
    return {key: value.astype("int32") for key, value in features.items()}


def training_features(name: str, seed: int = 0) -> dict[str, np.ndarray]:
    """Returns the features of a case of `TRAINED`; one prediction of each row is padding."""
    model, objective = TRAINED[name]
    generator = np.random.default_rng(seed + 1)
    features = make_features(model, seed)

    def drawn(*shape, below=VOCABULARY):
        return generator.integers(1, below, (BATCH, *shape)).astype("int32")

    def repeated(*values, dtype="int32"):
        return np.tile(np.array(values, dtype), (BATCH, 1))

    if model in {*ENCODERS, "xlnet"}:
        features[names.MASKED_POSITIONS] = repeated(4, 10, 0)
        features[names.MASKED_LABELS] = drawn(PREDICTIONS)
        features[names.MASKED_WEIGHTS] = repeated(1, 1, 0, dtype="float32")
    else:
        length = TARGET_LENGTH if model in ENCODER_DECODERS else LENGTH
        weights = (np.arange(length) % 4 != 3) * np.ones((BATCH, 1))
        for labels in (names.LABEL_IDS, names.BACKWARD_LABEL_IDS):
            features[labels] = drawn(length)
        for key in (names.LABEL_WEIGHTS, names.BACKWARD_LABEL_WEIGHTS):
            features[key] = weights.astype("float32")
    if model == "elmo":
        features[names.CHARACTERS] = drawn(LENGTH, CHARACTERS, below=262)
    if objective.kind == "span_masking":
        features[names.BOUNDARY_LEFT], features[names.BOUNDARY_RIGHT] = repeated(3, 9, 0), repeated(5, 11, 0)
        features[names.BOUNDARY_OFFSETS] = repeated(1, 1, 0)
    for task in ("next_sentence", "sentence_order"):
        if getattr(objective, task, False):
            features[names.POOLED_POSITIONS] = repeated(0, 7)
            features[f"{task}_labels"] = drawn(len(DOCUMENTS), below=3) - 1
            features[f"{task}_weights"] = repeated(1, 1, dtype="float32")
    return features


def _row(generator, batch, documents, length):
    """Returns token ids, positions and document ids [batch, length]."""
    padding = length - sum(documents)
    ids = np.repeat([*range(1, len(documents) + 1), 0], [*documents, padding])
    positions = np.concatenate([np.arange(count) for count in (*documents, padding)])
    positions = positions * (ids > 0)
    tokens = generator.integers(1, VOCABULARY, (batch, length)) * (ids > 0)
    return tokens, np.tile(positions, (batch, 1)), np.tile(ids, (batch, 1))


def visible(name: str) -> np.ndarray:
    """Which tokens of its row each output of a model depends on, bool [outputs, length]; of a decoder next to
    an encoder which of the decoder's tokens."""
    features = {key: value[0] for key, value in make_features(name).items()}
    if name in ENCODER_DECODERS:
        documents, order = features[names.DECODER_DOCUMENT_IDS], None
    else:
        documents, order = features[names.DOCUMENT_IDS], features.get(names.ATTENTION_ORDER)
    seen = documents[:, None] == documents
    if order is not None:
        seen &= order <= order[:, None]
    if name not in ENCODERS and name != "prefix lm":
        seen &= np.tri(len(documents), dtype=bool)
    return seen
