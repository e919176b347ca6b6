"""Digest of all that a made page depends on: its text, the script that makes it, and the sources of firth."""

import hashlib
import pathlib

REPOSITORY = pathlib.Path(__file__).parents[2]


def digest_of(text: str, script: pathlib.Path) -> str:
    """Returns the SHA-256 of a page's text, of the script that makes it, and of all sources of firth."""
    digest = hashlib.sha256(text.encode("utf-8"))
    for path in sorted([script, *(REPOSITORY / "firth").rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(kept: pathlib.Path, text: str, script: pathlib.Path) -> bool:
    """Returns true if a kept digest is that of a text, a script and the present sources."""
    return kept.exists() and kept.read_text() == digest_of(text, script)
