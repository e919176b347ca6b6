"""ELECTRA's generator, and the head that tells which tokens it replaced."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers import MaskedTransformer
from firth.layers.elements.activations import get_activation
from firth.layers.elements.noise import current_noise
from firth.layers.elements.seeds import truncated_normal
from firth.layers.elements.types import Tensor
from firth.models.heads import Features, Generator, Heads, masked_labels, masked_positions
from firth.models.objective_heads.masked_lm import build_mask_positions, decoding
from firth.models.predictions import Predictions, predictions_of_logits
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.objectives.generator import generator_of
from firth.recipes.objectives.masking import ReplacedTokenDetection

_UNIT_BITS = 24
# Columns of a block of the vocabulary, about the root of its size.
_BLOCK = 128


@keras.saving.register_keras_serializable(package="firth")
class ReplacedTokenDetectionHeads(Heads):
    """A small masked LM that proposes tokens, and a decision on each token: original or replaced.

    Clark et al. 2020, "ELECTRA: Pre-training Text Encoders as Discriminators Rather Than Generators", section
    2. The generator reads the backbone's own embeddings (of all kinds) through a projection of its own where
    it is narrower; the backbone is the discriminator. Tokens are sampled from the generator without a
    gradient. One that happens to be the original counts as original. The discriminator's loss is over all
    tokens but padding.

    In training the samples follow from the examples' noise keys, or without these from the shared seed
    generator; otherwise they follow from each row's own features, so that what a row adds to a metric does
    not depend on its batch.

    Its parts are attributes: `generator_projection` (None between equal widths), `generator` (a
    `MaskedTransformer`), `mask_positions` (the absolute positions of DeBERTa's enhanced mask decoder, None
    without one), `masked_lm_head`, `dense` and `decision`.

    Example: see `firth.models.build_pretraining_model`.
    """

    def _make(
        self, model: MaskedTransformerConfig, objective: ReplacedTokenDetection, seed: Generator
    ) -> None:
        small = generator_of(model, objective)
        self.generator_width = small.width
        self.embedding_width = model.embedding_width
        self.temperature = objective.temperature
        self.seed_generator = seed
        self._activate = get_activation(model.feed_forward.activation)
        kernel = truncated_normal(model.initializer_stddev, seed)
        start = {"kernel_initializer": kernel, "dtype": self.dtype_policy}
        self.generator_projection = None
        if small.width != self.embedding_width:
            self.generator_projection = keras.layers.Dense(
                small.width, use_bias=model.biases, name="generator_projection", **start
            )
        self.generator = MaskedTransformer(small.stack, seed=seed, dtype=self.dtype_policy, name="generator")
        self.mask_decoder = objective.mask_decoder
        self.mask_positions = build_mask_positions(
            self.mask_decoder,
            small.width,
            initializer_stddev=model.initializer_stddev,
            seed=seed,
            dtype=self.dtype_policy,
        )
        self.masked_lm_head = self._make_masked_lm_head(model, small.width, seed)
        self.dense = keras.layers.Dense(model.width, name="dense", **start)
        self.decision = keras.layers.Dense(1, name="decision", **start)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self._build_parts((None, self.embedding_width), self.generator_projection)
        self._build_parts((None, None, self.generator_width), self.generator)
        self._build_parts((None, None), self.mask_positions)
        self._build_parts((None, None, self.generator_width), self.masked_lm_head)
        self._build_parts((None, self.width), self.dense, self.decision)
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of `mlm` [batch, predictions, vocabulary] and of `rtd` [batch, length, 2].

        The classes of `rtd` are original and replaced; the first one's logits are 0. From features without
        `masked_positions` nothing is replaced: `mlm` is of each token, `rtd` of the tokens as they are.

        Args:
            features: Objective's features, batched, with `masked_positions` and `masked_weights`, [batch,
                predictions] each, or without `masked_positions`; labels are not read.
        """
        proposed = self._generator_logits(backbone, features, training)
        if names.MASKED_POSITIONS in features:
            corrupted = self._put(features, self.sample(proposed, features, training))
            features = {**features, names.TOKEN_IDS: corrupted}
        decided = self._decide(backbone(features, training=training))
        return {"mlm": proposed, "rtd": ops.stack([ops.zeros_like(decided), decided], axis=-1)}

    def predictions(
        self, backbone: Any, features: Features, training: bool | None = None
    ) -> dict[str, Predictions]:
        """Returns the predictions of `mlm` [batch, predictions] and of `rtd` [batch, length].

        Args:
            features: Objective's features, batched, with `masked_labels` and `masked_weights`, [batch,
                predictions] each.
        """
        logits = self._generator_logits(backbone, features, training)
        labels, weights = masked_labels(features)
        original = self._put(features, labels)
        corrupted = self._put(features, self.sample(logits, features, training))
        decided = self._decide(backbone({**features, names.TOKEN_IDS: corrupted}, training=training))
        is_replaced = ops.not_equal(corrupted, original)
        return {
            "mlm": predictions_of_logits(logits, labels, weights, self._z_loss("mlm", training)),
            "rtd": _judged(decided, is_replaced, features[names.DOCUMENT_IDS]),
        }

    def _generator_logits(self, backbone: Any, features: Features, training: bool | None) -> Tensor:
        """Returns the generator's float32 logits [batch, predictions, vocabulary_size]."""
        embedded = backbone.embed(features, training)
        if self.generator_projection is not None:
            rows = self.generator_projection(ops.reshape(embedded, (-1, self.embedding_width)))
            embedded = ops.reshape(rows, (*ops.shape(embedded)[:-1], self.generator_width))
        hidden = self.generator(
            embedded,
            features[names.DOCUMENT_IDS],
            position_ids=features[names.POSITION_IDS],
            training=training,
            **decoding(self.mask_decoder, self.mask_positions, features),
        )
        return self.masked_lm_head(hidden, masked_positions(features), backbone.token_embedding.table)

    def sample(self, logits: Tensor, features: Features, training: bool | None = None) -> Tensor:
        """Returns a token for each prediction, drawn from the generator: int32 [batch, predictions].

        The first one whose share of the cumulated probabilities is above a uniform number: that takes one
        random number a prediction, instead of one for each piece of the vocabulary.

        Args:
            logits: float32 [batch, predictions, vocabulary_size], the generator's.
        """
        probabilities = ops.softmax(ops.stop_gradient(ops.convert_to_tensor(logits)) / self.temperature)
        shape = ops.shape(features[names.MASKED_POSITIONS])
        noise = current_noise()
        if training and noise is not None:
            uniform = noise.draw_uniform(shape[-1])
        elif training:
            uniform = keras.random.uniform(shape, dtype="float32", seed=self.seed_generator)
        else:
            uniform = _uniform_of(features)
        return ops.reshape(_pick(ops.reshape(probabilities, (-1, logits.shape[-1])), uniform), shape)

    def _put(self, features: Features, replacements: Tensor) -> Tensor:
        """Returns the token ids with the predicted ones replaced."""
        tokens = ops.cast(features[names.TOKEN_IDS], "int32")
        positions = ops.cast(features[names.MASKED_POSITIONS], "int32")
        batch, count = ops.shape(positions)
        used = ops.greater(features[names.MASKED_WEIGHTS], 0)
        # Unused predictions point at the first token, and leave it as it is.
        there = ops.take_along_axis(tokens, positions, axis=1)
        values = ops.where(used, ops.cast(replacements, "int32"), there)
        rows = ops.broadcast_to(ops.expand_dims(ops.arange(batch, dtype="int32"), 1), (batch, count))
        indices = ops.reshape(ops.stack([rows, positions], axis=-1), (-1, 2))
        return ops.scatter_update(tokens, indices, ops.reshape(values, (-1,)))

    def _decide(self, hidden: Tensor) -> Tensor:
        """Returns the logit of being replaced for each token, float32 [batch, length]."""
        rows = ops.reshape(hidden, (-1, self.width))
        logits = ops.cast(self.decision(self._activate(self.dense(rows))), "float32")
        return ops.reshape(logits, ops.shape(hidden)[:-1])


