"""The tensors of a checkpoint by name, each read when it is asked for."""

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from firth.interop.errors import InteropError
from firth.interop.hugging_face.rules import Array
from firth.storage.tensor_files import TensorSpec, UnreadableDtypeError

_NUMBERS = 2**22


class TensorReader(Protocol):
    """A file of tensors by name, or what is read as one."""

    def __getitem__(self, name: str, /) -> Array: ...

    def spec(self, name: str, /) -> TensorSpec:
        """Returns the dtype and the shape of a tensor, which is not read."""

    def parts(self, name: str, /) -> Iterator[Array]:
        """Yields a tensor's numbers in their order, some at a time."""


class Tensors(Mapping[str, Array]):
    """The tensors of some files by name; each is read anew when it is asked for."""

    def __init__(self, places: Mapping[str, tuple[TensorReader, str]]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Array:
        file, there = self._places[name]
        try:
            return file[there]
        except UnreadableDtypeError as error:
            raise InteropError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __len__(self) -> int:
        return len(self._places)

    def spec(self, name: str) -> TensorSpec:
        """Returns the dtype and the shape of a tensor, which is not read."""
        file, there = self._places[name]
        return file.spec(there)

    def parts(self, name: str) -> Iterator[Array]:
        """Yields a tensor's numbers in their order, some at a time."""
        file, there = self._places[name]
        try:
            yield from file.parts(there)
        except UnreadableDtypeError as error:
            raise InteropError(str(error)) from None

    def are_same(self, one: str, other: str) -> bool:
        """Returns whether two tensors hold the same numbers."""
        if self.spec(one) != self.spec(other):
            # Tensors of different dtypes have parts of different sizes.
            return np.array_equal(self[one], self[other])
        return all(map(np.array_equal, self.parts(one), self.parts(other)))

    def renamed(self, names: Mapping[str, str]) -> "Tensors":
        """Returns tensors under other names."""
        return Tensors({new: self._places[name] for new, name in names.items()})


def all_finite(array: Array) -> bool:
    """Returns whether there are finite numbers alone.

    Example:

    >>> all_finite(np.array([1.0, np.inf]))
    False
    """
    return all(np.isfinite(each).all() for each in _parts(array))


def holds_exactly(cast: Array, array: Array) -> bool:
    """Returns whether an array has the numbers of another one, of whose dtype it is not.

    Example:

    >>> numbers = np.array([0.1, 1.0])
    >>> holds_exactly(numbers.astype("float32"), numbers)
    False
    """
    if cast is array:
        return True
    pairs = zip(_parts(cast), _parts(array), strict=True)
    return all(np.array_equal(one.astype(other.dtype, copy=False), other) for one, other in pairs)


def _parts(array: Array) -> Iterator[Array]:
    rows = max(1, _NUMBERS // max(1, array[:1].size)) if array.ndim else 1
    return (
        (array[start : start + rows] for start in range(0, len(array), rows)) if array.ndim else iter([array])
    )
