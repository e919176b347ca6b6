"""Tensors on their way out: their dtypes and shapes first, then each by itself."""

import collections
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from firth.interop.arrays import all_finite, holds_exactly
from firth.interop.errors import InteropError
from firth.interop.hugging_face.rules import Array, Rule
from firth.recipes.base.errors import suggest
from firth.storage.tensor_files import DTYPES, TensorSpec, dtype_name, spec_of

# By their names in a configuration.
_WIDTHS = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}


class Outgoing:
    """The tensors that a bundle's weights make.

    Each weight is read twice: once for the dtypes, and once to be written.

    Args:
        dtype: float32, bfloat16 or float16 for all tensors; None for that of each in `stored`, if it holds
            the tensor exactly.

    Attributes:
        specs: Dtype and shape of each tensor by name.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        weights: Mapping[str, Array],
        stored: Mapping[str, Sequence[str]],
        dtype: str | None = None,
    ) -> None:
        if dtype is not None and dtype not in _WIDTHS:
            raise InteropError(f"dtype: {dtype!r} is not known; {suggest(dtype, _WIDTHS)}")
        self._rules, self._weights = rules, weights
        self._asked, self._stored = _WIDTHS.get(dtype or ""), stored
        self.specs = {name: spec for rule in rules for name, spec in self._specs_of(rule)}

    @property
    def most_common_dtype(self) -> str:
        """The dtype of most numbers, by its name in a configuration."""
        numbers: collections.Counter[str] = collections.Counter()
        for dtype, shape in self.specs.values():
            numbers[dtype] += int(np.prod(shape))
        found = numbers.most_common(1)[0][0]
        return next(name for name, dtype in _WIDTHS.items() if dtype == found)

    def tensors(self, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
        """Yields tensors by name, each made when it is asked for."""
        wanted = set(names)
        for rule in self._rules:
            if wanted.intersection(rule.theirs):
                for name, tensor in self._made(rule):
                    if name in wanted:
                        yield name, tensor.astype(DTYPES[self.specs[name].dtype], copy=False)
                # The next weight is read without these.
                del tensor

    def _specs_of(self, rule: Rule) -> Iterator[tuple[str, TensorSpec]]:
        stored = self._stored.get(rule.ours, ())
        for place, (name, tensor) in enumerate(self._made(rule)):
            wanted = self._asked or (stored[place] if place < len(stored) else dtype_name(tensor.dtype))
            # A float64 that came in was one that float32 holds.
            wanted = wanted if wanted in _WIDTHS.values() else "F32"
            cast = tensor.astype(DTYPES[wanted], copy=False)
            if self._asked and not all_finite(cast):
                raise InteropError(f"{name} holds numbers beyond {cast.dtype}")
            # What a model was trained to after its import is not rounded unless that is asked for.
            is_kept = self._asked or holds_exactly(cast, tensor)
            yield name, spec_of(cast if is_kept else tensor)

    def _made(self, rule: Rule) -> Iterator[tuple[str, Array]]:
        if rule.ours not in self._weights:
            raise InteropError(f"the bundle has no weight {rule.ours}")
        yield from zip(rule.theirs, rule.write(self._weights[rule.ours]), strict=True)
