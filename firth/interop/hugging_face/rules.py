"""Rules from the tensors of another format to our weights, and back: each is written once, for both ways."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.recipes.models.stack import BlocksConfig, StackConfig
from firth.recipes.models.transformers import MaskedTransformerConfig, TransformerConfig

Array = npt.NDArray[Any]
Rules = Iterator["Rule"]
OneRule = Callable[[str, str], "Rule"]


@dataclasses.dataclass(frozen=True)
class Rule:
    """One weight of ours, and the tensors that it is made of.

    Attributes:
        ours: Path of our weight, as in a bundle.
        theirs: Names of the tensors, in the order in which `read` takes them.
        read: Function from their tensors to our weight.
        write: Function from our weight to their tensors.
    """

    ours: str
    theirs: tuple[str, ...]
    read: Callable[..., Array]
    write: Callable[[Array], tuple[Array, ...]]


def same(theirs: str, ours: str) -> Rule:
    """Returns the rule of a weight that is their tensor."""
    return Rule(ours, (theirs,), lambda tensor: tensor, lambda weight: (weight,))


def transposed(theirs: str, ours: str) -> Rule:
    """Returns the rule of a kernel that is their tensor transposed: torch's are [outputs, inputs]."""
    return Rule(ours, (theirs,), lambda tensor: tensor.T, lambda weight: (weight.T,))


def linear(theirs: str, ours: str, biases: bool = True) -> Rules:
    """Yields the rules of a dense layer."""
    yield transposed(f"{theirs}.weight", f"{ours}/kernel")
    if biases:
        yield same(f"{theirs}.bias", f"{ours}/bias")


def norm(theirs: str, ours: str, biases: bool = True) -> Rules:
    """Yields the rules of a layer norm; without biases, of a root mean square norm."""
    if not biases:
        yield same(f"{theirs}.weight", f"{ours}/scale")
        return
    yield same(f"{theirs}.weight", f"{ours}/gamma")
    yield same(f"{theirs}.bias", f"{ours}/beta")


def feed_forward(
    inner: str,
    outer: str,
    ours: str,
    gate: str | None = None,
    biases: bool = True,
    kernels: tuple[OneRule, OneRule] = (same, transposed),
    names: tuple[str, str] = (".weight", ".bias"),
) -> Rules:
    """Yields the rules of a feed-forward layer; ours holds the first kernels as torch does."""
    (first, last), (kernel, bias) = kernels, names
    for name, theirs, rule in (("inner", inner, first), ("gate", gate, first), ("outer", outer, last)):
        if theirs:
            yield rule(f"{theirs}{kernel}", f"{ours}/{name}_kernel")
        if theirs and biases:
            yield same(f"{theirs}{bias}", f"{ours}/{name}_bias")


def joined(theirs: Sequence[str], ours: str, widths: Sequence[int], biases: bool, prefix: str = "") -> Rules:
    """Yields the rules of dense layers that are one layer in ours."""
    ends = np.cumsum(widths)[:-1].tolist()

    def split(weight: Array) -> tuple[Array, ...]:
        return tuple(np.split(weight, ends, axis=-1))

    yield Rule(
        f"{ours}/{prefix}kernel",
        tuple(f"{name}.weight" for name in theirs),
        lambda *tensors: np.concatenate([tensor.T for tensor in tensors], axis=1),
        lambda weight: tuple(part.T for part in split(weight)),
    )
    if biases:
        yield Rule(
            f"{ours}/{prefix}bias",
            tuple(f"{name}.bias" for name in theirs),
            lambda *tensors: np.concatenate(tensors),
            split,
        )


@dataclasses.dataclass(frozen=True)
class AttentionHeads:
    """The heads of an attention.

    Attributes:
        queries: Number of query heads.
        keys: Number of heads of keys and values.
        width: Width of a head.
    """

    queries: int
    keys: int
    width: int

    @property
    def widths(self) -> tuple[int, int, int]:
        """Outputs of the projections to queries, keys and values."""
        return self.queries * self.width, self.keys * self.width, self.keys * self.width


def self_attention(parts: Sequence[str], ours: str, heads: AttentionHeads, biases: bool = True) -> Rules:
    """Yields the rules of a self-attention; ours joins queries, keys and values.

    Where query heads share keys, neighbouring ones read different heads of keys in ours, and the same one in
    theirs, so they change places.
    """
    *projections, output = parts
    rules = [*joined(projections, ours, heads.widths, biases), *linear(output, f"{ours}/output", biases)]
    yield from regrouped(rules, ours, heads)


