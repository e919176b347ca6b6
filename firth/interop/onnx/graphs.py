"""The graphs of a model: a whole pass of each stack, and a step of each decoder."""

import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Any

from keras import ops

from firth import features as names
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.goals.goal import Goal
from firth.recipes.models.stack import StackConfig

Tensors = dict[str, Any]
# A number, or a name of what changes from call to call.
Axes = tuple[int | str, ...]


@dataclasses.dataclass(frozen=True)
class Port:
    """A tensor that goes in.

    Attributes:
        axes: Axes of the tensor: numbers, or names of what changes from call to call.
        meaning: What it holds, a sentence.
        dtype: Name of the dtype.
    """

    axes: Axes
    meaning: str
    dtype: str = "int32"


@dataclasses.dataclass(frozen=True)
class Graph:
    """A function that becomes a file.

    Attributes:
        name: Name of the file, without its ending.
        inputs: What goes in, by name.
        function: Function from tensors by name to tensors by name.
    """

    name: str
    inputs: dict[str, Port]
    function: Callable[[Tensors], Tensors]


HIDDEN = "last_hidden_state"
ENCODED = "encoder_hidden_states"
_BEFORE = "Keys and values of the tokens before; of no tokens at the start."
_OF_CONTEXT = "Keys and values of the encoder's states, as the encoder gives them."
_SO_FAR = "1 on tokens, 0 on padding: of the tokens before, then of these."


def graphs_of(model: BackboneWithHeads, goal: Goal, untrained: Collection[str] = ()) -> Iterator[Graph]:
    """Yields the graphs of a model."""
    config = model.backbone.config
    if config.has_decoder:
        yield from _encoder_decoder(model)
    elif config.has_encoder:
        order = order_input("length") if goal.mixes_masks else {}
        inputs = {**row_inputs(config), **order}
        yield Graph("encoder", inputs, lambda given: _whole(model, row_features(given), untrained))
    else:
        order = order_input("length") if config.bidirectional_prefix else {}
        inputs = {**row_inputs(config), **order}
        yield Graph("decoder", inputs, lambda given: _whole(model, row_features(given)))
        yield _step(model)


def _whole(model: BackboneWithHeads, features: Tensors, untrained: Collection[str] = ()) -> Tensors:
    """Returns the states of whole rows, and all that heads make of them.

    With heads that nobody has trained, only a pooler that somebody has.
    """
    hidden = model.backbone(features, training=False)
    made = {HIDDEN: hidden}
    if model.backbone.config.gives_layers:
        made["layers"] = model.backbone.layer_outputs(features, training=False)
    pooler = getattr(model.heads, "pooler", None)
    if pooler is not None and not any(path.startswith("heads/pooler/") for path in untrained):
        made["pooled"] = pooler(hidden, ops.zeros_like(features[names.TOKEN_IDS])[:, :1])[:, 0]
    if untrained:
        return made
    # The hidden states are made again here; the converter joins what is equal.
    logits = model.logits(features, training=False)
    return {**made, **{f"{loss}_logits": each for loss, each in logits.items()}}


def _decoded(model: BackboneWithHeads, hidden: Any) -> Tensors:
    """Returns a decoder's states, and the logits of its next tokens."""
    return {HIDDEN: hidden, "lm_logits": model.heads.project(model.backbone, hidden)}


def _step(model: BackboneWithHeads) -> Graph:
    caches = Caches(model.backbone.config.stack)

    def function(given: Tensors) -> Tensors:
        known, count = caches.read(given), ops.shape(given[names.TOKEN_IDS])[1]
        index = ops.shape(known[0][0])[2]
        features = {name: value for name, value in given.items() if name == names.ATTENTION_ORDER}
        features |= {
            names.TOKEN_IDS: given[names.TOKEN_IDS],
            names.POSITION_IDS: positions(given[MASK])[:, index:],
            names.DOCUMENT_IDS: given[MASK],
        }
        cache = tuple((grown(each, count),) for each in known)
        hidden, written = model.backbone.call_with_cache(features, cache, index)
        return _decoded(model, hidden) | caches.named([own for (own,) in written], "new_")

    inputs = {
        names.TOKEN_IDS: Port(("batch", "count"), "Ids of the tokens to read."),
        MASK: Port(("batch", "total"), _SO_FAR),
        **(order_input("total") if model.backbone.config.bidirectional_prefix else {}),
        **caches.inputs("past", _BEFORE),
    }
    return Graph("decoder_step", inputs, function)


