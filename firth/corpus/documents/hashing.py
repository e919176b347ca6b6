"""Hashes that are the same on every machine, worker and run."""

import hashlib


def digest(*parts: str | bytes) -> bytes:
    """Returns a hash of 16 bytes of the parts, in which the boundaries between the parts count too.

    Example:

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.digest()


def hash63(*parts: str | bytes) -> int:
    """Returns a hash of the parts in [0, 2**63), which fits a non-negative int64.

    Example:

    >>> hash63("docs", "a.txt")
    6137835031905656653
    """
    return int.from_bytes(digest(*parts)[:8], "big") >> 1


def unit_hash(*parts: str | bytes) -> float:
    """Returns a hash of the parts, spread evenly over [0, 1).

    Example:

    >>> 0.0 <= unit_hash("some text") < 1.0
    True
    """
    return (hash63(*parts) >> 10) / 2**53
