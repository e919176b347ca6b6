"""A model in Hugging Face's format on disk: its configuration, and its tensors one by one."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from firth import storage
from firth.interop.errors import InteropError, check_folder
from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.rules import Array
from firth.interop.hugging_face.tensors import Tensors
from firth.interop.untrusted_files import expected_shape, read_mapping
from firth.recipes.base.errors import suggest
from firth.storage.tensor_files import TensorFile, TensorSpec, open_tensors, write_tensors

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt")


class Directory:
    """A folder of `config.json` and safetensors, in one file or in shards.

    A tensor is read when it is asked for.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        check_folder(self.path)
        self.config = self._read_json(CONFIG_FILE)
        self._files = self._find_files()

    @property
    def family(self) -> Family:
        """The family that `config.json` names."""
        name = self.config.get("model_type")
        if not isinstance(name, str) or name not in FAMILIES:
            near = suggest(str(name), FAMILIES)
            raise InteropError(f"{self._place(CONFIG_FILE)}: model_type: {name!r} is not known; {near}")
        return FAMILIES[name]

    def model(self) -> Any:
        """Returns the recipe's model that `config.json` describes.

        Raises:
            InteropError: for a key that is not known, or a value that cannot be expressed here.
        """
        with self._of_configuration():
            return self.family.read_model(self.config)

    def notes(self) -> list[str]:
        """Returns the training settings of `config.json` that are not in force here, as sentences."""
        with self._of_configuration():
            return self.family.notes(self.config)

    def length(self) -> tuple[int | None, str]:
        """Returns the most tokens of a text that `config.json` says, and by which key."""
        with self._of_configuration():
            return self.family.length_of(self.config)

    @contextlib.contextmanager
    def _of_configuration(self) -> Iterator[None]:
        place = self._place(CONFIG_FILE)
        with expected_shape(place):
            try:
                yield
            except InteropError as error:
                raise InteropError(f"{place}: {error}") from error

    @property
    def vocabulary_size(self) -> int:
        """The number of rows of the token table."""
        with self._of_configuration():
            size = self.family.plain(self.config).get("vocab_size")
        if not isinstance(size, int) or isinstance(size, bool):
            raise InteropError(f"{self._place(CONFIG_FILE)}: vocab_size: {size!r} is not a number of tokens")
        return size

    @contextlib.contextmanager
    def tensors(self) -> Iterator[Tensors]:
        """Opens the files of the weights for as long as tensors are read, each when it is asked for."""
        with contextlib.ExitStack() as stack:
            opened = {file: stack.enter_context(_opened(file)) for file in sorted(set(self._files.values()))}
            for name, file in self._files.items():
                if name not in opened[file]:
                    raise InteropError(
                        f"{self._place(INDEX_FILE)} says that {name} is in {file}, where it is not"
                    )
            yield Tensors({name: (opened[file], name) for name, file in self._files.items()})

    def _place(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _read_json(self, name: str) -> dict[str, Any]:
        if not storage.exists(self._place(name)):
            raise InteropError(f"{self.path} holds no {name}")
        return read_mapping(self._place(name))

    def _find_files(self) -> dict[str, str]:
        """Returns the file of each tensor."""
        if storage.exists(self._place(INDEX_FILE)):
            shards = self._read_json(INDEX_FILE).get("weight_map")
            if not isinstance(shards, dict) or not all(isinstance(shard, str) for shard in shards.values()):
                raise InteropError(f"{self._place(INDEX_FILE)}: weight_map: must map tensors to files")
            for shard in shards.values():
                if os.path.basename(shard) != shard:
                    raise InteropError(f"{self._place(INDEX_FILE)}: {shard!r} is not a file of the folder")
            files = {name: self._place(shard) for name, shard in shards.items()}
        elif storage.exists(self._place(WEIGHTS_FILE)):
            files = dict.fromkeys(_names_in(self._place(WEIGHTS_FILE)), self._place(WEIGHTS_FILE))
        else:
            raise InteropError(self._no_weights())
        if missing := sorted({file for file in files.values() if not storage.exists(file)}):
            raise InteropError(f"{self._place(INDEX_FILE)} names {missing[0]}, which does not exist")
        return files

    def _no_weights(self) -> str:
        pickles = sorted(name for name in storage.list_folder(self.path) if name.endswith(_PICKLES))
        if not pickles:
            return f"{self.path} holds no {WEIGHTS_FILE}"
        # AutoModel would lose the heads.
        said = self.config.get("architectures")
        name = said[0] if isinstance(said, list) and said else "AutoModel"
        return (
            f"{self._place(pickles[0])} is a pickle, which can run any code when it is read; convert it "
            f"where you trust it: transformers.{name}.from_pretrained({self.path!r})"
            f".save_pretrained('converted', safe_serialization=True)"
        )


def _names_in(file: str) -> list[str]:
    with _opened(file) as opened:
        return list(opened)


@contextlib.contextmanager
def _opened(file: str) -> Iterator[TensorFile]:
    """Opens a file of safetensors; a damaged one is named."""
    with storage.local_copy(file) as local:
        yield open_tensors(local, InteropError, str(file))


SHARD_BYTES = 5 * 10**9
_METADATA = {"format": "pt"}


def write_shards(
    folder: str,
    specs: Mapping[str, TensorSpec],
    tensors: Callable[[Sequence[str]], Iterable[tuple[str, Array]]],
    shard_bytes: int = SHARD_BYTES,
) -> list[str]:
    """Writes tensors, and an index where they are in several files."""
    shards = shards_of(specs, shard_bytes)
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


def shards_of(specs: Mapping[str, TensorSpec], most: int) -> list[list[str]]:
    """Returns the names of the tensors of each shard of at most so many bytes, in the tensors' order."""
    shards: list[list[str]] = [[]]
    filled = 0
    for name, spec in specs.items():
        if shards[-1] and filled + spec.nbytes > most:
            shards.append([])
            filled = 0
        shards[-1].append(name)
        filled += spec.nbytes
    return shards
