"""Folders of the splits of examples."""

from tfx.types import Artifact, artifact_utils


def split_folders(examples: Artifact) -> dict[str, str]:
    """Returns the folder of each split, by the split's name.

    Args:
        examples: Examples whose splits have names.

    Example:

    >>> from tfx.types.standard_artifacts import Examples
    >>> examples = Examples()
    >>> examples.uri, examples.split_names = "/rows", '["train", "eval"]'
    >>> split_folders(examples)
    {'train': '/rows/Split-train', 'eval': '/rows/Split-eval'}
    """
    splits = artifact_utils.decode_split_names(examples.split_names)
    return {split: artifact_utils.get_split_uri([examples], split) for split in splits}
