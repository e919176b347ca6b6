"""Steps that prepare text for a model of SentencePiece, in the TensorFlow graph, and their settings."""

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.characters import lower_case_in, read_table
from firth.tokenizers.graph.normalizer import build_replacing_model
from firth.tokenizers.graph.sentencepiece_model import ModelKernel, ModelProto, parse_model
from firth.tokenizers.graph.text_normalization import normalize_utf8

Prefix = Literal["first", "always", "never"]
_PREFIXES = ("first", "always", "never")
Step = tuple[str, ...]
# Spaces as the model itself treats them: single, and none at the end.
SINGLE_SPACES: tuple[Step, ...] = ((" {2,}", " "), (r" +\z", ""))
# Replaces text that no model knows: not a character, so that no text holds it.
_NO_CHARACTER = "\ufdd3"
PREPENDED: Step = (r"\A((?s:.))", "\u2581\\1")
# A space, as Unicode and the languages of the references define it.
SPACE = r"[\s\pZ\x{0b}\x{85}]"
OWN_MAP = "own_map"
_COMPATIBLE = ("NFKC", "NFKD")
FORMS = ("NFC", "NFD", *_COMPATIBLE)
_WORD, _UNKNOWN, _USER_DEFINED = 3, 2, 4


class TextSteps(tf.Module):
    r"""Changes of text, in order.

    Args:
        steps: Steps in order: a pair of a pattern of RE2 and the replacement of every match; or alone the
            name of a Unicode form, `lowercase` (each character by itself), `strip_accents` (drops all marks),
            or `own_map` (the map of characters that the model holds).

    Raises:
        ValueError: for another step.

    Example:

    >>> steps = TextSteps([("NFKD",), ("strip_accents",), ("lowercase",), (" +", " ")], b"")
    >>> steps(tf.constant(["Ça  va ²"])).numpy()[0]
    b'ca va 2'
    """

    def __init__(self, steps: Sequence[Sequence[str]], model: bytes) -> None:
        super().__init__()
        with tf.init_scope(), tf.device("CPU"):
            self._operations = [_operation(tuple(step), model) for step in steps]

    def __call__(self, text: tf.Tensor, skipped: Collection[int] = ()) -> tf.Tensor:
        """Returns texts after the steps, string [batch].

        Args:
            text: Texts, string [batch].
        """
        for place, operation in enumerate(self._operations):
            text = text if place in skipped else operation(text)
        return text


def _without_marks() -> dict[int, str]:
    """Returns an empty text for each mark, such as an accent, by code point."""
    return {point: "" for first, last in read_table("letters")["marks"] for point in range(first, last + 1)}


# Texts by code point. The table was read off Hugging Face's normalisers `Lowercase` and `StripAccents`, each
# character by itself.
_REPLACING: dict[str, Callable[[], dict[int, str]]] = {
    "lowercase": lambda: lower_case_in("letters"),
    "strip_accents": _without_marks,
}


def _operation(step: tuple[str, ...], model: bytes) -> tf.Module:
    if len(step) == 2:
        return _Substitution(*step)
    if step == (OWN_MAP,):
        return _OwnMap(model)
    if len(step) == 1 and step[0] in _REPLACING:
        return _Replacing(_REPLACING[step[0]]())
    if len(step) == 1 and step[0] in FORMS:
        return _Form(step[0])
    known = ", ".join((*FORMS, *_REPLACING, OWN_MAP))
    raise ValueError(f"{list(step)!r} is neither [pattern, replacement] nor one of {known}")


class _Substitution(tf.Module):
    """Replaces every match of a pattern."""

    def __init__(self, pattern: str, replacement: str) -> None:
        super().__init__()
        self._arguments = (pattern, replacement)

    def __call__(self, text: tf.Tensor) -> tf.Tensor:
        return tf.strings.regex_replace(text, *self._arguments)


