"""Tensors in one file, or in shards with an index, by the names that transformers gives them."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from firth import storage
from firth.interop.hugging_face.checkpoint.directory import INDEX_FILE, WEIGHTS_FILE
from firth.interop.hugging_face.rules import Array
from firth.storage.tensor_files import TensorSpec, write_tensors

SHARD_BYTES = 5 * 10**9
_METADATA = {"format": "pt"}


def write_shards(
    folder: str,
    specs: Mapping[str, TensorSpec],
    tensors: Callable[[Sequence[str]], Iterable[tuple[str, Array]]],
    shard_bytes: int = SHARD_BYTES,
) -> list[str]:
    """Writes tensors, and an index where they are in several files."""
    shards = _shards(specs, shard_bytes)
    if len(shards) == 1:
        files = [WEIGHTS_FILE]
    else:
        files = [f"model-{number:05}-of-{len(shards):05}.safetensors" for number in range(1, len(shards) + 1)]
    for file, names in zip(files, shards):
        of_file = {name: specs[name] for name in names}
        write_tensors(os.path.join(folder, file), of_file, tensors(names), _METADATA)
    if len(shards) == 1:
        return files
    total = sum(spec.nbytes for spec in specs.values())
    weight_map = {name: file for file, names in zip(files, shards) for name in names}
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
    storage.write_json(os.path.join(folder, INDEX_FILE), index)
    return [*files, INDEX_FILE]


def _shards(specs: Mapping[str, TensorSpec], most: int) -> list[list[str]]:
    """Returns the names of each shard, in the tensors' order."""
    shards: list[list[str]] = [[]]
    filled = 0
    for name, spec in specs.items():
        if shards[-1] and filled + spec.nbytes > most:
            shards.append([])
            filled = 0
        shards[-1].append(name)
        filled += spec.nbytes
    return shards
