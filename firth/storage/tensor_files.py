"""Tensors in safetensors files, read and written one by one, so that a file is never held whole.

The package `safetensors` checks a file's header. It reads no bfloat16 without torch, keeps the whole file
mapped while one tensor is read, and writes only what is in memory all at once; so tensors are read and
written here.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt
import safetensors

from firth.storage.files import why_no_file

Array = npt.NDArray[Any]
# By their names in the format.
DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(dtype)
    for name, dtype in (
        ("F64", np.float64),
        ("F32", np.float32),
        ("F16", np.float16),
        ("BF16", ml_dtypes.bfloat16),
        ("I64", np.int64),
        ("I32", np.int32),
        ("I16", np.int16),
        ("I8", np.int8),
        ("U64", np.uint64),
        ("U32", np.uint32),
        ("U16", np.uint16),
        ("U8", np.uint8),
        ("BOOL", np.bool_),
    )
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ALIGNMENT, _PART_BYTES = 8, 2**24


class UnreadableDtypeError(ValueError):
    """A tensor of a dtype that numpy has no numbers for."""


class TensorSpec(NamedTuple):
    """Dtype and shape of a tensor.

    Attributes:
        dtype: Name of the dtype in the format, such as `F32` or `BF16`.
        shape: Shape.
    """

    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor in a file."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Returns the name of a dtype in the format.

    Example:

    >>> dtype_name(np.dtype("float32"))
    'F32'
    """
    return _NAMES[dtype]


def spec_of(array: Array) -> TensorSpec:
    """Returns the dtype and the shape of an array.

    Example:

    >>> spec_of(np.zeros((2, 3), "float16"))
    TensorSpec(dtype='F16', shape=(2, 3))
    """
    return TensorSpec(dtype_name(array.dtype), tuple(array.shape))


def open_tensors(path: str | os.PathLike[str], refused: type[Exception], name: str = "") -> "TensorFile":
    """Returns the tensors of a file."""
    if reason := why_no_file(path):
        raise refused(f"{name or path} cannot be read: {reason}")
    try:
        return TensorFile(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise refused(f"{name or path} cannot be read: {error}") from error


class TensorFile(Mapping[str, Array]):
    """The tensors of a file by name. Each is read anew when it is asked for.

    A tensor takes memory only as long as somebody holds it, and may be written to.

    Raises:
        OSError: if the file cannot be read.
        safetensors.SafetensorError: if it is not of this format, or cut short.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        # Checks that the header fits the size of the file, and that no tensors overlap.
        with safetensors.safe_open(self.path, framework="numpy"):
            pass
        with open(self.path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        self._start = 8 + length
        self.metadata: dict[str, str] = header.pop("__metadata__", {})
        self._header = header

    def __getitem__(self, name: str) -> Array:
        entry = self._header[name]
        begin, end = entry["data_offsets"]
        return self._read(name, begin, end).reshape(entry["shape"])

    def __contains__(self, name: object) -> bool:
        return name in self._header

    def __iter__(self) -> Iterator[str]:
        return iter(self._header)

    def __len__(self) -> int:
        return len(self._header)

    def spec(self, name: str) -> TensorSpec:
        """Returns the dtype and the shape of a tensor, which is not read."""
        return TensorSpec(self._header[name]["dtype"], tuple(self._header[name]["shape"]))

    def parts(self, name: str) -> Iterator[Array]:
        """Yields a tensor's numbers in their order, some at a time, so that it is never held whole."""
        begin, end = self._header[name]["data_offsets"]
        for start in range(begin, end, _PART_BYTES):
            yield self._read(name, start, min(start + _PART_BYTES, end))

    def _read(self, name: str, begin: int, end: int) -> Array:
        dtype = self._header[name]["dtype"]
        if dtype not in DTYPES:
            raise UnreadableDtypeError(
                f"{self.path}: {name} is of dtype {dtype}; {', '.join(DTYPES)} can be read"
            )
        raw = np.fromfile(self.path, np.uint8, end - begin, offset=self._start + begin)
        return raw.view(DTYPES[dtype])


def write_tensors(
    path: str | os.PathLike[str],
    specs: Mapping[str, TensorSpec],
    tensors: Iterable[tuple[str, Array]],
    metadata: Mapping[str, str],
) -> None:
    """Writes a file. Each tensor is written when it comes, in any order, and is then no longer needed.

    Raises:
        OSError: if the file cannot be written.

    Example:

    >>> import tempfile
    >>> weight = np.arange(6, dtype="float32").reshape(2, 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tensors(f"{folder}/one", {"weight": spec_of(weight)}, [("weight", weight)], {})
    ...     TensorFile(f"{folder}/one")["weight"].tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    # Wide dtypes first, so that each tensor begins where its dtype may.
    order = sorted(specs, key=lambda name: (-DTYPES[specs[name].dtype].itemsize, name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    offsets, end = {}, 0
    for name in order:
        offsets[name], end = end, end + specs[name].nbytes
        entry = {"dtype": specs[name].dtype, "shape": list(specs[name].shape)}
        header[name] = {**entry, "data_offsets": [offsets[name], end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    missing = dict(offsets)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        start = file.tell()
        file.truncate(start + end)
        for name, tensor in tensors:
            if name not in missing or spec_of(tensor) != specs[name]:
                raise ValueError(f"{name} is {spec_of(tensor)}, wanted is {specs.get(name)}, once")
            file.seek(start + missing.pop(name))
            _write(file, tensor)
            # The next one is made without it.
            del tensor
    if missing:
        raise ValueError(f"no tensor {min(missing)}")


def _write(file: BinaryIO, tensor: Array) -> None:
    if tensor.size:
        file.write(np.ascontiguousarray(tensor).reshape(-1).view(np.uint8).data)
