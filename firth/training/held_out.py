"""Held-out losses and samples of predictions while a model trains."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features, storage
from firth.recipes.run.run_recipe import RunRecipe
from firth.training.row_files import RecordsError, records_of
from firth.training.rows import RowsError

_SAMPLES = 3
_SHOWN_TOKENS, _PROPOSED = 24, 3
Features: TypeAlias = Mapping[str, npt.NDArray[Any]]
# Function from features to logits, by the current weights of a model.
Compiled: TypeAlias = Callable[[Features], npt.NDArray[Any]]
Compile: TypeAlias = Callable[[Callable[[Mapping[str, Any]], Any]], Compiled]


class HeldOut:
    """The held-out losses of a model, always over the same rows.

    Masks and pairs of a row follow from (seed, example id), as in the Evaluator, which reports the same
    losses over all rows.

    Raises:
        RowsError: naming a file that cannot be read, or ends too early.

    Example: see `tests/training/held_out_test.py`.
    """

    def __init__(
        self, model: keras.Model, tokenizer: Any, recipe: RunRecipe, patterns: Sequence[str]
    ) -> None:
        self._rows = first_rows(patterns, recipe.training.eval_rows)
        self._parts = model, tokenizer, recipe
        self._made: tuple[Callable[..., dict[str, tf.Tensor]], Callable[[], list[dict[str, Any]]]] | None = (
            None
        )

    def __call__(self) -> dict[str, Any]:
        """Returns `held_out_loss`, `held_out_<loss>_loss` of each loss, in nats, and `samples`.

        Nothing is built before the first call. Where there are no rows, nothing is returned.
        """
        if not self._rows:
            return {}
        if self._made is None:
            self._made = self._make()
        sums_of, samples_of = self._made
        sums: dict[str, float] = defaultdict(float)
        size = self._parts[-1].evaluation.batch_size
        # A request to end is handled between two batches.
        for start in range(0, len(self._rows), size):
            made = sums_of(tf.constant(self._rows[start : start + size]))
            for name, value in made.items():
                sums[name] += float(tf.reduce_sum(value))
        return {**means_of(sums, self._parts[-1]), "samples": samples_of()}

    def _make(self) -> tuple[Callable[..., dict[str, tf.Tensor]], Callable[[], list[dict[str, Any]]]]:
        from firth.serving.evaluate import evaluator
        from firth.serving.served_model import Served

        served = Served(*self._parts)
        goal = served.recipe.goal
        of_text = features.is_over_vocabulary(goal.loss_classes)
        unigram = np.zeros(served.recipe.tokenizer.vocabulary_size, "float32") if of_text else None
        sums_of = tf.function(
            evaluator(served, unigram, answering=False),
            input_signature=[tf.TensorSpec([None], tf.string)],
            autograph=False,
        )
        return sums_of, sampler(served, first_documents(self._rows))


def means_of(sums: Mapping[str, float], recipe: RunRecipe) -> dict[str, float]:
    """Returns `held_out_loss` and each `held_out_<loss>_loss`, in nats; 0 where nothing is predicted."""
    losses = recipe.goal.losses
    weights = {name: sums[f"{name}_weight_sum"] for name in losses}
    means = {name: sums[f"{name}_loss_sum"] / weights[name] if weights[name] else 0.0 for name in losses}
    return {
        "held_out_loss": sum(factor * means[name] for name, factor in losses.items()),
        **{f"held_out_{name}_loss": value for name, value in means.items()},
    }


def first_rows(patterns: Sequence[str], count: int) -> list[bytes]:
    """Returns the first rows of some files, serialized.

    Raises:
        RowsError: naming a file that cannot be read, or ends too early.
    """
    files = storage.glob(*patterns)
    rows: list[bytes] = []
    for path in files:
        rows += _records(path, count - len(rows))
    return rows


def in_graph(function: Callable[[Mapping[str, Any]], Any]) -> Compiled:
    """Returns a function of features, compiled by TensorFlow."""
    compiled = tf.function(function, autograph=False)

    def call(features: Features) -> npt.NDArray[Any]:
        return np.asarray(compiled({name: tf.constant(value) for name, value in features.items()}))

    return call


def sampler(
    served: Any, documents: Sequence[Sequence[int]], compiled: Compile = in_graph
) -> Callable[[], list[dict[str, Any]]]:
    """Returns a function that returns a sample of each document, by the current weights.

    A sample has the `text`, with a mask or up to the hidden piece, that piece as `answer`,
    and the most probable pieces as `proposed`. There are no samples of models that neither fill masks nor
    continue a text.
    """
    from firth.serving.signatures import text_signatures

    signatures = text_signatures(served.recipe, served.tokenizer.mask_token)
    documents = [document[:_SHOWN_TOKENS] for document in documents if len(document) > 1]
    if "fill_mask" in signatures:
        return _masked(served, documents, compiled)
    if "score" in signatures and list(signatures["score"].inputs) == ["text"]:
        return _continued(served, documents, compiled)
    return lambda: []


def _records(path: str, count: int) -> list[bytes]:
    """Returns a file's first records; a file with fewer is checked to be whole."""
    try:
        return list(itertools.islice(records_of(path), count))
    except RecordsError as error:
        raise RowsError(f"{path}: cannot be read: {error}") from error


