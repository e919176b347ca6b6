"""The generator of Keras models: writes texts after prompts, in compiled graphs."""

import functools
import itertools
import operator
import os
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from firth.constraints.constraint_cache import ConstraintCache
from firth.constraints.token_bytes import TokenBytes
from firth.generation.constrained_batch import ConstrainedBatch, compiled_constraint, write_constrained
from firth.generation.controls import Controls, controls_of
from firth.generation.framing import framing_of
from firth.generation.readers import reader_of
from firth.generation.results import Blocks, TextInProgress
from firth.generation.samplers import SAMPLERS
from firth.generation.streamed_batch import StreamedBatch, handed_over
from firth.generation.text_generator import BETWEEN_LOOKS, TextGenerator
from firth.generation.token_reader import Prompts, TokenReader
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import load_model, read_recipe
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers.storage import AnyTokenizer, load_tokenizer


class Generator(TextGenerator):
    """Writes texts with one model.

    A graph serves all prompts up to a power of two of tokens, and is kept.

    Args:
        model: Model that `firth.models.build_model` made of the recipe.
        tokenizer: Its tokenizer.
        recipe: Recipe of the run.

    Raises:
        ValueError: if the model does not write.

    Example:

        generator = load_generator("firth-runs/gpt2_small/bundle")
        print(generator.generate("The fox", temperature=0.8, top_p=0.9, seed=1).text)
        for piece in generator.stream("The fox"):
            print(piece, end="", flush=True)
    """

    def __init__(self, model: BackboneWithHeads, tokenizer: AnyTokenizer, recipe: RunRecipe) -> None:
        self.model, self.tokenizer, self.recipe = model, tokenizer, recipe
        self.framing = framing_of(recipe, tokenizer)
        self.reader = reader_of(model, tokenizer, self.framing.start)
        self._made: dict[Any, Any] = {}
        # The constraints of batches that are being written, which their graphs look up by number.
        self._batches: dict[int, ConstrainedBatch] = {}
        # The batches that are being streamed, in the same way.
        self._streams: dict[int, StreamedBatch] = {}
        self._numbers = itertools.count()

    @functools.cached_property
    def _constraints(self) -> ConstraintCache:
        framing = self.framing
        return ConstraintCache(lambda: TokenBytes.of(self.tokenizer, framing.may_write, framing.end_id))

    def check(self, request: GenerationRequest) -> None:
        """Raises an error if a request has a value that the model cannot honour.

        Args:
            request: Request to check.

        Raises:
            ValueError: if it cannot, naming the value.
        """
        super().check(request)
        compiled_constraint(request, self._constraints)

    @property
    def predicts_prompt(self) -> bool:  # type: ignore[override]
        """True if it can return the probabilities of a prompt's tokens."""
        return self.reader.predicts_prompt

    def shared(self, text: TextInProgress) -> Hashable:
        """Returns the key of texts that can be written together.

        Args:
            text: A text of which nothing is written yet.
        """
        return (*text.request.sampler.fixed, text.request.constraint is None)

    def blocks(self, texts: Sequence[TextInProgress], steps: int | None = None) -> Blocks:
        """Writes texts whose samplers share a graph, and yields after each block of tokens.

        Args:
            texts: The texts.
            steps: Tokens of a block; None for the fastest number.
        """
        prompts = self.framing.batch([each.prompt for each in texts])
        controls = controls_of([each.request for each in texts], self.tokenizer)
        controls = controls._replace(most=tf.constant([each.most for each in texts], tf.int32))
        sampler, held = texts[0].request.sampler, None
        if texts[0].request.constraint is not None:
            held = ConstrainedBatch(self._constraints, texts, sampler.texts_of_row)
            controls = controls._replace(mask=tf.constant(held.mask))
        # Errors of a request are raised by the call, not by the first piece.
        return self._written(texts, prompts, controls, held, steps)

    def _written(
        self,
        texts: Sequence[TextInProgress],
        prompts: Prompts,
        controls: Controls,
        held: ConstrainedBatch | None,
        steps: int | None,
    ) -> Blocks:
        sampler, room = texts[0].request.sampler, max(each.most for each in texts)
        decoding, start, go_on, stream = self._functions(sampler, prompts, controls, room)
        writing, scores = start(prompts, controls, tf.constant(any(each.scores_prompt for each in texts)))
        looks = any(each.request.stop for each in texts)
        steps = steps or (BETWEEN_LOOKS if looks else room)
        for row, text in enumerate(texts):
            text.take_prompt(scores[row].numpy())
        number = next(self._numbers)
        if held is not None:
            self._batches[number] = held
        if steps == 1:
            self._streams[number] = StreamedBatch(len(texts))
        try:
            _take(texts, decoding.texts(writing))
            yield
            if steps == 1 and not all(text.has_ended for text in texts):
                streamed, shape = self._streams[number], decoding.texts(writing)
                streamed.end([text.has_ended for text in texts])
                asked = (controls, tf.constant(room), tf.constant(number, tf.int64))
                for written in streamed.read(functools.partial(stream, writing, *asked)):
                    _take(texts, tf.nest.pack_sequence_as(shape, written))
                    streamed.end([text.has_ended for text in texts])
                    yield
            while not all(text.has_ended for text in texts):
                writing = decoding.with_ended(writing, tf.constant([text.has_ended for text in texts]))
                writing = go_on(writing, controls, tf.constant(steps), tf.constant(number, tf.int64))
                _take(texts, decoding.texts(writing))
                yield
        finally:
            self._batches.pop(number, None)
            self._streams.pop(number, None)

    def _functions(
        self, sampler: Any, prompts: Prompts, controls: Controls, room: int
    ) -> tuple[Any, "_Graph", "_Graph", "_Graph"]:
        """Returns the decoding of a sampler, and its graphs for such prompts, and texts up to some length.

        The first graph begins texts, the second one continues them, and the third one streams them.
        """
        room = 1 << (room - 1).bit_length()
        single = prompts.ids.shape[0] == 1
        sizes = (prompts.ids.shape[1], controls.biases.shape[1], *controls.mask.shape[1:])
        key = (*sampler.fixed, single, *sizes, room)
        if key not in self._made:
            decoding = self._decoding(sampler)

            def start(prompts: Prompts, controls: Controls, scores: tf.Tensor) -> tuple[Any, tf.Tensor]:
                writing, states = decoding.start(prompts, controls, room)
                return writing, prompt_log_probabilities(self.reader, prompts, states, scores)

            def go_on(
                writing: Any, controls: Controls, steps: tf.Tensor, number: tf.Tensor, **watch: Any
            ) -> Any:
                if controls.mask.shape[2]:
                    return write_constrained(
                        decoding, self._batches, writing, controls, steps, number, **watch
                    )
                return decoding.go_on(writing, controls, steps, **watch)

            def stream(writing: Any, controls: Controls, steps: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
                watch = functools.partial(handed_over, decoding, self._streams, number)
                return go_on(writing, controls, steps, number, watch=watch).ended

            graphs = (_Graph(each, single) for each in (start, go_on, stream))
            self._made[key] = (decoding, *graphs)
        return self._made[key]

    def _decoding(self, sampler: Any) -> Any:
        """Returns the decoder of a sampler; see `SAMPLERS`."""
        framing = self.framing
        return SAMPLERS[sampler.kind](self.reader, framing.end_id, framing.may_write, sampler)


def _take(texts: Sequence[TextInProgress], written: Any) -> None:
    """Stores all that has been written of texts so far."""
    arrays = tf.nest.map_structure(np.asarray, written)
    for row, text in enumerate(texts):
        text.take(tf.nest.map_structure(operator.itemgetter(row), arrays))


class _Graph:
    """A function of a batch, compiled once: for one row, or for any number of rows."""

    def __init__(self, function: Callable[..., Any], single: bool) -> None:
        self._function, self._single = function, single
        self._compiled: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self._compiled is None:
            signature = tf.nest.map_structure(self._spec, arguments)
            self._compiled = tf.function(self._function, input_signature=signature, autograph=False)
        return self._compiled(*arguments)

    def _spec(self, tensor: tf.Tensor) -> tf.TensorSpec:
        rows = [] if tensor.shape.rank == 0 else [tensor.shape[0] if self._single else None]
        return tf.TensorSpec([*rows, *tensor.shape[1:]], tensor.dtype)


# Number of places whose logits are in memory at once.
_AT_ONCE = 64


def prompt_log_probabilities(
    reader: TokenReader, prompts: Prompts, states: tf.Tensor, wanted: tf.Tensor
) -> tf.Tensor:
    """Returns the logarithm of each token's probability after those before it, float32 [batch, length].

    The first token's is 0, and so are those of padding. Every token of the vocabulary counts.

    Args:
        states: States that `begin` returned, float [batch, length, width].
        wanted: True to compute them, bool []; otherwise all are 0.
    """
    if not reader.predicts_prompt:
        return tf.zeros(tf.shape(prompts.ids))

    def scored() -> tf.Tensor:
        length = tf.shape(prompts.ids)[1]
        found = tf.TensorArray(
            tf.float32, 0, dynamic_size=True, infer_shape=False, element_shape=[None, None]
        )

        def body(place: tf.Tensor, found: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            end = tf.minimum(place + _AT_ONCE, length - 1)
            logits, ids = reader.logits(states[:, place:end]), prompts.ids[:, place + 1 : end + 1]
            chosen = tf.gather(logits, ids, batch_dims=2) - tf.reduce_logsumexp(logits, axis=2)
            return place + _AT_ONCE, found.write(place // _AT_ONCE, tf.transpose(chosen))

        _, found = tf.while_loop(lambda place, _: place < length - 1, body, (tf.constant(0), found))
        joined = tf.pad(tf.transpose(found.concat()), [[0, 0], [1, 0]])
        real = tf.sequence_mask(prompts.lengths, length)
        return tf.where(real, joined, 0.0)

    return tf.cond(wanted & (tf.shape(prompts.ids)[1] > 1), scored, lambda: tf.zeros(tf.shape(prompts.ids)))


def keras_generator(model: BackboneWithHeads, tokenizer: AnyTokenizer, recipe: RunRecipe) -> TextGenerator:
    """Returns the generator of a model on the backend that Keras runs on; see `Generator`."""
    if keras.backend.backend() == "tensorflow":
        return Generator(model, tokenizer, recipe)
    from firth.generation.eager.generator import EagerGenerator

    return EagerGenerator(model, tokenizer, recipe)


def generator_of(folder: str | os.PathLike[str], dtype: Any = None) -> TextGenerator:
    """Returns the generator of a bundle, which runs the Keras model."""
    tokenizer = load_tokenizer(os.path.join(folder, TOKENIZER_FOLDER))
    return keras_generator(model_of(folder, dtype), tokenizer, read_recipe(folder))


# Each engine has these two names; `firth.generation.engines` looks them up.
model_of = load_model
