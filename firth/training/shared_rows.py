"""Rows that the processes of a training convert together, each its share of the files."""

import os
from collections.abc import Sequence

import numpy as np

from firth import storage
from firth.training.distribution import ClusterError, Workers
from firth.training.row_files import convert_file, key_of, match_files, read_rows, remove_built
from firth.training.rows import RowLimits, Rows, RowsWriter, load_rows

_DIGEST_BYTES = 32


def read_rows_together(
    patterns: Sequence[str], cache_directory: str, limits: RowLimits, workers: Workers
) -> Rows:
    """Returns all rows of the files that match `patterns`, as `read_rows` does, in each process.

    Each file is read by one process of the training. The chief joins what they have made of them, in the
    order in which one process would have read them, so that rows, their digest and the folder that keeps them
    are the same whatever the number of processes. An epoch is a permutation of all rows; what a process
    trains on is read from the joined rows by its place.

    Raises:
        RowsError: as `read_rows` does, in the process that reads the file.
        ClusterError: if the processes see other files, or do not all see `cache_directory`.
    """
    if workers.count == 1:
        return read_rows(patterns, cache_directory, limits)
    files = match_files(patterns)
    workers.check_same("the number of row files", len(files))
    digests = _digests(files, workers)
    key = key_of(digests, limits)
    shared, own = (
        os.path.join(each, key) for each in (cache_directory, storage.local_folder(cache_directory))
    )
    # The others do not look before it is there: a network's disk may remember for them that it was not.
    if not workers.total([float(workers.is_chief and storage.is_whole(shared))])[0]:
        _build(files, digests, shared, limits, workers)
    _check_seen(shared, workers)
    if own != shared and not storage.is_whole(own):
        storage.copy_folder(shared, own)
    return load_rows(own, limits.specs)


def _own(files: Sequence[str], workers: Workers) -> range:
    """Returns the numbers of the files that this process reads."""
    return range(workers.index, len(files), workers.count)


def _digests(files: Sequence[str], workers: Workers) -> list[bytes]:
    """Returns the SHA-256 of each file, of which each process reads its own."""
    found = np.zeros([len(files), _DIGEST_BYTES])
    for number in _own(files, workers):
        found[number] = list(storage.digest_of(files[number]))
    totals = np.asarray(workers.total(found.ravel().tolist())).astype(np.uint8).reshape(found.shape)
    return [digest.tobytes() for digest in totals]


def _build(
    files: Sequence[str], digests: Sequence[bytes], shared: str, limits: RowLimits, workers: Workers
) -> None:
    home, name = os.path.split(shared)
    parts = os.path.join(home, f"parts-{name}")
    folders = [os.path.join(parts, f"{number}-{digest.hex()[:24]}") for number, digest in enumerate(digests)]
    if workers.is_chief:
        remove_built(home, but=os.path.basename(parts))
    workers.wait()
    for number in _own(files, workers):
        # Processes that are started again after one was lost find what was converted.
        if not storage.is_whole(folders[number]):
            with storage.whole_folder(folders[number]) as folder, RowsWriter(folder, limits.specs) as writer:
                convert_file(files[number], limits, writer)
    workers.wait()
    if workers.is_chief:
        _join(folders, shared, limits)
        storage.remove(parts)
    workers.wait()


def _join(parts: Sequence[str], shared: str, limits: RowLimits) -> None:
    with storage.whole_folder(shared) as folder, RowsWriter(folder, limits.specs) as writer:
        for part in parts:
            # It raises if the chief does not see what another process wrote.
            storage.check_whole(part)
            with storage.local_copy(part) as copy:
                writer.append_part(copy)
        writer.finish()


def _check_seen(shared: str, workers: Workers) -> None:
    seen = round(workers.total([float(storage.is_whole(shared))])[0])
    if seen < workers.count:
        raise ClusterError(
            f"{shared}: {seen} of {workers.count} processes see it; the folder of checkpoints must be one "
            "that all see, such as a bucket or a shared disk"
        )
