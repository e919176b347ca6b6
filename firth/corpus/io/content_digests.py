"""Digests of the contents of files, by which a corpus detects changes."""

import hashlib
import os
import time
from collections.abc import Sequence

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from firth.corpus.io.source_files import SourceFile, prepare_file_systems
from firth.recipes.base.file_names import is_remote
from firth.storage.digest_cache import cached_digests

_BLOCK_BYTES = 2**20
# Some file systems write times in steps of two seconds. A change in the same step would not be seen.
_SETTLED_SECONDS = 2


def content_digests(files: Sequence[SourceFile], in_bucket: bool = False) -> list[bytes | OSError]:
    """Returns the digests of the contents of files, of which those that have not changed are not read.

    A file on this machine has not changed if its size, its inode, and the times of the last change of its
    content and of its entry are the same. The system alone sets the last of these, so that content which is
    changed under an old time stamp is seen. A file in a bucket has not changed if size and time are the same.
    """
    prepare_file_systems()
    states: dict[str, str] = {}
    found: dict[str, bytes | OSError] = {}
    for file in files:
        path = _full(file.path)
        if file.problem:
            found[path] = OSError(f"{path}: {file.problem}")
        elif in_bucket and is_remote(path):
            found[path] = FileSystems.checksum(path).encode("utf-8")
        else:
            states[path] = _state_of(path, file)
    found |= cached_digests(states, content_digest)
    return [found[_full(file.path)] for file in files]


def _full(path: str) -> str:
    return path if is_remote(path) else os.path.abspath(path)


def _state_of(path: str, file: SourceFile) -> str:
    if is_remote(path):
        return f"{file.size} {file.modified}" if file.modified else ""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    if time.time() - max(found.st_mtime, found.st_ctime) < _SETTLED_SECONDS:
        return ""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


def content_digest(path: str) -> bytes:
    """Returns the digest of the content of one file, which is read whole."""
    content = hashlib.sha256()
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        while block := file.read(_BLOCK_BYTES):
            content.update(block)
    return content.digest()
