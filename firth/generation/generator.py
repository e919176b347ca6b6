"""Text in and text out: a model with its tokenizer, which writes after prompts."""

import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from firth import storage
from firth.generation.controls import Controls, controls_of
from firth.generation.prompt_scores import prompt_log_probabilities
from firth.generation.readers import reader_of
from firth.generation.reading import Prompts
from firth.generation.results import Generated, TextInProgress, TextStream
from firth.generation.samplers import SAMPLERS
from firth.generation.turns import framing_of
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import load_model, read_recipe
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers.storage import AnyTokenizer, load_tokenizer

# Tokens between two looks at the text, where it may end at a stop.
_BETWEEN_LOOKS = 8

Requests = GenerationRequest | Mapping[str, Any] | Sequence[GenerationRequest] | None


class Generator:
    """Writes texts with one model.

    Graphs are made once for all prompts up to a power of two of tokens, and kept.

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

    def generate(self, prompts: Any, requests: Requests = None, **values: Any) -> Any:
        """Returns what is written after a prompt, or after each of several.

        Args:
            prompts: A text, or a list of texts. Bytes must be UTF-8.
            requests: A `GenerationRequest`, or a mapping of its values; or one request for each prompt.
            **values: Values of a request by key, and of its sampler, such as `temperature`.

        Returns:
            A `Generated`, or a list of them.

        Raises:
            ValueError: for a prompt that is empty, is not UTF-8 or is longer than the model's positions, and
                for a value out of its range, each with one sentence.
        """
        if isinstance(prompts, str | bytes):
            return self.generate([prompts], requests, **values)[0]
        texts = self._begun(prompts, requests, values)
        found: list[Generated | None] = [None] * len(texts)
        for group in _groups(texts).values():
            for _ in self._blocks([texts[each] for each in group]):
                pass
            for each in group:
                found[each] = texts[each].result()
        return found

    def reply(self, messages: Sequence[Mapping[str, str]], request: Requests = None, **values: Any) -> Any:
        """Returns the reply of a model that learned dialogues.

        Args:
            messages: Messages of the dialogue, each with its `role` and `content`, the last one of the user.
            request: A `GenerationRequest`, or a mapping of its values.
            **values: Values by key, as of `generate`.

        Returns:
            A `Generated`, whose text is the reply.

        Raises:
            ValueError: as `generate` does; for messages in an order that no dialogue has, and for a model
                that is asked with texts.
        """
        if not self.framing.reads_turns:
            raise ValueError("the model did not learn dialogues: it writes after a text; see generate")
        return self.generate([messages], request, **values)[0]

    def stream(self, prompt: str | bytes, request: Requests = None, **values: Any) -> TextStream:
        """Returns an iterator over the pieces of a text as they are written, whole characters each.

        Args:
            prompt: A text.
            request: A `GenerationRequest`, or a mapping of its values.
            **values: Values by key, as of `generate`.

        Returns:
            The pieces; after the last one its attribute `result` is the `Generated`.

        Raises:
            ValueError: as `generate` does, at once.
        """
        (text,) = self._begun([prompt], request, values)
        return TextStream(text, self._blocks([text], steps=1))

    def _begun(
        self, prompts: Sequence[Any], requests: Requests, values: Mapping[str, Any]
    ) -> list[TextInProgress]:
        asked = _requests(len(prompts), requests, values)
        framed = self.framing.read(prompts) if len(prompts) else []
        for request in asked:
            if request.prompt_log_probabilities and not self.reader.predicts_prompt:
                raise ValueError(
                    "prompt_log_probabilities: the model reads a prompt whole, and predicts none of it"
                )
        return [TextInProgress(self.framing, *each) for each in zip(framed, asked, strict=True)]

    def _blocks(self, texts: Sequence[TextInProgress], steps: int | None = None) -> Iterator[None]:
        """Writes texts whose samplers share a graph, and yields after each block of tokens."""
        prompts = self.framing.batch([each.prompt for each in texts])
        room = max(each.most for each in texts)
        controls = controls_of([each.request for each in texts], self.tokenizer)
        controls = controls._replace(most=tf.constant([each.most for each in texts], tf.int32))
        decoding, start, go_on = self._functions(texts[0].request.sampler, prompts, controls, room)
        writing, scores = start(prompts, controls, tf.constant(any(each.scores_prompt for each in texts)))
        looks = any(each.request.stop for each in texts)
        steps = steps or (_BETWEEN_LOOKS if looks else room)
        for row, text in enumerate(texts):
            text.take_prompt(scores[row].numpy())
        while True:
            written = tf.nest.map_structure(lambda each: each.numpy(), decoding.texts(writing))
            for row, text in enumerate(texts):
                text.take(tf.nest.map_structure(operator.itemgetter(row), written))
            yield
            if all(text.has_ended for text in texts):
                return
            writing = decoding.with_ended(writing, tf.constant([text.has_ended for text in texts]))
            writing = go_on(writing, controls, tf.constant(steps))

    def _functions(
        self, sampler: Any, prompts: Prompts, controls: Controls, room: int
    ) -> tuple[Any, "_Graph", "_Graph"]:
        """Returns the decoding of a sampler, and its graphs for such prompts, and texts up to some length."""
        room = 1 << (room - 1).bit_length()
        single = prompts.ids.shape[0] == 1
        key = (*sampler.fixed, single, prompts.ids.shape[1], controls.biases.shape[1], room)
        if key not in self._made:
            framing = self.framing
            decoding = SAMPLERS[sampler.kind](self.reader, framing.end_id, framing.may_write, sampler)

            def start(prompts: Prompts, controls: Controls, scores: tf.Tensor) -> tuple[Any, tf.Tensor]:
                writing, states = decoding.start(prompts, controls, room)
                return writing, prompt_log_probabilities(self.reader, prompts, states, scores)

            self._made[key] = (decoding, _Graph(start, single), _Graph(decoding.go_on, single))
        made: tuple[Any, _Graph, _Graph] = self._made[key]
        return made


class _Graph:
    """A function of a batch, compiled once: for one row, or for any number of rows.

    Args:
        function: Function of nests of tensors, whose first axis is the batch's.
        single: Whether the batch has one row, for which less is left to be found out in each step.
    """

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


def _requests(count: int, requests: Requests, values: Mapping[str, Any]) -> list[GenerationRequest]:
    if isinstance(requests, Sequence):
        if values or len(requests) != count:
            raise ValueError(
                f"{len(requests)} requests for {count} prompts, with {len(values)} further values"
            )
        return list(requests)
    if isinstance(requests, GenerationRequest):
        return [requests.with_changes(values)] * count
    return [GenerationRequest.with_values({**(requests or {}), **values})] * count


def _groups(texts: Sequence[TextInProgress]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = {}
    for number, text in enumerate(texts):
        groups.setdefault(text.request.sampler.fixed, []).append(number)
    return groups


def load_generator(folder: str | os.PathLike[str], dtype: Any = None) -> Generator:
    """Returns the generator of a bundle. Needs neither TFX nor Beam.

    Args:
        folder: Path of the folder that `firth.models.save_model` wrote.
        dtype: A Keras dtype or policy in the place of the recipe's `training.precision`.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or what wrote it was cut short.
        firth.models.BundleError: if files are missing or damaged.
        firth.tokenizers.TokenizerMismatchError: if the tokenizer's files were changed.
        ValueError: if the model does not write.
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local:
        tokenizer = load_tokenizer(os.path.join(local, TOKENIZER_FOLDER))
        return Generator(load_model(local, dtype), tokenizer, read_recipe(local))


def generate(model: Any, prompts: Any, requests: Requests = None, **values: Any) -> Any:
    """Returns what a model writes after a prompt, or after each of several; see `Generator.generate`.

    For several calls `load_generator` keeps what is loaded and compiled.

    Args:
        model: Path of a bundle, a `Generator`, or an object with `model`, `tokenizer` and `recipe`, such as
            `firth.serving.load_served` returns.
        prompts: A text, or a list of texts.
        requests: A `GenerationRequest`, or a mapping of its values; or one request for each prompt.
        **values: Values of a request by key, and of its sampler.
    """
    if isinstance(model, str | os.PathLike):
        model = load_generator(model)
    elif not isinstance(model, Generator):
        model = Generator(model.model, model.tokenizer, model.recipe)
    return model.generate(prompts, requests, **values)