def regrouped(rules: Iterable[Rule], ours: str, heads: AttentionHeads) -> Rules:
    """Yields the rules of a self-attention after which query heads have our order."""
    for rule in rules:
        if heads.keys == heads.queries or rule.ours == f"{ours}/output/bias":
            yield rule
        else:
            yield _regrouped(rule, heads, axis=0 if rule.ours == f"{ours}/output/kernel" else -1)


def _regrouped(rule: Rule, heads: AttentionHeads, axis: int) -> Rule:
    """Returns a rule after which query heads have our order."""
    groups = (heads.keys, heads.queries // heads.keys)
    end = heads.queries * heads.width

    def reorder(weight: Array, order: tuple[int, int]) -> Array:
        last = np.moveaxis(weight, axis, -1)
        queries = last[..., :end].reshape(*last.shape[:-1], *order, heads.width)
        queries = np.swapaxes(queries, -3, -2).reshape(*last.shape[:-1], end)
        return np.moveaxis(np.concatenate([queries, last[..., end:]], axis=-1), -1, axis)

    return dataclasses.replace(
        rule,
        read=lambda *tensors: reorder(rule.read(*tensors), groups),
        write=lambda weight: rule.write(reorder(weight, groups[::-1])),
    )


def cross_attention(parts: Sequence[str], ours: str, heads: AttentionHeads, biases: bool = True) -> Rules:
    """Yields the rules of an attention to an encoder; ours joins keys and values."""
    query, key, value, output = parts
    widths = heads.widths
    yield from joined([query], ours, widths[:1], biases, prefix="query_")
    yield from joined([key, value], ours, widths[1:], biases)
    yield from linear(output, f"{ours}/output", biases)


def below(prefix: str, rules: Iterable[Rule]) -> Rules:
    """Yields rules whose tensors stand below a name."""
    for rule in rules:
        yield dataclasses.replace(rule, theirs=tuple(prefix + name for name in rule.theirs))


Block = Callable[[Any, str], Iterable[Rule]]
BERT_ATTENTION = ("query", "key", "value")


def heads_of(stack: BlocksConfig) -> AttentionHeads:
    """Returns the heads of a stack's attention."""
    return AttentionHeads(stack.attention.heads, stack.key_value_heads, stack.head_width)


def blocks(theirs: str, ours: str, block: Block, stack: BlocksConfig, number: str = ".{}.") -> Rules:
    """Yields the rules of all blocks of a stack."""
    for index in range(stack.layers):
        yield from below(theirs + number.format(index), block(stack, f"{ours}/block_{index}"))


def grouped_blocks(theirs: str, ours: str, block: Block, model: MaskedTransformerConfig) -> Rules:
    """Yields the rules of the blocks of ALBERT's groups, which are applied again and again."""
    shared = model.share_layers
    groups, inner = (shared.groups, shared.blocks) if shared else (model.layers, 1)
    for index in range(groups * inner):
        own = block(model.stack, f"{ours}/block_{index}")
        yield from below(theirs.format(*divmod(index, inner)), own)


def bert_block(stack: StackConfig, ours: str, parts: Iterable[str] = BERT_ATTENTION) -> Rules:
    """Yields the rules of a block of BERT and its like."""
    projections = [f"attention.self.{part}" for part in parts]
    yield from self_attention([*projections, "attention.output.dense"], f"{ours}/attention", heads_of(stack))
    yield from norm("attention.output.LayerNorm", f"{ours}/attention_norm")
    yield from feed_forward("intermediate.dense", "output.dense", f"{ours}/feed_forward")
    yield from norm("output.LayerNorm", f"{ours}/feed_forward_norm")


def bert_embeddings(theirs: str, model: TransformerConfig) -> Rules:
    """Yields the rules of the embeddings of BERT and its like."""
    ours = "backbone/embeddings"
    yield same(f"{theirs}.word_embeddings.weight", "backbone/token_embedding/table")
    if model.positions.rows:
        yield same(f"{theirs}.position_embeddings.weight", f"{ours}/position/table")
    if model.embeddings.segments:
        yield same(f"{theirs}.token_type_embeddings.weight", f"{ours}/segment/table")
    yield from norm(f"{theirs}.LayerNorm", f"{ours}/norm")


def masked_lm_head(dense: str, head_norm: str, bias: str) -> Rules:
    """Yields the rules of a masked LM's head."""
    ours = "heads/masked_lm_head"
    yield from linear(dense, f"{ours}/dense")
    yield from norm(head_norm, f"{ours}/norm")
    yield same(bias, f"{ours}/bias")
