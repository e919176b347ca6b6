"""KerasHub's classes of tokenizers."""

import os
from typing import TYPE_CHECKING, Any

import keras_hub

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.keras_hub.tokenizers.byte_pair import BYTE_PAIR
from firth.interop.keras_hub.tokenizers.preset_tokenizer import PresetTokenizer, renamed, require_ours
from firth.interop.keras_hub.tokenizers.sentence_piece import SENTENCE_PIECE, SENTENCE_PIECE_OF_T5
from firth.interop.keras_hub.tokenizers.word_piece import WORD_PIECE
from firth.tokenizers.piece_tokenizer import PieceTokenizer

TOKENIZER_FILE = "tokenizer.json"
_ASSETS = os.path.join("assets", "tokenizer")
NEAR = "near"
CLASSES: dict[str, PresetTokenizer] = {
    **dict.fromkeys(("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"), WORD_PIECE),
    **dict.fromkeys(
        ("AlbertTokenizer", "DebertaV3Tokenizer", "LlamaTokenizer", "SentencePieceTokenizer"), SENTENCE_PIECE
    ),
    "T5Tokenizer": SENTENCE_PIECE_OF_T5,
    **dict.fromkeys(("RobertaTokenizer", "GPT2Tokenizer", "Llama3Tokenizer", "BartTokenizer"), BYTE_PAIR),
}

if TYPE_CHECKING:
    from firth.interop.keras_hub.preset import Preset


def read_tokenizer(preset: "Preset") -> PieceTokenizer:
    """Returns the tokenizer of a preset.

    Args:
        preset: Preset of the tokenizer.

    Raises:
        InteropError: if there is no tokenizer, or one that cannot be expressed here.
    """
    name, settings = preset.read_object(TOKENIZER_FILE, CLASSES)
    kind, folder = CLASSES[name], Folder(preset.place(_ASSETS))
    for key, value in kind.always.items():
        if (found := settings.get(key, value)) != value:
            raise preset.not_expressed(TOKENIZER_FILE, key, found, value)
    # Without a vocabulary, the class says the names of its special pieces.
    theirs = getattr(keras_hub.tokenizers, name)(None)
    try:
        return kind.read(folder, settings, preset.vocabulary_size, theirs)
    except InteropError:
        raise
    except ValueError as error:
        raise InteropError(f"{preset.path}: {error}") from error


def reading_notes(preset: "Preset") -> tuple[str, ...]:
    """Returns sentences about texts whose ids here differ from those of the preset's own tokenizer.

    Args:
        preset: Preset of the tokenizer.

    Raises:
        InteropError: if there is no tokenizer, or one that cannot be expressed here.
    """
    name, _ = preset.read_object(TOKENIZER_FILE, CLASSES)
    reads = CLASSES[name].reads_otherwise(name)
    return (f"{reads}: here, ids of texts that have them differ from its own",) if reads else ()


def tokenizer_to_write(tokenizer: Any, name: str, wanted: str | None) -> tuple[Any, tuple[str, ...]]:
    """Returns a tokenizer as KerasHub's class has it, or None if the class reads texts otherwise, and a note.

    Args:
        tokenizer: Tokenizer of a bundle.
        name: Name of KerasHub's class.
        wanted: `near` to write one that reads some texts otherwise; None to leave it out.

    Raises:
        InteropError: if one is wanted that the class cannot say at all, or something else is wanted.
    """
    if wanted not in (None, NEAR):
        raise InteropError(f"tokenizer: {wanted!r} is not known; {NEAR!r} is, and to leave it out")
    try:
        theirs = written_tokenizer(tokenizer, name)
    except InteropError as error:
        if wanted == NEAR:
            raise
        return None, (f"left out, the tokenizer: {error}",)
    reads = CLASSES[name].reads_otherwise(name, tokenizer)
    if not reads:
        return theirs, ()
    if wanted == NEAR:
        return theirs, (f"{reads}: ids of texts that have them differ",)
    return None, (f"left out, the tokenizer: {reads}; --option tokenizer={NEAR} writes it all the same",)


def written_tokenizer(tokenizer: Any, name: str) -> Any:
    """Returns a tokenizer as KerasHub's class has it.

    Its special pieces get the names that the class has for their roles; the class finds no others in text,
    and leaves the spaces before them.

    Args:
        tokenizer: Tokenizer of a bundle.
        name: Name of KerasHub's class.

    Raises:
        InteropError: if the class cannot say the tokenizer.
    """
    if name not in CLASSES:
        raise InteropError(f"tokenizer.kind: {tokenizer.kind!r}: KerasHub's {name} cannot be written")
    kind, made = CLASSES[name], getattr(keras_hub.tokenizers, name)
    require_ours("kind", tokenizer.kind, kind.ours.kind)
    if tokenizer.settings.get("normalization"):
        raise InteropError("cleaning: KerasHub's tokenizers bring texts to no form before they read them")
    arguments = kind.arguments(tokenizer, renamed(tokenizer, made(None)))
    try:
        return made(**arguments)
    except ValueError as error:
        raise InteropError(f"KerasHub's {name}: {error}") from error
