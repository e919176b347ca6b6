"""What `tokenizer.json` holds, whatever its model."""

import functools
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import TOKENIZER_FILE, Folder, in_order
from firth.interop.hugging_face.tokenizers.specials import AddedToken


class TokenizerJson:
    """The content of `tokenizer.json`."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.file = folder, folder.place(TOKENIZER_FILE)
        self.content = folder.mapping(TOKENIZER_FILE)
        if not isinstance(self.content.get("model"), dict):
            raise InteropError(f"{self.file}: holds no model")

    def part(self, name: str) -> dict[str, Any]:
        """Returns a part, such as `normalizer`; empty if the file lacks it."""
        found = self.content.get(name) or {}
        if not isinstance(found, dict):
            raise InteropError(f"{self.file}: {name}: must be a mapping")
        return found

    @property
    def model(self) -> dict[str, Any]:
        """The model, with its vocabulary."""
        return self.part("model")

    @functools.cached_property
    def added(self) -> list[AddedToken]:
        """The added tokens."""
        try:
            return [AddedToken.of(each) for each in self.content.get("added_tokens") or ()]
        except (KeyError, TypeError, AttributeError) as error:
            raise InteropError(f"{self.file}: added_tokens: a token without {error}") from None

    def pieces(self) -> list[str]:
        """Returns the pieces in the order of their ids, added ones included."""
        vocabulary = self.model.get("vocab")
        if not isinstance(vocabulary, dict):
            raise InteropError(f"{self.file}: model.vocab: must be a mapping from pieces to ids")
        return in_order(self.file, "model.vocab", with_added(self.file, vocabulary, self.added))


def with_added(file: str, vocabulary: dict[str, int], added: list[AddedToken]) -> dict[str, int]:
    """Returns the ids of all pieces."""
    ids = dict(vocabulary)
    for each in added:
        if each.id is None:
            continue
        if ids.setdefault(each.content, each.id) != each.id:
            raise InteropError(
                f"{file}: added_tokens: {each.content!r} has the id {each.id}, "
                f"and {ids[each.content]} in the vocabulary"
            )
    return ids
