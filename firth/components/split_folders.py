"""Folders and files of the splits of examples."""

import os
from collections.abc import Sequence

from tfx.types import Artifact, artifact_utils


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
