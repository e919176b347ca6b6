"""The model of a `tokenizer.json` as a model of SentencePiece."""

import re
from collections.abc import Collection, Sequence
from typing import Any

import tensorflow as tf

from firth.interop.errors import InteropError
from firth.interop.hugging_face.tokenizers.files import one_of
from firth.interop.hugging_face.tokenizers.specials import AddedToken
from firth.tokenizers.graph.sentencepiece_model import LONGEST_PIECE, ModelProto, PieceType
from firth.tokenizers.graph.text_steps import OWN_MAP, TextSteps
from firth.tokenizers.graph.vocabulary import META_SPACE

UNIGRAM, BPE = 1, 2
BYTE_PIECES = [f"<0x{byte:02X}>" for byte in range(256)]
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
# The values of a model that merges that can be expressed: those that change nothing.
_NOTHING: dict[str, tuple[Any, ...]] = {
    "dropout": (None, 0.0),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "fuse_unk": (True,),
    "ignore_merges": (None, False),
}


def vocabulary_of(file: str, model: dict[str, Any]) -> dict[str, int]:
    """Returns the ids of the pieces of a model, added tokens left out."""
    vocabulary = model.get("vocab")
    if model.get("type") == "BPE":
        if not isinstance(vocabulary, dict):
            raise InteropError(f"{file}: model.vocab: must be a mapping from pieces to ids")
        return vocabulary
    if not isinstance(vocabulary, list):
        raise InteropError(f"{file}: model.vocab: must be a list of pieces with their scores")
    ids: dict[str, int] = {}
    for index, each in enumerate(vocabulary):
        if not (isinstance(each, list) and [type(value) for value in each] in ([str, float], [str, int])):
            raise InteropError(f"{file}: model.vocab[{index}]: {each!r} is not a piece with its score")
        if ids.setdefault(each[0], index) != index:
            raise InteropError(
                f"{file}: model.vocab[{index}]: {each[0]!r} is model.vocab[{ids[each[0]]}] too"
            )
    return ids


def model_of_json(
    file: str, said: dict[str, Any], pieces: Sequence[str], added: Sequence[AddedToken], is_split: bool
) -> Any:
    """Returns the `ModelProto` that gives the same ids as a model of the `tokenizers` package."""
    for index, piece in enumerate(pieces):
        if len(piece.encode()) > LONGEST_PIECE:
            raise InteropError(
                f"{file}: model.vocab[{index}]: {piece[:10]!r} and so on has more than {LONGEST_PIECE} bytes"
            )
    merges = said.get("type") == "BPE"
    unknown = _unknown_id(file, said, pieces)
    scores = _merged(file, said, pieces, added, is_split) if merges else _scored(file, said, unknown)
    if said.get("byte_fallback"):
        if missing := sorted(set(BYTE_PIECES).difference(pieces)):
            raise InteropError(f"{file}: model.byte_fallback: True, but {missing[0]!r} is not in model.vocab")
        if not merges:
            raise InteropError(
                f"{file}: model.byte_fallback: True cannot be expressed here: text such as <0x41> would be "
                f"a byte"
            )
    model = ModelProto()
    for index, piece in enumerate(pieces):
        model.pieces.add(piece=piece, score=scores.get(piece, 0.0), type=PieceType.NORMAL)
        if index == unknown:
            model.pieces[index].type = PieceType.UNKNOWN
        elif said.get("byte_fallback") and _BYTE.fullmatch(piece):
            model.pieces[index].type = PieceType.BYTE
        elif piece not in scores:
            model.pieces[index].type = PieceType.CONTROL
        elif is_split and META_SPACE in piece[1:]:
            model.pieces[index].type = PieceType.UNUSED
    trainer = model.trainer_spec
    trainer.model_type, trainer.vocab_size = BPE if merges else UNIGRAM, len(pieces)
    trainer.byte_fallback = bool(said.get("byte_fallback"))
    trainer.unk_id, trainer.unk_piece = unknown, pieces[unknown]
    trainer.bos_id = trainer.eos_id = trainer.pad_id = -1
    spec = model.normalizer_spec
    spec.add_dummy_prefix = spec.remove_extra_whitespaces = False
    return model


def _unknown_id(file: str, said: dict[str, Any], pieces: Sequence[str]) -> int:
    if said.get("type") == "BPE":
        piece = said.get("unk_token")
        if piece not in pieces:
            raise InteropError(f"{file}: model.unk_token: {piece!r} is not in model.vocab")
        return pieces.index(piece)
    unknown = said.get("unk_id")
    if not isinstance(unknown, int) or not 0 <= unknown < len(said["vocab"]):
        raise InteropError(f"{file}: model.unk_id: {unknown!r} is not the id of a piece of model.vocab")
    return unknown


