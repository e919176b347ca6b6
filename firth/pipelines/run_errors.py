"""Errors of a run that could not begin, or that failed."""

import errno
import pathlib
import shutil

# The messages of the system, and of SQLite, which ML Metadata uses.
_FULL = ("No space left on device", "database or disk is full", "Disk quota exceeded")

# Messages of SQLite on a transaction that it has undone, for want of room or for another reason.
_UNDONE = ("no transaction is active", "disk I/O error")
_LITTLE_BYTES = 2**20

# Errors of these types are about data and recipes, and may quote such words from a text.
_QUOTING = (ValueError, TypeError, LookupError)


class RunLockedError(RuntimeError):
    """Another process is running in the same folder."""


class RunFolderError(ValueError):
    """A folder that a run cannot use, for its name or because it was made from something else."""


class RunFailedError(RuntimeError):
    """A component failed."""

    def __init__(
        self,
        component: str | None,
        message: str,
        log_path: pathlib.Path,
        corpus_page: pathlib.Path | None = None,
    ) -> None:
        super().__init__(f"{component or 'the run'} failed: {message}")
        self.component, self.message, self.log_path = component, message, log_path
        self.corpus_page = corpus_page


def explain(error: BaseException) -> str:
    """Returns the message of an error, without the annotations that Beam and TFX wrap around it.

    Example:

    >>> explain(OSError(28, "No space left on device", "/runs/x"))
    "[Errno 28] No space left on device: '/runs/x'"
    >>> explain(ValueError("no text [while running 'Read/Map']"))
    'no text'
    """
    message = str(error).split(" [while running")[0].strip()
    if "\n" in message and "Traceback (most recent call last)" in message:
        message = message.splitlines()[-1]
    return message or type(error).__name__


def is_full(error: BaseException) -> bool:
    """Returns true if an error reports a full disk, in the words of the system or of SQLite.

    Example:

    >>> is_full(OSError(28, "No space left on device")), is_full(OSError(2, "No such file or directory"))
    (True, False)
    """
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT) or any(each in str(error) for each in _FULL)
    return not isinstance(error, _QUOTING) and any(each in str(error) for each in _FULL)


def full_disk(error: BaseException, run_dir: pathlib.Path) -> str | None:
    """Returns the message for an error that a full disk caused, itself or below it; None for any other.

    Example:

    >>> full_disk(OSError(28, "No space left on device", "/no/such/disk/x"), pathlib.Path("/"))
    'the disk of /no/such/disk/x is full (... free at /); make room, and the same command continues'
    >>> full_disk(ValueError("a.txt: 'No space left on device' is not JSON"), pathlib.Path("/"))
    """
    found: BaseException | None = error
    while found is not None:
        if is_full(found) or _is_undone(found, run_dir):
            place = (found.filename if isinstance(found, OSError) else None) or run_dir
            folder = _nearest_folder(pathlib.Path(place).absolute())
            left = f"{shutil.disk_usage(folder).free / 1e6:,.1f} MB are free at {folder}"
            return f"the disk of {place} is full ({left}); make room, and the same command continues"
        found = found.__cause__ or found.__context__
    return None


def _is_undone(error: BaseException, run_dir: pathlib.Path) -> bool:
    if isinstance(error, _QUOTING) or not any(each in str(error) for each in _UNDONE):
        return False
    return shutil.disk_usage(_nearest_folder(run_dir)).free < _LITTLE_BYTES


def _nearest_folder(path: pathlib.Path) -> pathlib.Path:
    return next(each for each in (path, *path.parents) if each.is_dir())
