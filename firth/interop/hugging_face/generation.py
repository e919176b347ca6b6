"""What a folder says of generation that does not come in."""

from collections.abc import Iterator, Mapping
from typing import Any

from firth.interop.hugging_face.tokenizers.files import Folder
from firth.recipes.goals.goal import Goal
from firth.tokenizers.piece_tokenizer import PieceTokenizer

_FILE = "generation_config.json"
_START, _END = "decoder_start_token_id", "eos_token_id"


def generation_notes(
    folder: Folder, config: Mapping[str, Any], goal: Goal, tokenizer: PieceTokenizer, has_both: bool
) -> Iterator[str]:
    """Yields what of generation stays outside: files, further ends, and another start of a decoder."""
    if folder.holds(_FILE):
        keys = ", ".join(key for key in folder.mapping(_FILE) if not key.startswith(("_", "transformers_")))
        yield f"{_FILE} is not read, and does not go out again: {keys}"
    ends = config.get(_END)
    ends = ends if isinstance(ends, list) else [ends] if isinstance(ends, int) and goal.text_end else []
    if set(ends) - {tokenizer.sep_id}:
        theirs = " or ".join(_named(each, tokenizer) for each in ends)
        yield (
            f"{_END}: texts end at {theirs} in the published model, here at "
            f"{_named(tokenizer.sep_id, tokenizer)} alone"
        )
    start = config.get(_START)
    if start is None or not has_both:
        return
    piece = tokenizer.specials.by_role[goal.decoder_start[0]]
    if start != tokenizer.token_to_id(piece):
        yield f"{_START}: the published decoder starts from {start}, here it starts from {piece!r}"


def _named(index: Any, tokenizer: PieceTokenizer) -> str:
    """Returns a piece by its name, or the id of a row without one."""
    is_piece = isinstance(index, int) and 0 <= index < tokenizer.vocabulary_size()
    return repr(tokenizer.id_to_token(index)) if is_piece else str(index)
