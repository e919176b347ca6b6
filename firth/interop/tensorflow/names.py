"""Names and layouts of an original's tensors, each next to its name in Hugging Face's format."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from firth.interop.errors import InteropError
from firth.interop.hugging_face.rules import Array, Rule


class TensorLayout(NamedTuple):
    """Functions from an original's tensor and a model to Hugging Face's tensor, and back."""

    read: Callable[[Array, Any], Array]
    write: Callable[[Array, Any], Array]


SAME = TensorLayout(lambda tensor, model: tensor, lambda tensor, model: tensor)
# TensorFlow's kernels are [inputs, outputs], torch's are [outputs, inputs].
TRANSPOSED = TensorLayout(lambda tensor, model: tensor.T, lambda tensor, model: tensor.T)
# GPT-2's dense layers are convolutions of width one.
CONVOLUTION = TensorLayout(lambda tensor, model: _only(tensor), lambda tensor, model: tensor[np.newaxis])


def _only(tensor: Array) -> Array:
    if len(tensor) != 1:
        raise ValueError
    row: Array = tensor[0]
    return row


class Name(NamedTuple):
    """A tensor's name in an original and in Hugging Face's format, with the layout.

    `{n}` is a number, `{n:03}` one of three digits, and `{w}` a word; they have the same order in both names.
    A name with a number in brackets, such as `r_w_bias[{n}]`, is a row of a tensor.
    """

    theirs: str
    published: str
    layout: TensorLayout = SAME


def dense(theirs: str, published: str) -> tuple[Name, Name]:
    """Returns the names of a dense layer's kernel and bias."""
    return (
        Name(f"{theirs}/kernel", f"{published}.weight", TRANSPOSED),
        Name(f"{theirs}/bias", f"{published}.bias"),
    )


def norm(theirs: str, published: str) -> tuple[Name, Name]:
    """Returns the names of a layer norm's weights."""
    return Name(f"{theirs}/gamma", f"{published}.weight"), Name(f"{theirs}/beta", f"{published}.bias")


_PLACE = re.compile(r"\{[nw](?::03)?\}")


def _pattern(name: str) -> re.Pattern[str]:
    places = iter(_PLACE.findall(name))
    parts = map(re.escape, _PLACE.split(name))
    groups = (r"([A-Za-z_]\w*?)" if place == "{w}" else r"(\d+)" for place in places)
    return re.compile("".join(part + next(groups, "") for part in parts))


def _filled(name: str, values: Sequence[str]) -> str:
    given = iter(values)
    return _PLACE.sub(lambda place: next(given).zfill(3 if ":03" in place[0] else 1), name)


@dataclasses.dataclass(frozen=True)
class Names:
    """The names of a family's tensors, for both ways."""

    rows: Sequence[Name]

    def published(self, theirs: str) -> str | None:
        """Returns the name in Hugging Face's format of an original's tensor; None if it has none there."""
        for row in self.rows:
            if found := _pattern(row.theirs).fullmatch(theirs):
                return _filled(
                    row.published, [str(int(each)) if each.isdigit() else each for each in found.groups()]
                )
        return None

    def original(self, published: str) -> tuple[str, TensorLayout]:
        """Returns the original's name and the layout of a tensor of Hugging Face's format."""
        for row in self.rows:
            if found := _pattern(row.published).fullmatch(published):
                return _filled(row.theirs, found.groups()), row.layout
        raise InteropError(f"{published} has no name in the original")

    def rules(self, rules: Iterable[Rule], model: Any) -> Iterator[Rule]:
        """Yields the rules from an original's tensors to our weights, of those of Hugging Face's format."""
        for rule in rules:
            found = [self.original(name) for name in rule.theirs]
            yield _composed(rule, [name for name, _ in found], [layout for _, layout in found], model)


def _composed(rule: Rule, names: Sequence[str], layouts: Sequence[TensorLayout], model: Any) -> Rule:
    def read(*tensors: Array) -> Array:
        return rule.read(*(each.read(tensor, model) for each, tensor in zip(layouts, tensors, strict=True)))

    def write(weight: Array) -> tuple[Array, ...]:
        pairs = zip(layouts, rule.write(weight), strict=True)
        return tuple(each.write(tensor, model) for each, tensor in pairs)

    return Rule(rule.ours, tuple(names), read, write)