def first_documents(rows: Sequence[bytes]) -> list[list[int]]:
    """Returns the tokens of the first document of the rows that samples are made of."""
    found = []
    for row in rows[:_SAMPLES]:
        fields = tf.train.Example.FromString(row).features.feature
        length = fields[features.CHUNK_LENGTHS].int64_list.value[0]
        found.append(list(fields[features.RAW_TOKENS].int64_list.value[:length]))
    return found


def _masked(
    served: Any, documents: Sequence[Sequence[int]], compiled: Compile
) -> Callable[[], list[dict[str, Any]]]:
    from firth.serving.fill_mask import encode_masked

    asked = [_mask_middle(served.tokenizer, document) for document in documents]
    if not asked:
        return lambda: []
    read = encode_masked(served, tf.constant([text for text, _ in asked])).features
    features = {name: value.numpy() for name, value in read.items()}
    logits = compiled(lambda features: served.model.logits(features, training=False)["mlm"][:, 0])

    def samples() -> list[dict[str, Any]]:
        return [
            {"text": text, "answer": answer, "proposed": _likeliest(served, row)}
            for (text, answer), row in zip(asked, logits(features), strict=True)
        ]

    return samples


def _mask_middle(tokenizer: Any, document: Sequence[int]) -> tuple[str, str]:
    middle = len(document) // 2
    before, after = (_decoded(tokenizer, part) for part in (document[:middle], document[middle + 1 :]))
    return f"{before} {tokenizer.mask_token} {after}".strip(), _piece(tokenizer, document[middle])


def _continued(
    served: Any, documents: Sequence[Sequence[int]], compiled: Compile
) -> Callable[[], list[dict[str, Any]]]:
    tokenizer, model = served.tokenizer, served.model

    def last_logits(row: Mapping[str, Any]) -> Any:
        return model.heads.project(model.backbone, model.backbone(row, training=False)[:, -1])

    logits = compiled(last_logits)

    def samples() -> list[dict[str, Any]]:
        found = []
        for document in documents:
            row = _row([tokenizer.cls_id, *document[:-1]])
            text, answer = _decoded(tokenizer, document[:-1]), _piece(tokenizer, document[-1])
            found.append({"text": text, "answer": answer, "proposed": _likeliest(served, logits(row)[0])})
        return found

    return samples


def _row(tokens: Sequence[int]) -> Features:
    """Returns the features of one document, int32 [1, tokens] each."""
    return {
        features.TOKEN_IDS: np.array([tokens], "int32"),
        features.POSITION_IDS: np.arange(len(tokens), dtype="int32")[np.newaxis],
        features.DOCUMENT_IDS: np.ones((1, len(tokens)), "int32"),
    }


def _likeliest(served: Any, logits: npt.NDArray[Any]) -> list[str]:
    """Returns the likeliest pieces that may be proposed, the best first, from the logits of all."""
    (pieces,) = np.nonzero(served.proposable())
    # The first of equal ones, as TensorFlow's top_k has it.
    best = np.argsort(-logits.astype("float32")[pieces], kind="stable")[:_PROPOSED]
    return [_piece(served.tokenizer, token) for token in pieces[best]]


def _decoded(tokenizer: Any, tokens: Sequence[int]) -> str:
    return _text(tokenizer.detokenize(tf.ragged.constant([list(map(int, tokens))], tf.int32)).numpy()[0])


def _piece(tokenizer: Any, token: int) -> str:
    return _text(tokenizer.get_vocabulary()[int(token)])


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(np.asarray(value))
