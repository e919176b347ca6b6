"""A conditional random field over the tags of a sequence."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.layer import Float32Layer, document_ids_of, mask_of
from firth.layers.elements.types import Shape, Tensor, check_positive

# From scores [batch, tags before, tags] to [batch, tags].
Combine = Callable[[Tensor], Tensor]


@keras.saving.register_keras_serializable(package="firth")
class LinearChainCRF(Float32Layer):
    """Scores whole sequences of tags, by each tag and by each pair of neighbours.

    The score of tags `y` of a chain is `start[y_1] + sum over t of emission_t[y_t] + sum over t of
    transition[y_t-1, y_t] + end[y_n]`, and their probability the softmax of it over all sequences (Lafferty
    et al. 2001, "Conditional Random Fields"; Lample et al. 2016, "Neural Architectures for Named Entity
    Recognition", section 2.2). A row may hold several chains, of which none sees another.

    Args:
        tags: Number of tags.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if `tags` is below 1, or the emissions are of another number of tags.

    Example: without transitions, each token has the softmax of its own emissions.

    >>> import numpy as np
    >>> crf = LinearChainCRF(tags=2)
    >>> np.round(np.exp(crf(np.array([[[0.0, np.log(3.0)]]]), np.array([[1]]))), 4).tolist()
    [[[0.25, 0.75]]]
    """

    def __init__(self, tags: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_positive("LinearChainCRF", tags=tags)

    def build(self, emissions_shape: Shape, chain_ids_shape: Shape | None = None) -> None:
        """Creates `transitions` [tags, tags], from a tag to the next, `starts` and `ends` [tags], all zeros.

        Args:
            emissions_shape: Shape of `emissions`, (batch, length, tags).
            chain_ids_shape: Shape of `chain_ids`, (batch, length); not read.

        Raises:
            ValueError: if the emissions are of another number of tags.
        """
        if emissions_shape[-1] != self.tags:
            raise ValueError(
                "LinearChainCRF: the last axis of `emissions` must be `tags`. "
                f"Received: tags={self.tags}, emissions' shape {tuple(emissions_shape)}"
            )
        shapes = {"transitions": (self.tags, self.tags), "starts": (self.tags,), "ends": (self.tags,)}
        self.transitions, self.starts, self.ends = (
            self.add_weight(name=name, shape=shape, initializer="zeros", autocast=False)
            for name, shape in shapes.items()
        )

    def call(
        self,
        emissions: Tensor,
        chain_ids: Tensor | None = None,
        mask: Tensor | None = None,
        emissions_mask: Tensor | None = None,
    ) -> Tensor:
        """Returns the log probability of each tag of each token, over all tags of the others.

        Args:
            emissions: Float tensor [batch, length, tags].
            chain_ids: Int tensor [batch, length], 0 on tokens of no chain, and the same number on the tokens
                of a chain, which are neighbours; None for rows of one chain.
            mask: Bool tensor [batch, length], False on padding, which Keras hands on; None for none.
            emissions_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.

        Returns:
            float32 [batch, length, tags]; without meaning on tokens of no chain.
        """
        chain_ids = document_ids_of(emissions, chain_ids, mask_of(mask, emissions_mask))
        summed = self._with_messages(emissions, chain_ids, _log_sum)
        return summed - ops.logsumexp(summed, axis=-1, keepdims=True)

    def best_scores(self, emissions: Tensor, chain_ids: Tensor) -> Tensor:
        """Returns, for each tag of each token, the score of the best sequence that has it.

        The greatest of each token is the tag of the best sequence, which Viterbi's algorithm finds; where
        several are as good, tokens may take theirs from different ones.

        Args:
            emissions: Float tensor [batch, length, tags].
            chain_ids: Int tensor [batch, length], as in the call.

        Returns:
            float32 [batch, length, tags].
        """
        return self._with_messages(emissions, chain_ids, _best)

    def losses(self, emissions: Tensor, chain_ids: Tensor, tags: Tensor) -> Tensor:
        """Returns the negative log probability of each tag, given those before it in its chain.

        Their sum over a chain is the negative log likelihood of its tags.

        Args:
            emissions: Float tensor [batch, length, tags].
            chain_ids: Int tensor [batch, length], as in the call.
            tags: Int tensor [batch, length].

        Returns:
            float32 [batch, length], in nats; zeros on tokens of no chain.
        """
        emissions = ops.cast(emissions, "float32")
        first = _begins(chain_ids, _before(chain_ids))
        own = ops.one_hot(ops.cast(tags, "int32"), self.tags, dtype="float32")
        rest = emissions + self._backward(emissions, chain_ids, _log_sum)
        chosen = ops.sum(own * rest, axis=-1)
        starts = ops.convert_to_tensor(self.starts)
        total = ops.logsumexp(starts + rest, axis=-1)
        # `rest` counts the tokens after a tag with the tag; `after` is their part of it.
        after = ops.sum(own * (rest - emissions), axis=-1)
        entered = ops.matmul(_before(own), ops.convert_to_tensor(self.transitions))
        from_start = ops.sum(own * starts, axis=-1) - total
        from_before = ops.sum(own * entered, axis=-1) - _before(after)
        scores = chosen + ops.where(first, from_start, from_before)
        return ops.where(ops.not_equal(chain_ids, 0), -scores, 0.0)

    def _with_messages(self, emissions: Tensor, chain_ids: Tensor, combine: Combine) -> Tensor:
        emissions = ops.cast(emissions, "float32")
        forward = self._forward(emissions, chain_ids, combine)
        return forward + emissions + self._backward(emissions, chain_ids, combine)

    def _forward(self, emissions: Tensor, chain_ids: Tensor, combine: Combine) -> Tensor:
        begins = _begins(chain_ids, _before(chain_ids))
        return _messages(emissions, begins, self.starts, self.transitions, combine)

    def _backward(self, emissions: Tensor, chain_ids: Tensor, combine: Combine) -> Tensor:
        ids, scores = ops.flip(chain_ids, axis=1), ops.flip(emissions, axis=1)
        backwards = ops.transpose(ops.convert_to_tensor(self.transitions))
        made = _messages(scores, _begins(ids, _before(ids)), self.ends, backwards, combine)
        return ops.flip(made, axis=1)

    def compute_output_shape(self, emissions_shape: Shape, chain_ids_shape: Shape | None = None) -> Shape:
        """The shape of the emissions.

        Args:
            emissions_shape: Shape of `emissions`, (batch, length, tags); None on an axis of unknown length.
            chain_ids_shape: Shape of `chain_ids`, (batch, length); not read.
        """
        return tuple(emissions_shape)


def _messages(emissions: Tensor, begins: Tensor, start: Any, transitions: Any, combine: Combine) -> Tensor:
    """Returns the messages of the tokens before one for each of its tags, float32 [batch, length, tags]."""
    start, transitions = ops.convert_to_tensor(start), ops.convert_to_tensor(transitions)

    def step(before: Tensor, token: Tensor) -> tuple[Tensor, Tensor]:
        emission, begins = token[:, :-1], token[:, -1:] > 0.5
        made = ops.where(begins, start, combine(ops.expand_dims(before, 2) + transitions))
        return made + emission, made

    # One tensor: of several, Keras's scan on TensorFlow needs to know the length when it is traced.
    both = ops.concatenate([emissions, ops.expand_dims(ops.cast(begins, "float32"), -1)], axis=-1)
    steps = ops.swapaxes(both, 0, 1)
    _, made = ops.scan(step, ops.zeros_like(emissions[:, 0]), steps)
    return ops.swapaxes(made, 0, 1)


def _log_sum(scores: Tensor) -> Tensor:
    return ops.logsumexp(scores, axis=1)


def _best(scores: Tensor) -> Tensor:
    return ops.max(scores, axis=1)


def _begins(chain_ids: Tensor, before: Tensor) -> Tensor:
    """Returns true where the token before is not of the same chain, bool [batch, length]."""
    return ops.logical_or(ops.not_equal(chain_ids, before), ops.equal(chain_ids, 0))


def _before(values: Tensor) -> Tensor:
    """Returns the value before each token, zeros before the first."""
    return ops.concatenate([ops.zeros_like(values[:, :1]), values[:, :-1]], axis=1)
