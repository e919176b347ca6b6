"""WordPiece in presets: `vocabulary.txt`."""

import dataclasses
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.keras_hub.tokenizers.preset_tokenizer import PresetTokenizer, require_ours, specials_of
from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.graph.vocabulary import SUFFIX_MARK

_VOCABULARY_FILE = "vocabulary.txt"
# KerasHub reads longer words as unknown, and has no key for it.
_LONGEST_WORD = 100


def _read(folder: Folder, settings: Mapping[str, Any], rows: int, theirs: Any) -> WordPieceTokenizer:
    pieces = folder.lines(_VOCABULARY_FILE)
    lowercase, strips = bool(settings.get("lowercase")), bool(settings.get("strip_accents"))
    _check_accents(pieces, lowercase, strips)
    # No piece has a space, so that it makes no difference which are a part of the mask.
    specials = dataclasses.replace(specials_of(theirs, set(pieces)), spaces_before="one")
    return WordPieceTokenizer(
        pieces, lowercase=lowercase, max_word_characters=_LONGEST_WORD, specials=specials
    )


def _check_accents(pieces: Sequence[str], lowercase: bool, strips: bool) -> None:
    """Ours strips accents where it lower-cases; theirs has a key for each.

    One that lower-cases and keeps accents, and has no piece with an accent, reads a word with one as unknown:
    such words are all that ours reads otherwise.
    """
    if strips and not lowercase:
        raise ValueError(
            "tokenizer.json: config.strip_accents: True cannot be expressed here without lowercase, False can"
        )
    accented = [piece for piece in pieces if lowercase and not strips and _has_accent(piece)]
    if accented:
        raise ValueError(
            f"tokenizer.json: config.strip_accents: False cannot be expressed here with lowercase and pieces "
            f"such as {accented[0]!r}, True can"
        )


def _has_accent(piece: str) -> bool:
    return any(unicodedata.category(each) == "Mn" for each in unicodedata.normalize("NFD", piece))


def _arguments(tokenizer: WordPieceTokenizer, pieces: Sequence[str]) -> dict[str, Any]:
    require_ours("max_word_characters", tokenizer.max_word_characters, _LONGEST_WORD)
    require_ours("sentinels", len(tokenizer.sentinel_ids), 0)
    return {
        "vocabulary": list(pieces),
        "lowercase": tokenizer.lowercase,
        "strip_accents": tokenizer.lowercase,
        "special_tokens_in_strings": False,
    }


WORD_PIECE = PresetTokenizer(
    ours=WordPieceTokenizer,
    always={
        "sequence_length": None,
        "split": True,
        "suffix_indicator": SUFFIX_MARK,
        "oov_token": "[UNK]",
        "special_tokens": None,
    },
    read=_read,
    arguments=_arguments,
    read_otherwise="control characters, some symbols, and letters such as ß, which becomes ss",
)
