"""Text files that grow, on file systems that append and on those that do not."""

import os

from firth.storage.paths import is_local
from firth.storage.writing import write_text


class GrowingText:
    r"""A text file that is added to: on this machine at once, in a bucket, which appends nothing, at `flush`.

    Args:
        path: The file's place; one that is there is replaced. Its folder is made if need be.
        text: Text that the file begins with.

    Example:

    >>> import tempfile
    >>> from firth.storage import read_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = GrowingText(f"{folder}/lines", "one\n")
    ...     lines.append("two\n")
    ...     read_text(f"{folder}/lines")
    'one\ntwo\n'
    """

    def __init__(self, path: str | os.PathLike[str], text: str = "") -> None:
        self._path, self._text = path, text
        self._is_local = is_local(path)
        write_text(path, text)

    def append(self, text: str) -> None:
        """Adds a text.

        Args:
            text: Text that comes next.
        """
        if self._is_local:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(text)
        else:
            self._text += text

    def flush(self) -> None:
        """Writes what was added, where that is still to be done."""
        if not self._is_local:
            write_text(self._path, self._text)
