"""Character encodings of text files, named by the recipe or guessed from the content."""

import codecs
import functools
from collections.abc import Iterable, Iterator

from firth.corpus.documents.errors import UnreadableError
from firth.corpus.io.file_contents import read_blocks
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import check_text, decode_utf8
from firth.recipes.corpus.sources import GUESSED, UTF_8, EncodedSource, Source

# Enough to distinguish encodings; a sample begins where bytes beyond ASCII begin.
_SAMPLE_BYTES = 2**16
# UTF-32 comes before UTF-16, whose marks begin in the same way.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNDECODED = "\udcff"
_ERRORS = "firth_undecoded"
codecs.register_error(_ERRORS, lambda error: (_UNDECODED, getattr(error, "end", 0)))


def encoding_of(source: EncodedSource, file: SourceFile) -> str:
    """Returns the name of the encoding that a file is read in, as Python has it."""
    return _guess(file) if source.encoding == GUESSED else codecs.lookup(source.encoding).name


def guessed_encoding(source: Source, file: SourceFile) -> str:
    """Returns the guessed encoding of a file; empty if the recipe names it or none was found."""
    guesses = getattr(source, "encoding", "") == GUESSED and not file.problem
    return _guess(file) if guesses else ""


def blocks_of(source: EncodedSource, file: SourceFile) -> Iterator[bytes]:
    """Yields the content of a file in blocks of UTF-8, invalid where the file is not in its encoding.

    Raises:
        OSError: if the file cannot be read.
    """
    encoding, blocks = encoding_of(source, file), read_blocks(file.path)
    return blocks if encoding == UTF_8 else _transcoded(blocks, encoding)


def _transcoded(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(_ERRORS)
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "surrogatepass")
    yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")


def decode_record(source: EncodedSource, file: SourceFile, data: bytes) -> str:
    """Returns the text of a record of a file."""
    try:
        return check_text(decode_utf8(data))
    except UnreadableError as error:
        if error.reason != "invalid_utf8":
            raise
        raise UnreadableError(invalid_reason(source, file)) from None


def invalid_reason(source: EncodedSource, file: SourceFile) -> str:
    """Returns the reason of rejection for bytes that are not in a file's encoding, such as `invalid_utf8`."""
    return f"invalid_{encoding_of(source, file).replace('-', '')}"


@functools.lru_cache(maxsize=64)
def _guess(file: SourceFile) -> str:
    try:
        return guess_encoding(read_blocks(file.path))
    except OSError:
        # Reading the file rejects it.
        return UTF_8


def guess_encoding(blocks: Iterable[bytes]) -> str:
    """Returns the name of the encoding that a content seems to be in, as Python has it.

    These decide in turn: a byte order mark; the places of zeros; UTF-8, if at most one in ten of the
    characters beyond ASCII is damaged; the guess of resiliparse, if it decodes the sample; and the guess of
    charset-normalizer.

    Example:

    >>> texts = {"latin-1": "Où est passé l'été ?", "utf-16-le": "Moby", "cp949": "어제 친구와 갔습니다."}
    >>> [guess_encoding([text.encode(encoding)]) for encoding, text in texts.items()]
    ['cp1252', 'utf-16-le', 'cp949']
    """
    sample = _sample(blocks)
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if sample[first::2].count(0) * 4 > len(sample[first::2]) > 4 * sample[1 - first :: 2].count(0):
            return encoding
    text = sample.decode("utf-8", "replace")
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    if 10 * text.count("\ufffd") <= beyond:
        return UTF_8
    return _look_of(sample)


def _sample(blocks: Iterable[bytes]) -> bytes:
    """Returns the beginning of a content, and of the part in which bytes beyond ASCII begin."""
    sample = b""
    for block in blocks:
        if not sample or not block.isascii():
            # Cut at a whole number of characters of UTF-16 or UTF-32.
            sample += block[:_SAMPLE_BYTES]
        if len(sample) >= 2 * _SAMPLE_BYTES:
            break
    return sample


def _look_of(sample: bytes) -> str:
    from resiliparse.parse.encoding import detect_encoding

    encoding = detect_encoding(sample)
    try:
        if encoding and codecs.lookup(encoding).name != UTF_8:
            # The last character may be cut.
            codecs.getincrementaldecoder(encoding)().decode(sample)
            return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        pass
    import charset_normalizer

    best = charset_normalizer.from_bytes(sample).best()
    return codecs.lookup(best.encoding).name if best else UTF_8
