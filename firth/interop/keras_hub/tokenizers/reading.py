"""Reads the tokenizer of a preset."""

import os
from typing import TYPE_CHECKING

import keras_hub

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.keras_hub.tokenizers.tokenizer_classes import CLASSES
from firth.tokenizers.piece_tokenizer import PieceTokenizer

if TYPE_CHECKING:
    from firth.interop.keras_hub.preset import Preset

TOKENIZER_FILE = "tokenizer.json"
_ASSETS = os.path.join("assets", "tokenizer")


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
    """Returns what is to be known of the ids that the tokenizer of a preset gives here, in sentences.

    Args:
        preset: Preset of the tokenizer.

    Raises:
        InteropError: if there is no tokenizer, or one that cannot be expressed here.
    """
    name, _ = preset.read_object(TOKENIZER_FILE, CLASSES)
    reads = CLASSES[name].reads_otherwise(name)
    return (f"{reads}: here, ids of texts that have them differ from its own",) if reads else ()
