"""The signature `evaluate`, and settings that a task chooses by it on held-out records."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.models import example_sums
from firth.models.predictions import Predictions
from firth.recipes.run.run_recipe import RunRecipe
from firth.scores import Collected
from firth.serving.encoding import parse_rows
from firth.serving.served_model import Served
from firth.serving.task_signatures.row_answers import ROW_ANSWERS, answer_rows
from firth.tasks import TASKS
from firth.tokenizers.storage import AnyTokenizer

Outputs = dict[str, tf.Tensor]


def evaluator(
    served: Served, unigram: npt.NDArray[Any] | None, answering: bool = True
) -> Callable[[tf.Tensor], Outputs]:
    """Returns a function from serialized rows, string [batch], to tensors [batch, ...] by name.

    There are the sums of `firth.models.predictions`, float32 [batch]; if the main loss runs over the
    vocabulary, those of `text_sums`; and if the task has `answers` or `answers_of_losses`, the tensors that
    these make of a row, from which scores are computed. Masks and pairs are drawn from (recipe seed, example
    id), and a row's negative row is stored with it, so a row's outputs depend neither on its batch nor on the
    run. However many rows are asked for at once, the model sees `recipe.evaluation.batch_size` at a time.

    Args:
        unigram: Log probabilities of the unigram distribution, float32 [vocabulary]; None for a goal whose
            main loss does not run over the vocabulary.
    """
    recipe, goal = served.recipe, served.recipe.goal
    make = served.features_function()
    read = _row_reader(served, make)
    written = getattr(goal, "answered_by", "") in ROW_ANSWERS and answering
    token_bytes = None if unigram is None else bytes_of_tokens(served.tokenizer)
    answers = getattr(make, "answers", None) if answering else None
    of_losses = getattr(make, "answers_of_losses", None) if answering and goal.score_names else None

    def evaluate(examples: tf.Tensor) -> Outputs:
        rows, batch = read(examples)
        if answers is not None:
            logits = served.model.logits(batch, training=False)
            has_all = goal.losses.keys() <= logits.keys()
            predicted = served.model.heads.predictions_of(logits, batch) if has_all else None
            sums = example_sums(predicted or served.model(batch, training=False))
            scores = {name: served.model.heads.answer_scores(each, batch) for name, each in logits.items()}
            return {**sums, **answers(rows, batch, scores)}
        predictions = served.model(batch, training=False)
        sums = example_sums(predictions)
        if written:
            details = tf.io.parse_example(examples, {names.RECORD_DETAILS: tf.io.RaggedFeature(tf.string)})
            sums |= answer_rows(served, {**rows, **details})
        if unigram is None or token_bytes is None:
            return sums
        main = predictions[goal.main_loss]
        if of_losses is not None:
            ids = batch[names.LABEL_IDS]
            is_text = tf.cast(tf.gather(tf.constant(token_bytes), ids) > 0, tf.float32)
            by_frequency = -tf.gather(tf.constant(unigram), ids)
            sums |= of_losses(rows, batch, main.losses, by_frequency, is_text)
        return {**sums, **text_sums(batch, main, unigram, token_bytes)}

    def evaluate_in_chunks(examples: tf.Tensor) -> Outputs:
        return in_chunks(evaluate, examples, recipe.evaluation.batch_size)

    return evaluate_in_chunks


def features_reader(served: Served) -> Callable[[tf.Tensor], Outputs]:
    """Returns a function from serialized rows, string [batch], to the features that `evaluator` reads."""
    read = _row_reader(served, served.features_function())
    return lambda examples: read(examples)[1]


def _row_reader(served: Served, make: Any) -> Callable[[tf.Tensor], tuple[dict[str, Any], Outputs]]:
    """Returns a function from serialized rows to their fields and to what a goal's function makes of them."""
    recipe = served.recipe
    specs = recipe.goal.row_specs(recipe.sequences, recipe.tokenizer.max_characters)
    outputs = {name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in make.specs().items()}

    # Where operations run one by one, AutoGraph would look through the objective.
    @tf.autograph.experimental.do_not_convert
    def features(row_and_negative: tuple[dict[str, tf.Tensor], dict[str, tf.Tensor]]) -> Outputs:
        row, negative = row_and_negative
        seed = tf.stack([tf.constant(recipe.seed, tf.int64), row[names.EXAMPLE_ID]])
        return make(row, negative, seed)

    def read(examples: tf.Tensor) -> tuple[dict[str, Any], Outputs]:
        rows, negatives = parse_rows(examples, specs)
        rows[names.RAW_TOKENS] = _known(rows[names.RAW_TOKENS], recipe.tokenizer.vocabulary_size)
        return rows, tf.map_fn(features, (rows, negatives), fn_output_signature=outputs)

    return read


