"""Asking of a model's signatures: texts in, plain values out, whatever holds the graphs."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.serving.parameter import WITH_PARAMETERS, values_of
from firth.tokenizers.graph.special_pieces import MASK

# A text, or a list of texts.
Text: TypeAlias = str | Sequence[str]


class Candidate(NamedTuple):
    """A piece proposed for a `[MASK]`.

    Attributes:
        piece: Text of the piece.
        score: Probability of the piece.
    """

    piece: str
    score: float


class Scored(NamedTuple):
    """The probability of a text under a language model.

    Attributes:
        log_probability: Natural logarithm of the probability of all pieces together.
        pieces: Pieces of the text.
        log_probabilities: Natural logarithm of the probability of each piece after those before it.
        tokens_read: Number of tokens that were read.
        tokens_given: Number of tokens that the text has; more than were read of one that is too long.
    """

    log_probability: float
    pieces: list[str]
    log_probabilities: list[float]
    tokens_read: int = 0
    tokens_given: int = 0


class SignatureClient(abc.ABC):
    """Base of classes that ask the signatures of a model.

    Attributes:
        title: Name of the model in errors.
    """

    title: str

    @property
    @abc.abstractmethod
    def _descriptions(self) -> Mapping[str, Any]:
        """Descriptions of the signatures on texts, by name; see `firth.serving.exported_model`."""

    @property
    @abc.abstractmethod
    def _names(self) -> Iterable[str]:
        """Names of all signatures."""

    @abc.abstractmethod
    def inputs(self, name: str) -> tuple[str, ...]:
        """Returns the names of a signature's inputs; empty if the model has no such signature.

        Args:
            name: Name of the signature.
        """

    @abc.abstractmethod
    def _call(self, name: str, tensors: Mapping[str, tf.Tensor]) -> dict[str, npt.NDArray[Any]]:
        """Returns the outputs of a signature for its inputs by name."""

    def _described(self, name: str) -> dict[str, Any]:
        return self._descriptions.get(name, {})

    @property
    def mask(self) -> str:
        """The piece for a hidden word in the texts of `fill_mask`, such as `[MASK]`."""
        return self._described("fill_mask").get("needs") or MASK

    def fill_mask(self, texts: Sequence[str]) -> list[list[list[Candidate]]]:
        """Returns, for each text, the candidates for each of its masks, the most probable first.

        Args:
            texts: Texts with the model's `mask`.

        Raises:
            ValueError: if the model has no such signature.
        """
        outputs = self._ask("fill_mask", texts)
        return [
            [
                [
                    Candidate(piece.decode("utf-8", "replace"), float(score))
                    for piece, score in zip(pieces, scores)
                ]
                for pieces, scores in zip(row_pieces[:count], row_scores[:count])
            ]
            for row_pieces, row_scores, count in zip(
                outputs["pieces"], outputs["scores"], outputs["mask_count"]
            )
        ]

    def embed(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """Returns one vector of each text, float32 [texts, width].

        Args:
            texts: Texts to embed.

        Raises:
            ValueError: if the model has no such signature.
        """
        return self._ask("embed", texts)["embedding"]

    def score(self, texts: Sequence[str], targets: Sequence[str] | None = None) -> list[Scored]:
        """Returns the probability of each text, or of each target after the text of the same place.

        Args:
            texts: Texts to score, or to score targets after.
            targets: Texts that are scored; None for a model that scores texts alone.

        Raises:
            ValueError: if the model has no such signature, or needs targets, or takes none.
        """
        outputs = self._ask("score", texts, targets)
        counts = outputs["token_count"]
        # What an earlier version exported says only how many were scored.
        read, given = (outputs.get(name, counts) for name in ("tokens_read", "tokens_given"))
        return [
            Scored(
                float(total),
                [piece.decode("utf-8", "replace") for piece in pieces[:count]],
                [float(value) for value in values[:count]],
                int(of_read),
                int(of_given),
            )
            for total, pieces, values, count, of_read, of_given in zip(
                outputs["log_probability"],
                outputs["pieces"],
                outputs["log_probabilities"],
                counts,
                read,
                given,
            )
        ]

    def ask(
        self,
        name: str,
        texts: Sequence[Text],
        targets: Sequence[str] | None = None,
        parameters: Any = None,
        **others: Sequence[Text],
    ) -> list[dict[str, Any]]:
        """Returns the outputs of any signature for each text, by name, as plain values.

        Args:
            name: The signature's name.
            texts: The texts; lists of words, which the signature that it names as `words_by` is asked about.
            targets: A target for each text, if the signature takes them.
            parameters: Values of the signature's parameters by name, such as `temperature`: a number, or one
                for each text. The others have their defaults.
            **others: A text for each text of every other input of the signature, by its name, such as `pair`,
                or a list of texts, such as `choices`; an input that takes names, such as `task`, may be left
                out.

        Raises:
            ValueError: if the model has no such signature, or it has other inputs, or an input takes no such
                name, or it lacks a parameter, and for a value out of its range.
        """
        return plain_rows(self._ask(name, texts, targets, parameters, **others), len(texts))

    def check(self, name: str, targets: Sequence[str] | None = None, **others: Sequence[Text]) -> None:
        """Passes if a signature can be asked with these inputs next to the texts.

        Args:
            name: Name of the signature.
            targets: A target for each text; None if there are none.
            **others: A text for each text of every other input, by its name.

        Raises:
            ValueError: if the model has no such signature, or it has other inputs.
        """
        reads = self.inputs(name)
        whole = name.removesuffix(WITH_PARAMETERS)
        if whole != name and reads:
            raise ValueError(f"ask the signature {whole}, with values of its parameters")
        if not reads:
            nearest = _nearest(name, self._names) if self._names else "it has none"
            raise ValueError(f"{self.title} has no signature {name}; {nearest}")
        choices, first, free = self._choices(name), self.first_input(name), self._left_out(name)
        given = {first, *others, *(["target"] if targets is not None else [])}
        if set(reads) != given | free:
            needed = [each for each in reads if each != first and each not in free]
            wanted = " and ".join(f"a {each} for each text" for each in needed)
            raise ValueError(f"{self.title}: the signature {name} takes {wanted or 'texts alone'}")
        for each, known in choices.items():
            for said in others.get(each, ()):
                if said and str(said) not in known:
                    raise ValueError(
                        f"{self.title}: there is no {each} {said!r}; {_nearest(str(said), known)}"
                    )

    def asked(self, name: str, texts: Sequence[Text]) -> str:
        """Returns the signature that is asked about some texts: of two, that of texts or that of lists.

        Args:
            name: Name of the signature.
            texts: Texts, or lists of words.
        """
        other = "texts_by" if texts and isinstance(texts[0], str) else "words_by"
        return self._described(name).get(other) or name

    def first_input(self, name: str) -> str:
        """Returns the name of the input that a signature reads first: `text`, or else a list.

        Args:
            name: Name of the signature.
        """
        reads = self.inputs(name)
        return next((each for each in self._described(name).get("lists", ()) if "text" not in reads), "text")

    def _choices(self, name: str) -> dict[str, list[str]]:
        """Returns the names that inputs of a signature take, by the inputs, which may be left out."""
        return self._described(name).get("choices", {})

    def _left_out(self, name: str) -> set[str]:
        """Returns the inputs of a signature that may be left out."""
        return {*self._choices(name), *self._described(name).get("optional", ())}

    def _ask(
        self,
        name: str,
        texts: Sequence[Text],
        targets: Sequence[str] | None = None,
        parameters: Any = None,
        **others: Sequence[Text],
    ) -> dict[str, npt.NDArray[Any]]:
        return self._call(*self.request(name, texts, targets, parameters, **others))

    def request(
        self,
        name: str,
        texts: Sequence[Text],
        targets: Sequence[str] | None = None,
        parameters: Any = None,
        **others: Sequence[Text],
    ) -> tuple[str, dict[str, tf.Tensor]]:
        """Returns the name of the signature that is asked, and its inputs by name.

        Args:
            name: Name of a signature, as in `ask`.
            texts: Texts, or lists of words.
            targets: A target for each text.
            parameters: Values of parameters by name.
            **others: A text for each text of every other input.

        Raises:
            ValueError: as `ask` does.
        """
        name = self.asked(name, texts)
        self.check(name, targets, **others)
        left_out = {each: [""] * len(texts) for each in self._left_out(name)}
        first = {self.first_input(name): texts}
        given = {**left_out, **first, **others, **({} if targets is None else {"target": targets})}
        lists = self._described(name).get("lists", ())
        tensors = {key: self._tensor(key, values, key in lists) for key, values in given.items()}
        if parameters:
            numbers = values_of(self._described(name).get("parameters", {}), parameters, len(texts))
            tensors |= {key: tf.constant(values) for key, values in numbers.items()}
            name = f"{name}{WITH_PARAMETERS}"
        return name, tensors

    def _tensor(self, name: str, values: Sequence[Text], are_lists: bool) -> tf.Tensor:
        """Returns the values of an input as a tensor: lists with empty texts after those that are shorter."""
        for each in values:
            if isinstance(each, str) == are_lists:
                wanted = "a list of texts" if are_lists else "a text"
                raise ValueError(f"{self.title}: {name} takes {wanted} for each record, not {each!r}")
            if are_lists and "" in each:
                raise ValueError(f"{self.title}: {name}: a text of {each!r} is empty")
        if not are_lists:
            return tf.constant(list(values), tf.string)
        longest = max(map(len, values), default=0)
        rows = [[*each, *[""] * (longest - len(each))] for each in values]
        return tf.constant(rows, tf.string, [len(rows), longest])


def plain_rows(outputs: Mapping[str, npt.NDArray[Any]], rows: int) -> list[dict[str, Any]]:
    """Returns the outputs of each row by name, as plain values.

    Args:
        outputs: Outputs, [rows, ...].
        rows: Number of the first rows that are returned.

    Example:

    >>> plain_rows({"score": np.array([0.5, 1.0])}, 2)
    [{'score': 0.5}, {'score': 1.0}]
    """
    return [{key: plain(values[row]) for key, values in outputs.items()} for row in range(rows)]


def plain(values: Any) -> Any:
    """Returns an array's row as lists, numbers and strings."""
    if isinstance(values, np.ndarray | np.generic):
        has_texts = values.dtype.kind in "OSU"
        values = values.tolist()
        if not has_texts:
            return values
    if isinstance(values, list):
        return [plain(each) for each in values]
    return values.decode("utf-8", "replace") if isinstance(values, bytes) else values


def _nearest(given: str, known: Iterable[str]) -> str:
    # `firth.recipes` takes long to load, and only messages need a part of it.
    from firth.recipes.base.errors import suggest

    return suggest(given, known)
