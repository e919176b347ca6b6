"""The text form of pieces of bytes: GPT-2's printable character for each byte."""

import functools

_PRINTABLE = (*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1))
# The characters of the other bytes start here, in the order of the bytes.
_FIRST_STAND_IN = 0x100


@functools.lru_cache(maxsize=1)
def _written() -> dict[int, str]:
    others = (byte for byte in range(256) if byte not in _PRINTABLE)
    stand_ins = {byte: chr(_FIRST_STAND_IN + index) for index, byte in enumerate(others)}
    return {byte: chr(byte) for byte in _PRINTABLE} | stand_ins


@functools.lru_cache(maxsize=1)
def _read() -> dict[str, int]:
    return {character: byte for byte, character in _written().items()}


def byte_pieces() -> list[str]:
    """Returns the pieces of one byte in GPT-2's order: the printable ones, then the others.

    Example:

    >>> byte_pieces()[:3], len(byte_pieces())
    (['!', '"', '#'], 256)
    """
    return list(_written().values())


def to_piece(data: bytes) -> str:
    r"""Returns bytes as a vocabulary writes them.

    Example:

    >>> to_piece(b" caf\xc3\xa9")
    'ĠcafÃ©'
    """
    return "".join(map(_written().__getitem__, data))


def to_bytes(piece: str) -> bytes:
    r"""Returns the bytes of a piece of a vocabulary.

    Example:

    >>> to_bytes("Ġfox")
    b' fox'
    """
    try:
        return bytes(map(_read().__getitem__, piece))
    except KeyError as error:
        raise ValueError(f"the piece {piece!r} holds {error}, which stands for no byte") from None
