"""Digests of artifacts, and the versions of the packages that made them."""

import hashlib
import importlib.metadata
import os
import platform

from firth import storage

# Larger artifacts are named without a digest: reading them again would cost more than the report is worth.
MAX_DIGEST_BYTES = 2 * 10**9
PACKAGES = (
    "firth",
    "tfx",
    "tensorflow",
    "tensorflow-text",
    "keras",
    "keras-hub",
    "apache-beam",
    "tensorflow-model-analysis",
    "ml-metadata",
    "numpy",
)


def directory_digest(directory: str | os.PathLike[str]) -> str:
    """Returns `sha256:` of a folder's relative paths and contents, or why it was not computed.

    Example:

    >>> directory_digest("/no/such/folder")
    'not computed: no such folder'
    """
    if not storage.is_folder(directory):
        return "not computed: no such folder"
    paths = {name: os.path.join(directory, name) for name in storage.files_below(directory)}
    if sum(map(storage.size_of, paths.values())) > MAX_DIGEST_BYTES:
        return f"not computed: above {MAX_DIGEST_BYTES // 10**9} GB"
    whole = hashlib.sha256()
    for name, path in paths.items():
        whole.update(name.encode() + b"\0")
        whole.update(storage.digest_of(path))
    return f"sha256:{whole.hexdigest()}"


def versions() -> dict[str, str]:
    """Returns the versions of Python and of the packages that a run depends on most.

    Example:

    >>> versions()["python"].startswith("3.")
    True
    """
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