def _encoder_decoder(model: BackboneWithHeads) -> Iterator[Graph]:
    backbone = model.backbone
    config = backbone.config
    caches, contexts = Caches(config.decoder_stack), Caches(config.decoder_stack, "context_cache")

    def encode(given: Tensors) -> Tensors:
        encoded = backbone.encode(row_features(given), training=False)
        cache = backbone.decoder.empty_cache(ops.shape(encoded)[0], 1, encoded)
        return {HIDDEN: encoded, **contexts.named([of_context for _, of_context in cache])}

    def decode(given: Tensors) -> Tensors:
        features = _target_features(given, 0)
        return _decoded(model, backbone.decode(features, given[ENCODED], training=False))

    def step(given: Tensors) -> Tensors:
        known, count = caches.read(given), ops.shape(given[names.DECODER_TOKEN_IDS])[1]
        index = ops.shape(known[0][0])[2]
        cache = tuple((grown(own, count), context) for own, context in zip(known, contexts.read(given)))
        hidden, written = backbone.call_with_cache(_target_features(given, index), cache, index)
        return _decoded(model, hidden) | caches.named([own for own, _ in written], "new_")

    inputs = row_inputs(config)
    yield Graph("encoder", inputs, encode)
    states = Port(("batch", "length", config.width), "States that the encoder gave.", "float32")
    tokens, whole = ("batch", "target_length"), "Ids of the tokens."
    yield Graph(
        "decoder",
        {
            names.DECODER_TOKEN_IDS: Port(tokens, whole),
            DECODER_MASK: Port(tokens, inputs[MASK].meaning),
            MASK: inputs[MASK],
            ENCODED: states,
        },
        decode,
    )
    yield Graph(
        "decoder_step",
        {
            names.DECODER_TOKEN_IDS: Port(("batch", "count"), "Ids of the tokens to read."),
            DECODER_MASK: Port(("batch", "total"), _SO_FAR),
            MASK: inputs[MASK],
            **caches.inputs("past", _BEFORE),
            **contexts.inputs("length", _OF_CONTEXT),
        },
        step,
    )


def _target_features(given: Tensors, index: Any) -> Tensors:
    """Returns the features of a decoder's tokens from `index` on, next to what the encoder has read."""
    mask = given[DECODER_MASK]
    return {
        names.DOCUMENT_IDS: given[MASK],
        names.DECODER_TOKEN_IDS: given[names.DECODER_TOKEN_IDS],
        names.DECODER_POSITION_IDS: positions(mask)[:, index:],
        names.DECODER_DOCUMENT_IDS: mask,
    }


class Caches:
    """The caches of a stack's layers, which grow by the tokens of a step."""

    def __init__(self, stack: StackConfig, name: str = "cache") -> None:
        self._stack = stack
        self.names = [f"{name}_{layer}" for layer in range(stack.layers)]

    def inputs(self, length: str, meaning: str) -> dict[str, Port]:
        """Returns the inputs, float32 [2, batch, key_value_heads, tokens, head_width] each."""
        axes = (2, "batch", self._stack.key_value_heads, length, self._stack.head_width)
        return dict.fromkeys(self.names, Port(axes, meaning, "float32"))

    def read(self, given: Tensors) -> list[Any]:
        """Returns the caches of all layers, a pair of keys and values each."""
        return [tuple(ops.unstack(given[name], 2)) for name in self.names]

    def named(self, caches: Any, prefix: str = "") -> Tensors:
        """Returns caches by their names."""
        return {f"{prefix}{name}": ops.stack(cache) for name, cache in zip(self.names, caches, strict=True)}


def grown(cache: Any, count: Any) -> Any:
    """Returns a cache with room for the tokens of a step.

    Args:
        cache: Keys and values, a pair of float32 [batch, key_value_heads, tokens, head_width].
    """
    batch, heads, _, width = ops.shape(cache[0])
    room = ops.zeros((batch, heads, count, width), cache[0].dtype)
    return tuple(ops.concatenate([each, room], axis=2) for each in cache)


MASK = "attention_mask"
DECODER_MASK = "decoder_attention_mask"
_MASK = Port(("batch", "length"), "1 on tokens, 0 on padding.")


def row_inputs(config: Any) -> dict[str, Port]:
    """Returns the inputs of a model that reads whole rows."""
    axes: Axes = ("batch", "length")
    if config.max_characters:
        words = Port((*axes, config.max_characters), "Characters of the words, as the tokenizer gives them.")
        return {names.CHARACTERS: words, MASK: _MASK}
    segments = {names.SEGMENT_IDS: Port(axes, "Segments of the tokens.")} if config.reads_segments else {}
    return {names.TOKEN_IDS: Port(axes, "Ids of the tokens."), **segments, MASK: _MASK}


def order_input(length: str) -> dict[str, Port]:
    """Returns the input of the order that says which tokens see each other."""
    meaning = "A token sees those of its row whose order is not above its own; zeros let all see each other."
    return {names.ATTENTION_ORDER: Port(("batch", length), meaning)}


def row_features(given: Tensors) -> Tensors:
    """Returns the features of whole rows."""
    mask = given[MASK]
    rest = {name: value for name, value in given.items() if name != MASK}
    return {**rest, names.DOCUMENT_IDS: mask, names.POSITION_IDS: positions(mask)}


def positions(mask: Any) -> Any:
    """Returns the places of tokens among those of their row, which padding before them does not move.

    Args:
        mask: int32 [batch, length], 1 on tokens and 0 on padding.

    Returns:
        int32 [batch, length], 0 on padding.
    """
    return (ops.cumsum(mask, axis=1) - 1) * mask
