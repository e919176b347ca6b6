"""Held-out losses while a model trains on JAX."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.models import example_sums
from firth.recipes.run.run_recipe import RunRecipe
from firth.training.held_out import first_documents, first_rows, means_of
from firth.training.held_out_samples import Compiled, Features, sampler


class JaxHeldOut:
    """The held-out losses of a model on JAX, as `firth.training.held_out.HeldOut` has them, and samples.

    Raises:
        RowsError: naming a file that cannot be read, or ends too early.
    """

    def __init__(
        self, model: keras.Model, tokenizer: Any, recipe: RunRecipe, patterns: Sequence[str]
    ) -> None:
        self._rows = first_rows(patterns, recipe.training.eval_rows)
        self._model, self._tokenizer, self._recipe = model, tokenizer, recipe
        self._sums_of = jax.jit(self._sums)
        self._batches: list[dict[str, npt.NDArray[Any]]] = []
        self._samples: Callable[[], list[dict[str, Any]]] | None = None

    def __call__(self) -> dict[str, Any]:
        """Returns `held_out_loss`, `held_out_<loss>_loss` of each loss, in nats, and `samples`.

        Where there are no rows, nothing is returned.
        """
        if not self._rows:
            return {}
        self._batches = self._batches or self._read()
        model = self._model
        values = [
            [each.value for each in part]
            for part in (model.trainable_variables, model.non_trainable_variables)
        ]
        parts = [self._sums_of(*values, batch) for batch in self._batches]
        sums = {name: sum(float(part[name]) for part in parts) for name in parts[0]}
        self._samples = self._samples or self._sampler()
        return {**means_of(sums, self._recipe), "samples": self._samples()}

    def _sampler(self) -> Callable[[], list[dict[str, Any]]]:
        from firth.serving.served import Served

        served = Served(self._model, self._tokenizer, self._recipe)
        return sampler(served, first_documents(self._rows), self._compiled)

    def _compiled(self, function: Callable[[Mapping[str, Any]], Any]) -> Compiled:
        """Returns a function of features that calls the model by its weights at each call."""
        variables = self._model.variables

        @jax.jit
        def run(values: list[jax.Array], features: Features) -> Any:
            pairs = list(zip(variables, values, strict=True))
            with keras.StatelessScope(state_mapping=pairs):
                return function(features)

        return lambda features: np.asarray(run([each.value for each in variables], features))

    def _read(self) -> list[dict[str, npt.NDArray[Any]]]:
        from firth.serving.evaluate import features_reader
        from firth.serving.served import Served

        read = tf.function(
            features_reader(Served(self._model, self._tokenizer, self._recipe)),
            input_signature=[tf.TensorSpec([None], tf.string)],
            autograph=False,
        )
        size = self._recipe.evaluation.batch_size
        starts = range(0, len(self._rows), size)
        made = [read(tf.constant(self._rows[start : start + size])) for start in starts]
        return [{name: value.numpy() for name, value in batch.items()} for batch in made]

    def _sums(
        self, trained: list[jax.Array], others: list[jax.Array], batch: Mapping[str, jax.Array]
    ) -> dict[str, jax.Array]:
        predictions, _ = self._model.stateless_call(trained, others, batch, training=False)
        return {name: jnp.sum(value) for name, value in example_sums(predictions).items()}