class _Form(tf.Module):
    """Brings text to one of Unicode's normalisation forms."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._form = form
        # Drops bytes that are not valid UTF-8.
        self._before = _Replacing({}) if form in _COMPATIBLE else None

    def __call__(self, text: tf.Tensor) -> tf.Tensor:
        return normalize_utf8(self._before(text) if self._before else text, self._form)


class _Replacing(tf.Module):
    """Replaces characters one by one."""

    def __init__(self, replaced: dict[int, str]) -> None:
        super().__init__()
        model = tf.constant(build_replacing_model(replaced))
        self._normalizer = tf_text.FastBertNormalizer(model_buffer=model)

    def __call__(self, text: tf.Tensor) -> tf.Tensor:
        return self._normalizer.normalize(text)


class _OwnMap(tf.Module):
    """Applies a model's map of characters by its longest matches; the pieces of users stay as they are.

    The kernel does this as a part of encoding alone. To a model of words, of which none is known, the whole
    text becomes one unknown piece: the mapped text.
    """

    def __init__(self, model: bytes) -> None:
        super().__init__()
        theirs, ours = parse_model(model), ModelProto()
        # U+10FFFF is not a character, so it is in no text; the kernel refuses a model without a known piece.
        users = [piece.piece for piece in theirs.pieces if piece.type == _USER_DEFINED]
        for text, kind in [("\U0010fffe", _UNKNOWN), ("\U0010ffff", 1)] + [(t, _USER_DEFINED) for t in users]:
            ours.pieces.add(piece=text, score=0.0, type=kind)
        ours.trainer_spec.model_type, ours.trainer_spec.unk_id = _WORD, 0
        spec = ours.normalizer_spec
        spec.precompiled_charsmap = theirs.normalizer_spec.precompiled_charsmap
        spec.add_dummy_prefix = spec.remove_extra_whitespaces = spec.escape_whitespaces = False
        self._has_map = bool(spec.precompiled_charsmap)
        self._kernel = ModelKernel(ours.SerializeToString(), tf.string)

    def __call__(self, text: tf.Tensor) -> tf.Tensor:
        if not self._has_map:
            return text
        return tf.strings.reduce_join(self._kernel.tokenize(text), axis=-1)


def unknown_step(unknown: str) -> Step:
    """Returns the step that makes unknown text of the unknown piece where normalization brings it about.

    It is skipped unless the piece is asked for: typed in a text, its name is ordinary text.
    """
    return re.escape(unknown), _NO_CHARACTER


def is_unknown_step(step: Step, unknown: str) -> bool:
    """Returns whether a step is the one that `unknown_step` returns."""
    return bool(unknown) and step == unknown_step(unknown)


@dataclasses.dataclass(frozen=True)
class Preparation:
    """The preparation of text for a model. Special pieces are split off before.

    Attributes:
        steps: Changes of the text between two special pieces, as `TextSteps` takes them.
        prefix: Which texts get a space before them, if they do not begin with one: those that are the `first`
            of their row, those after special pieces too (`always`), or none (`never`).
        late: Special pieces that are split off after the steps, not before them.

    Example:

    >>> Preparation.of({"steps": [["NFKC"], [" +", " "]], "prefix": "always"}).steps
    (('NFKC',), (' +', ' '))
    """

    steps: tuple[Step, ...] = ()
    prefix: Prefix = "first"
    late: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(tuple(step) for step in self.steps))
        object.__setattr__(self, "late", tuple(self.late))
        if self.prefix not in _PREFIXES:
            raise ValueError(f"preparation: prefix: {self.prefix!r} is not one of {', '.join(_PREFIXES)}")

    @classmethod
    def of(cls, value: "Preparation | Mapping[str, Any]") -> "Preparation":
        """Returns the preparation of settings."""
        return value if isinstance(value, Preparation) else cls(**value)

    @classmethod
    def of_model(cls, model: bytes) -> "Preparation":
        """Returns the preparation that the sentencepiece package does for this model.

        Raises:
            ValueError: if they are not a model.
        """
        spec = parse_model(model).normalizer_spec
        if not spec.remove_extra_whitespaces:
            # A space that the text has itself is kept, so one is put before it without a look.
            return cls(((OWN_MAP,), *[PREPENDED] * spec.add_dummy_prefix), "never")
        if not spec.add_dummy_prefix:
            return cls(((OWN_MAP,), *SINGLE_SPACES, (r"\A +", "")), "never")
        return cls(((OWN_MAP,), *SINGLE_SPACES), "first")

    @property
    def settings(self) -> dict[str, Any]:
        """The attributes by name, fit for JSON."""
        return {"steps": [list(step) for step in self.steps], "prefix": self.prefix, "late": list(self.late)}
