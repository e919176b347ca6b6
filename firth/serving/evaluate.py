"""The signature `evaluate`: what each row of a split adds to the metrics."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.features import evaluation_sums
from firth.models import example_sums
from firth.serving.main_loss import bytes_of_tokens, text_sums
from firth.serving.rows import parse_rows
from firth.serving.served import Served

Sums = dict[str, tf.Tensor]


def evaluator(served: Served, unigram: npt.NDArray[Any] | None) -> Callable[[tf.Tensor], Sums]:
    """Returns a function from serialized rows, string [batch], to float32 [batch] sums.

    The sums are those of `firth.models.example_sums` and, if the main loss runs over the vocabulary, of
    `text_sums`. Masks and pairs are drawn from
    (recipe seed, example id), and a row's negative row is stored with it, so a row's sums depend neither on
    its batch nor on the run. However many rows are asked for at once, the model sees
    `recipe.evaluation.batch_size` at a time.

    Args:
        served: Model and tokenizer.
        unigram: Log probabilities of the unigram distribution, float32 [vocabulary]; None for a goal whose
            main loss does not run over the vocabulary.
    """
    recipe, goal = served.recipe, served.recipe.goal
    make = served.features_function()
    specs = goal.row_specs(recipe.sequences, recipe.tokenizer.max_characters)
    token_bytes = None if unigram is None else bytes_of_tokens(served.tokenizer)
    sums_made = evaluation_sums(goal.loss_classes)
    outputs = {name: tf.TensorSpec(spec.shape, spec.dtype) for name, spec in make.specs().items()}

    def features(row_and_negative: tuple[dict[str, tf.Tensor], dict[str, tf.Tensor]]) -> dict[str, tf.Tensor]:
        row, negative = row_and_negative
        seed = tf.stack([tf.constant(recipe.seed, tf.int64), row[names.EXAMPLE_ID]])
        return make(row, negative, seed)

    def evaluate(examples: tf.Tensor) -> Sums:
        rows, negatives = parse_rows(examples, specs)
        rows[names.RAW_TOKENS] = _known(rows[names.RAW_TOKENS], recipe.tokenizer.vocabulary_size)
        batch = tf.map_fn(features, (rows, negatives), fn_output_signature=outputs)
        predictions = served.model(batch, training=False)
        sums = example_sums(predictions)
        if unigram is None or token_bytes is None:
            return sums
        return {**sums, **text_sums(batch, predictions[goal.main_loss], unigram, token_bytes)}

    def evaluate_in_chunks(examples: tf.Tensor) -> Sums:
        return in_chunks(evaluate, examples, recipe.evaluation.batch_size, sums_made)

    return evaluate_in_chunks


def _known(ids: tf.Tensor, vocabulary_size: int) -> tf.Tensor:
    """Refuses pieces of another tokenizer, which a gather on an accelerator would read as zeros."""
    message = f"a row holds pieces that this model's vocabulary of {vocabulary_size} does not have"
    with tf.control_dependencies([tf.debugging.assert_less(ids, vocabulary_size, message)]):
        return tf.identity(ids)


def in_chunks(
    function: Callable[[tf.Tensor], Sums], values: tf.Tensor, size: int, outputs: Sequence[str]
) -> Sums:
    """Applies a function to at most `size` values at a time, and joins the results.

    Args:
        function: Function from [chunk] values to float32 [chunk] tensors by name.
        values: Values, [batch], of any length.
        size: Most values of a chunk.
        outputs: Names of the tensors.
    """
    total = tf.shape(values)[0]
    # One chunk even of nothing, so that an empty batch has an answer.
    chunks = tf.maximum((total + size - 1) // size, 1)
    arrays = [tf.TensorArray(tf.float32, chunks, infer_shape=False, element_shape=[None]) for _ in outputs]

    def body(index: tf.Tensor, arrays: list[tf.TensorArray]) -> tuple[tf.Tensor, list[tf.TensorArray]]:
        sums = function(values[index * size : (index + 1) * size])
        return index + 1, [array.write(index, sums[name]) for name, array in zip(outputs, arrays)]

    _, arrays = tf.while_loop(lambda index, _: index < chunks, body, [0, arrays], parallel_iterations=1)
    return {name: array.concat() for name, array in zip(outputs, arrays)}