def _known(ids: tf.Tensor, vocabulary_size: int) -> tf.Tensor:
    """Refuses pieces of another tokenizer, which a gather on an accelerator would read as zeros."""
    message = f"a row holds pieces that this model's vocabulary of {vocabulary_size} does not have"
    with tf.control_dependencies([tf.debugging.assert_less(ids, vocabulary_size, message)]):
        return tf.identity(ids)


def in_chunks(function: Callable[[tf.Tensor], Outputs], values: tf.Tensor, size: int | tf.Tensor) -> Outputs:
    """Applies a function to at most `size` values at a time, and joins the results.

    Args:
        function: Function from [chunk] values to [chunk, ...] tensors by name, of any dtype and shape. In a
            graph it is traced once; where operations run one by one, as with an engine that has no graph, it
            is called as it is.
        values: Values, [batch], of any length.
    """
    # One chunk even of nothing, so that an empty batch has an answer.
    if tf.executing_eagerly():
        starts = range(0, max(len(values), 1), int(size))
        parts = [function(values[start : start + int(size)]) for start in starts]
        return {name: tf.concat([each[name] for each in parts], axis=0) for name in parts[0]}
    traced = tf.function(function, autograph=False).get_concrete_function(
        tf.TensorSpec([None, *values.shape[1:]], values.dtype)
    )
    made = traced.structured_outputs
    total = tf.shape(values)[0]
    chunks = tf.maximum((total + size - 1) // size, 1)
    arrays = [
        tf.TensorArray(each.dtype, chunks, infer_shape=False, element_shape=[None, *each.shape[1:]])
        for each in made.values()
    ]

    def body(index: tf.Tensor, arrays: list[tf.TensorArray]) -> tuple[tf.Tensor, list[tf.TensorArray]]:
        outputs = traced(values[index * size : (index + 1) * size])
        return index + 1, [array.write(index, outputs[name]) for name, array in zip(made, arrays)]

    _, arrays = tf.while_loop(lambda index, _: index < chunks, body, [0, arrays], parallel_iterations=1)
    return {name: array.concat() for name, array in zip(made, arrays)}


# Where an objective puts the tokens that its main loss predicts, and their weights.
_LABELS = (
    (names.MASKED_LABELS, names.MASKED_WEIGHTS),
    (names.LABEL_IDS, names.LABEL_WEIGHTS),
    (names.BACKWARD_LABEL_IDS, names.BACKWARD_LABEL_WEIGHTS),
)


def text_sums(
    batch: dict[str, tf.Tensor], main: Predictions, unigram: npt.NDArray[Any], token_bytes: npt.NDArray[Any]
) -> dict[str, tf.Tensor]:
    """Returns the losses of the model and of a unigram model on the same predicted text.

    Only tokens with text count: a sentinel or the end of a document has no bytes, and a model of
    counts knows nothing of them, so that with them no two objectives would compare.

    Args:
        unigram: Log probabilities, float32 [vocabulary].
        token_bytes: Bytes of each token, float32 [vocabulary], as `bytes_of_tokens` returns them.

    Returns:
        `text_loss_sum` and `unigram_loss_sum` (nats), `text_weight_sum` and `bytes_sum`, float32 [batch].
    """
    labels = [(batch[ids], batch[weights]) for ids, weights in _LABELS if ids in batch]
    ids, weights = (tf.concat(parts, axis=1) for parts in zip(*labels))
    sizes = tf.gather(tf.constant(token_bytes), ids)
    weights = tf.where(sizes > 0, weights, 0.0)
    values = {
        names.TEXT_LOSS_SUM: main.losses,
        names.TEXT_WEIGHT_SUM: tf.ones_like(weights),
        names.UNIGRAM_LOSS_SUM: -tf.gather(tf.constant(unigram), ids),
        names.BYTES_SUM: sizes,
    }
    return {name: tf.reduce_sum(value * weights, axis=1) for name, value in values.items()}


def bytes_of_tokens(tokenizer: AnyTokenizer) -> npt.NDArray[Any]:
    """Returns the number of UTF-8 bytes of each token's text: float32 [vocabulary].

    A space counts if it is part of a token, as with byte-pair encoding and SentencePiece; spaces between
    words that are in no token do not count. Special tokens have no text.
    """
    table = np.array([len(text) for text in tokenizer.piece_texts], np.float32)
    table[list(tokenizer.special_ids)] = 0.0
    return table


def leaves_choice(recipe: RunRecipe) -> bool:
    """Returns whether a recipe's task has a setting that is chosen on held-out records."""
    return bool(getattr(recipe.goal, "leaves_choice", False))


def with_choice(served: Served, rows: Sequence[bytes]) -> RunRecipe:
    """Returns the recipe of a trained model with the settings that its task chooses on held-out records."""
    recipe: Any = served.recipe
    examples = answers_to(served, rows)
    return recipe.model_copy(update={"task": TASKS[recipe.task.kind].choosing(recipe.task, examples)})


def answers_to(served: Served, rows: Sequence[bytes]) -> list[Collected]:
    """Returns the records of rows with a trained model's answers, as the task's `collected` gives them."""
    recipe: Any = served.recipe
    evaluate = tf.function(evaluator(served, None), autograph=False)
    examples: list[Collected] = []
    for start in range(0, len(rows), recipe.evaluation.batch_size):
        batch = list(rows[start : start + recipe.evaluation.batch_size])
        outputs = {name: value.numpy() for name, value in evaluate(tf.constant(batch)).items()}
        of_rows = ({name: value[place] for name, value in outputs.items()} for place in range(len(batch)))
        examples += itertools.chain.from_iterable(
            _collected(recipe.task, row, outputs) for row, outputs in zip(batch, of_rows)
        )
    return examples


def _collected(task: Any, row: bytes, outputs: dict[str, npt.NDArray[Any]]) -> list[Collected]:
    features = tf.train.Example.FromString(row).features.feature
    details, source = (features[name].bytes_list.value for name in (names.RECORD_DETAILS, names.SOURCE))
    held = {**outputs, names.RECORD_DETAILS: np.array(list(details), object)}
    return TASKS[task.kind].collected(task, held, b"".join(source).decode())


def unigram_log_probabilities(counts: npt.NDArray[Any], vocabulary_size: int) -> npt.NDArray[Any]:
    """Smooths counts by adding one to each piece (Laplace's rule).

    Args:
        counts: Number of occurrences of each piece in the training split, int64 [rows]. Rows after the
            vocabulary must be zero.

    Returns:
        float32 [vocabulary_size], natural logarithms of probabilities that sum to one.

    Example:

    >>> np.exp(unigram_log_probabilities(np.array([0, 2, 0]), 2)).round(2).tolist()
    [0.25, 0.75]
    """
    counts = np.asarray(counts, np.int64)
    if counts.ndim != 1 or len(counts) < vocabulary_size:
        raise ValueError(
            f"unigram counts of shape {counts.shape} for a vocabulary of {vocabulary_size} pieces"
        )
    if counts.min(initial=0) < 0 or counts[vocabulary_size:].any():
        raise ValueError(f"unigram counts are negative, or not zero after the {vocabulary_size} pieces")
    smoothed = counts[:vocabulary_size].astype(np.float64) + 1.0
    return np.log(smoothed / smoothed.sum()).astype(np.float32)