def _judged(logits: Tensor, is_replaced: Tensor, document_ids: Tensor) -> Predictions:
    labels = ops.cast(is_replaced, "float32")
    losses = ops.relu(logits) - logits * labels + ops.log1p(ops.exp(-ops.abs(logits)))
    correct = ops.cast(ops.equal(ops.greater(logits, 0.0), is_replaced), "float32")
    return Predictions(losses, correct, ops.cast(ops.greater(document_ids, 0), "float32"))


def _pick(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """Returns the first column whose share of the cumulated probabilities is above a uniform number.

    First the block that holds it is found and then the place in the block: cumulating a whole vocabulary
    takes longer than its softmax.

    Args:
        probabilities: float32 [rows, columns].

    Returns:
        int32 [rows].
    """
    columns, uniform = probabilities.shape[-1], ops.reshape(uniform, (-1, 1))
    blocks = -(-columns // _BLOCK)
    padded = ops.pad(probabilities, ((0, 0), (0, blocks * _BLOCK - columns)))
    blocked = ops.reshape(padded, (-1, blocks, _BLOCK))
    ends = ops.cumsum(ops.sum(blocked, axis=-1), axis=-1)
    wanted = uniform * ends[:, -1:]
    block = _count_up_to(wanted, ends, blocks - 1)
    inside = ops.take_along_axis(blocked, ops.expand_dims(block, -1), axis=1)[:, 0]
    end = ops.take_along_axis(ends, block, axis=1)
    begin = end - ops.sum(inside, axis=-1, keepdims=True)
    place = _count_up_to(wanted, begin + ops.cumsum(inside, axis=-1), _BLOCK - 1)
    return ops.minimum(block * _BLOCK + place, columns - 1)[:, 0]


def _count_up_to(wanted: Tensor, cumulated: Tensor, most: int) -> Tensor:
    """Returns how many values of each row are not above `wanted`, at most `most`: int32 [rows, 1]."""
    count = ops.sum(ops.cast(ops.less_equal(cumulated, wanted), "int32"), axis=-1, keepdims=True)
    return ops.minimum(count, most)


def _uniform_of(features: Features) -> Tensor:
    """Returns float32 [batch, predictions] in [0, 1), a hash of each row's tokens and each position."""
    tokens = ops.cast(features[names.TOKEN_IDS], "int32")
    places = ops.arange(tokens.shape[1], dtype="int32")
    row = ops.sum(_mixed(tokens + 31 * places), axis=1, keepdims=True)
    mixed = _mixed(row + _mixed(ops.cast(features[names.MASKED_POSITIONS], "int32") + 1))
    return ops.cast(ops.bitwise_and(mixed, 2**_UNIT_BITS - 1), "float32") / float(2**_UNIT_BITS)


def _mixed(values: Tensor) -> Tensor:
    """Returns int32 whose bits depend on all bits of `values`; products wrap around."""
    values = ops.bitwise_xor(values, ops.right_shift(values, 15)) * 739982445
    values = ops.bitwise_xor(values, ops.right_shift(values, 12)) * 695872825
    return ops.bitwise_xor(values, ops.right_shift(values, 15))
