"""Folders of artifacts: the splits of examples, and files that are kept after a component failed."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence

from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2
from tfx.types import Artifact, artifact_utils
from tfx.utils import path_utils

from firth import storage

FOLDER = "failed"


def split_folders(examples: Artifact) -> dict[str, str]:
    """Returns the folder of each split, by the split's name.

    Example:

    >>> from tfx.types.standard_artifacts import Examples
    >>> examples = Examples()
    >>> examples.uri, examples.split_names = "/rows", '["train", "eval"]'
    >>> split_folders(examples)
    {'train': '/rows/Split-train', 'eval': '/rows/Split-eval'}
    """
    splits = artifact_utils.decode_split_names(examples.split_names)
    return {split: artifact_utils.get_split_uri([examples], split) for split in splits}


def split_patterns(examples: Sequence[Artifact]) -> dict[str, list[str]]:
    """Returns the patterns of the files of each split, by the split's name, of one or several artifacts.

    Example:

    >>> from tfx.types.standard_artifacts import Examples
    >>> first, second = Examples(), Examples()
    >>> first.uri, first.split_names = "/first", '["train", "eval"]'
    >>> second.uri, second.split_names = "/second", '["train"]'
    >>> split_patterns([first, second])
    {'train': ['/first/Split-train/*', '/second/Split-train/*'], 'eval': ['/first/Split-eval/*']}
    """
    found: dict[str, list[str]] = {}
    for artifact in examples:
        for split, folder in split_folders(artifact).items():
            found.setdefault(split, []).append(os.path.join(folder, "*"))
    if not found:
        raise ValueError("the input has no examples: no artifact came in, or none has a split")
    return found


def stamp_splits(examples: Artifact, splits: Iterable[str]) -> None:
    """Writes the names of the splits and the format, tf.Example, into an artifact of examples.

    Example:

    >>> from tfx.types.standard_artifacts import Examples
    >>> examples = Examples()
    >>> stamp_splits(examples, ["train"])
    >>> examples.split_names
    '["train"]'
    """
    examples.split_names = artifact_utils.encode_split_names(list(splits))
    examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)


def model_folder(model: Artifact) -> str:
    """Returns the folder of the SavedModel of an exported model."""
    return path_utils.serving_model_path(model.uri, path_utils.is_old_model_artifact(model))


def keep_files(folder: str, *names: str) -> str:
    """Copies files of an output, which TFX removes when its component fails, and returns their new folder.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     storage.write_json(f"{root}/Curator/report/7/a.json", {})
    ...     kept = keep_files(f"{root}/Curator/report/7", "a.json", "b.json")
    ...     kept.removeprefix(root), storage.list_folder(kept)
    ('/Curator/failed/report/7', ['a.json'])
    """
    output, number = os.path.split(folder.rstrip("/"))
    component, name = os.path.split(output)
    kept = os.path.join(component, FOLDER, name, number)
    for file in names:
        if storage.exists(os.path.join(folder, file)):
            storage.copy_file(os.path.join(folder, file), os.path.join(kept, file))
    return kept


@contextlib.contextmanager
def keeping(folder: str, *names: str, errors: type[Exception]) -> Iterator[None]:
    """Keeps files of an output if the block fails, and adds to the error where they are."""
    try:
        yield
    except Exception as error:
        kept = keep_files(folder, *names)
        found = [path for name in names if storage.exists(path := os.path.join(kept, name))]
        if not found or not isinstance(error, errors):
            raise
        message = str(error).split(" [while running")[0]
        raise type(error)(f"{message}. Kept: {', '.join(found)}") from error
