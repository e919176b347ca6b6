"""Digests of artifacts, and the versions of the packages that made them."""

import hashlib
import importlib.metadata
import os
import pathlib
import platform

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

    Args:
        directory: Folder to read.

    Example:

    >>> directory_digest("/no/such/folder")
    'not computed: no such folder'
    """
    root = pathlib.Path(directory)
    if not root.is_dir():
        return "not computed: no such folder"
    files = sorted(path for path in root.rglob("*") if path.is_file())
    if sum(path.stat().st_size for path in files) > MAX_DIGEST_BYTES:
        return f"not computed: above {MAX_DIGEST_BYTES // 10**9} GB"
    whole = hashlib.sha256()
    for path in files:
        whole.update(path.relative_to(root).as_posix().encode() + b"\0")
        whole.update(_file_digest(path))
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


def _file_digest(path: pathlib.Path) -> bytes:
    content = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            content.update(block)
    return content.digest()