def _scored(file: str, said: dict[str, Any], unknown: int) -> dict[str, float]:
    """Returns the score of each piece that text may become; of added tokens, those of the vocabulary."""
    scores = dict(said["vocab"])
    lowest = min((score for index, (_, score) in enumerate(said["vocab"]) if index != unknown), default=0.0)
    if said["vocab"][unknown][1] < lowest:
        raise InteropError(
            f"{file}: model.vocab[{unknown}]: the score of the unknown piece, {said['vocab'][unknown][1]}, "
            f"cannot be expressed here: it is below all others"
        )
    return scores


def _merged(
    file: str, said: dict[str, Any], pieces: Sequence[str], added: Sequence[AddedToken], is_split: bool
) -> dict[str, float]:
    """Returns the score of each piece that merges make, higher for earlier ones, and of single characters.

    SentencePiece merges any two neighbours that make a piece, and takes the order from what they make.
    """
    for key, known in _NOTHING.items():
        one_of(file, f"model.{key}", said.get(key, known[0]), known)
    apart = {each.content for each in added}
    if said.get("byte_fallback"):
        apart.update(BYTE_PIECES)
    known_pieces = set(pieces)
    pairs: dict[str, set[str]] = {}
    latest = None
    for index, each in enumerate(said.get("merges") or ()):
        pair = each.split(" ") if isinstance(each, str) else each
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not known_pieces.issuperset((*pair, "".join(pair)))
        ):
            raise InteropError(f"{file}: model.merges[{index}]: {each!r} is not two pieces that make another")
        piece = "".join(pair)
        if piece in pairs and piece != latest:
            raise InteropError(
                f"{file}: model.merges[{index}]: {each!r} cannot be expressed here: {piece!r} is made by an "
                f"earlier merge too, and another piece between"
            )
        pairs.setdefault(piece, set()).add(pair[0])
        latest = piece
    scores = {piece: -float(rank) for rank, piece in enumerate(pairs)}
    scores |= {piece: 0.0 for piece in pieces if len(piece) == 1 and piece not in apart}
    if is_split:
        scores = {piece: score for piece, score in scores.items() if META_SPACE not in piece[1:]}
    for piece in pairs:
        for left in splits(piece, scores) if piece in scores else ():
            if left not in pairs[piece]:
                raise InteropError(
                    f"{file}: model.merges: {piece!r} is made of {left!r} and {piece[len(left) :]!r} by "
                    f"SentencePiece, and by no merge"
                )
    return scores


def splits(piece: str, known: Collection[str]) -> list[str]:
    """Returns the left parts of a piece, each of which is a piece, as is what follows it."""
    return [piece[:end] for end in range(1, len(piece)) if piece[:end] in known and piece[end:] in known]


def unknown_of(model: Any) -> str:
    """Returns the piece for unknown text."""
    return next(str(piece.piece) for piece in model.pieces if piece.type == PieceType.UNKNOWN)


def check_model(file: str, model: Any) -> None:
    """Passes if a model can be read here."""
    unknown = [piece.piece for piece in model.pieces if piece.type == PieceType.UNKNOWN]
    if len(unknown) != 1:
        raise InteropError(
            f"{file}: pieces: {len(unknown)} are of the type UNKNOWN, not one; is the file whole?"
        )
    trainer = model.trainer_spec
    one_of(file, "trainer_spec.model_type", trainer.model_type, [UNIGRAM, BPE])
    one_of(file, "trainer_spec.treat_whitespace_as_suffix", trainer.treat_whitespace_as_suffix, [False])
    one_of(file, "normalizer_spec.escape_whitespaces", model.normalizer_spec.escape_whitespaces, [True])


def check_map(key: str, model: bytes) -> None:
    """Passes if a model's map of characters is one."""
    try:
        TextSteps([(OWN_MAP,)], model)
    except tf.errors.OpError as error:
        raise InteropError(f"{key}: is not a map of characters: {error.message}") from None


def appended(file: str, model: Any, added: Sequence[AddedToken]) -> bytes:
    """Returns the bytes to append to a model for tokens that it lacks; text does not become them."""
    pieces = [piece.piece for piece in model.pieces]
    more = ModelProto()
    for each in sorted((each for each in added if each.id is not None), key=lambda each: each.id or 0):
        index = int(each.id or 0)
        if index < len(pieces):
            if pieces[index] != each.content:
                raise InteropError(
                    f"{file}: added_tokens: {each.content!r} has the id {index}, as has the piece "
                    f"{pieces[index]!r}"
                )
            continue
        if index != len(pieces) + len(more.pieces):
            raise InteropError(
                f"{file}: added_tokens: {each.content!r} has the id {index}; there is no piece of id "
                f"{len(pieces) + len(more.pieces)}"
            )
        more.pieces.add(piece=each.content, score=0.0, type=PieceType.CONTROL)
    return bytes(more.SerializeToString())
