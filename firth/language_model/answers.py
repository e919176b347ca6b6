"""Answers of a language model to texts, each by the graph that its export holds."""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import keras
import numpy as np
import numpy.typing as npt

from firth.generation.engines import ENGINES
from firth.language_model.other_names import OtherName, own_keywords
from firth.language_model.texts import checked_texts
from firth.language_model.types import Answer, Inputs
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.training.export import Export

# A model of features alone runs where Keras has another backend, and TensorFlow is not installed.
if TYPE_CHECKING:
    from firth.generation.results import Generated, TextStream
    from firth.generation.text_generator import TextGenerator
    from firth.language_model.preprocessor import Preprocessor
    from firth.serving.model_client import ModelClient
    from firth.serving.served_model import Served
    from firth.serving.signature_client import Candidate, Scored
    from firth.tokenizers.storage import AnyTokenizer

_BATCH = 32
_Found = TypeVar("_Found")


class TextAnswers(keras.Model):
    """Base of a model that answers texts; a subclass sets `recipe`, `network` and `preprocessor`."""

    recipe: RunRecipe
    network: BackboneWithHeads
    preprocessor: "Preprocessor | None"
    # The bundle that it was opened from, whose weights may be others by now.
    source: str | None = None
    # Arguments of `firth.generation.load_generator`; empty for Keras.
    _engine: Mapping[str, Any] = {}

    encode = OtherName("embed(texts)")
    from_pretrained = OtherName("firth.load(folder)")
    from_preset = OtherName("firth.load(folder), or firth.create(preset) with random weights,")
    merge_and_unload = OtherName("merge()")
    push_to_hub = OtherName("export(folder, format='hf')")
    save_pretrained = OtherName("save(folder), or export(folder, format='hf'),")
    save_to_preset = OtherName("save(folder), or export(folder, format='keras'),")

    @property
    def tokenizer(self) -> "AnyTokenizer":
        """The tokenizer, which is callable and has `detokenize`.

        Raises:
            ValueError: if the model has no preprocessor.
        """
        if self.preprocessor is None:
            raise ValueError(f"{self.recipe.name} has no preprocessor, and reads batches of features alone")
        return self.preprocessor.tokenizer

    @property
    def served(self) -> "Served":
        """Model, tokenizer and recipe, as the signatures of `firth.serving` read them."""
        tokenizer = self.tokenizer
        if self._engine:
            from firth.serving.bundle import load_served

            return load_served(self._bundle(), **self._engine)
        from firth.serving.served_model import Served

        return Served(self.network, tokenizer, self.recipe)

    def run_by(self, engine: str, options: Mapping[str, object]) -> None:
        """Lets another engine than Keras answer; see `firth.load`."""
        chosen = {name: value for name, value in options.items() if value is not None}
        if chosen or engine != next(iter(ENGINES)):
            self._engine = {"engine": engine, **chosen}
            self.forget_graphs()

    def _bundle(self) -> str:
        """Returns the bundle that the model was opened from, which its engine reads.

        Raises:
            ValueError: if there is none.
        """
        if self.source is None:
            raise ValueError(f"{self.recipe.name} has no bundle: save it, and open it with the engine")
        return self.source

    @property
    def signatures(self) -> tuple[str, ...]:
        """Names of the questions that the model answers about texts, such as `fill_mask`."""
        return tuple(self._client.signatures)

    @overload
    def fill_mask(  # type: ignore[overload-overlap]
        self, texts: str, top_k: int | None = None
    ) -> "list[list[Candidate]]": ...
    @overload
    def fill_mask(self, texts: Sequence[str], top_k: int | None = None) -> "list[list[list[Candidate]]]": ...
    @own_keywords
    def fill_mask(
        self, texts: str | Sequence[str], top_k: int | None = None
    ) -> "list[list[Candidate]] | list[list[list[Candidate]]]":
        """Returns the likeliest pieces for each mask of a text, the likeliest first.

        Args:
            texts: A text with the tokenizer's mask, such as `[MASK]`, or a list of them.
            top_k: Number of pieces for each mask; None for the recipe's `export.top_k`.

        Returns:
            For each mask a list of `Candidate(piece, score)`; for a list of texts, a list of these.

        Raises:
            TypeError: for a value that is not a text.
            ValueError: if the model fills no masks, with what it can do, for a text without a mask among the
                tokens that are read, and for a `top_k` below 1.
        """
        client = self._client_for("fill_mask")
        if top_k is not None and top_k != self.recipe.export.top_k:
            client = self._client_with(top_k)
        given = [texts] if isinstance(texts, str) else checked_texts(texts)
        found = client.fill_mask(given)
        for place, (text, masks) in enumerate(zip(given, found, strict=True)):
            if not masks:
                where = "after the last token that is read" if client.mask in text else "missing"
                raise ValueError(f"texts[{place}]: {client.mask} is {where}")
        return found[0] if isinstance(texts, str) else found

    @own_keywords
    def embed(self, texts: str | Sequence[str], batch_size: int = _BATCH) -> npt.NDArray[np.float32]:
        """Returns the vector of a text, float32 [width], or of each of several, float32 [texts, width].

        Args:
            texts: A text, or a list of texts.
            batch_size: Number of texts that are read together; those of similar length share a batch.

        Raises:
            TypeError: for a value that is not a text.
            ValueError: if the model has no encoder, with what it can do.
        """
        client = self._client_for("embed")
        given = [texts] if isinstance(texts, str) else checked_texts(texts)
        order = sorted(range(len(given)), key=lambda each: len(given[each]))
        found: list[Any] = [None] * len(given)
        for places in _chunks(order, batch_size):
            vectors = client.embed([given[each] for each in places])
            for place, vector in zip(places, vectors, strict=True):
                found[place] = vector
        made: npt.NDArray[np.float32] = np.stack(found)
        return made[0] if isinstance(texts, str) else made

    @overload
    def score(  # type: ignore[overload-overlap]
        self, texts: str, targets: str | None = None
    ) -> "Scored": ...
    @overload
    def score(self, texts: Sequence[str], targets: Sequence[str] | None = None) -> "list[Scored]": ...
    def score(
        self, texts: str | Sequence[str], targets: str | Sequence[str] | None = None
    ) -> "Scored | list[Scored]":
        """Returns the probability of a text, or of each of several, as `Scored`.

        Args:
            texts: A text, or a list of texts.
            targets: Texts that are scored after them, for models with an encoder or a prefix.

        Raises:
            TypeError: for a value that is not a text.
            ValueError: if the model is no language model, with what it can do.
        """
        client = self._client_for("score")
        targets = [targets] if isinstance(targets, str) else targets
        return _one_or_all(functools.partial(client.score, targets=targets), texts)

    def ask(self, signature: str, texts: Sequence[str | Sequence[str]], **inputs: Inputs) -> list[Answer]:
        """Returns the answers of a signature to texts, a dict each.

        Args:
            signature: Name of a signature; see `signatures`.
            texts: A list of texts, or of lists of words.
            **inputs: Texts of its other inputs by name, such as `pair`, and `parameters`.

        Raises:
            ValueError: if the model has no such signature, or it has other inputs.
        """
        from firth.serving.answers import printed_fields

        client = self._client_for(signature)
        given: dict[str, Any] = {"texts": texts, **inputs}
        for name, texts_of_input in given.items():
            if name == "parameters":
                continue
            if isinstance(texts_of_input, str) or len(texts_of_input) != len(texts):
                count = "a single text" if isinstance(texts_of_input, str) else f"{len(texts_of_input)} texts"
                raise ValueError(f"{name} is {count}, but there are {len(texts)} texts; give one for each")
            if any(each is None for each in texts_of_input):
                raise TypeError(f"{name}[{list(texts_of_input).index(None)}] is None; each text is a str")
        answer = client.signatures[client.asked(signature, texts)].describe()["answer"]
        return [
            printed_fields(answer, each) for each in client.ask(signature, texts, **dict[str, Any](inputs))
        ]

    def inputs_of(self, signature: str) -> tuple[str, ...]:
        """Returns the names of a signature's inputs.

        Args:
            signature: Name of a signature.

        Raises:
            ValueError: if the model has no such signature.
        """
        return self._client_for(signature).inputs(signature)

    def first_input(self, signature: str, inputs: Mapping[str, Inputs]) -> dict[str, Inputs]:
        """Returns inputs by name as arguments of `ask`, where the first input is `texts`.

        Args:
            signature: Name of a signature.
            inputs: Texts of each input by its name.
        """
        first = self._client_for(signature).first_input(signature)
        return {"texts": inputs[first], **{name: each for name, each in inputs.items() if name != first}}

    @overload
    def generate(  # type: ignore[overload-overlap]
        self, prompts: str, details: Literal[False] = False, **values: object
    ) -> str: ...
    @overload
    def generate(
        self, prompts: Sequence[str], details: Literal[False] = False, **values: object
    ) -> list[str]: ...
    @overload
    def generate(  # type: ignore[overload-overlap]
        self, prompts: str, details: Literal[True], **values: object
    ) -> "Generated": ...
    @overload
    def generate(
        self, prompts: Sequence[str], details: Literal[True], **values: object
    ) -> "list[Generated]": ...
    def generate(
        self, prompts: str | Sequence[str], details: bool = False, **values: object
    ) -> "str | list[str] | Generated | list[Generated]":
        """Returns the text that the model writes after a prompt, or after each of a list.

        Args:
            prompts: A text, or a list of texts.
            details: True for `firth.generation.Generated` instead of texts.
            **values: Values of a `GenerationRequest`, such as `max_new_tokens`, `temperature`, `top_k`,
                `top_p`, `stop` and `seed`; `schema`, `regex`, `choices` or `grammar` hold the text to it.

        Raises:
            TypeError: for a prompt that is not a text.
            ValueError: if the model does not write, with what it can do, for a value out of its range, or for
                a constraint that cannot be honoured.
        """
        if not isinstance(prompts, str):
            prompts = checked_texts(prompts, "prompts")
        written: Any = self._generator.generate(prompts, **dict[str, Any](values))
        if details:
            return written
        return written.text if isinstance(prompts, str) else [each.text for each in written]

    def stream(self, prompt: str, **values: object) -> "TextStream":
        """Returns an iterator over the pieces of a text as they are written; see `generate`.

        The model does not wait for a reader that pauses. It writes to the end of the text, and Python ends
        after it, unless the stream is closed by its `close()`, or collected.

        Args:
            prompt: A text.
            **values: Values of a `GenerationRequest`.

        Raises:
            TypeError: for a prompt that is not a text.
            ValueError: as of `generate`.
        """
        checked_texts([prompt], "prompt")
        return self._generator.stream(prompt, **dict[str, Any](values))

    def reply(self, messages: Sequence[Mapping[str, str]], **values: object) -> str:
        """Returns the reply of a model that learned dialogues.

        Args:
            messages: Messages, each with its `role` and `content`, the last one of the user.
            **values: Values of a `GenerationRequest`.

        Raises:
            ValueError: as of `generate`; for messages in an order that no dialogue has.
        """
        written: Generated = self._generator.reply(messages, **dict[str, Any](values))
        return written.text

    def generate_ids(
        self,
        prompts: Sequence[Sequence[int]],
        end_id: int | None = None,
        start_ids: Sequence[int] = (),
        **values: object,
    ) -> list[list[int]]:
        """Returns the token ids that the model writes after those of each prompt, the end among them.

        It needs no tokenizer, and no TensorFlow where Keras runs on JAX.

        Args:
            prompts: Ids of each prompt, with its special tokens.
            end_id: Id of the token that ends a text; None for `max_new_tokens` of them, or for the
                tokenizer's, if there is one.
            start_ids: Ids that a decoder next to an encoder starts from; by default the tokenizer's.
            **values: Values of a `GenerationRequest` without texts: `max_new_tokens`, `min_new_tokens`,
                `temperature`, `top_k`, `top_p`, `min_p`, `typical_p`, the penalties and `seed`.

        Raises:
            ValueError: if the model does not write, or an engine does; for ids outside the vocabulary, for a
                prompt that is too long, and for a value that needs a tokenizer or is not available.
        """
        if self._engine:
            raise ValueError(
                f"generate_ids: {self._engine['engine']} writes texts; load the model without an engine"
            )
        from firth.generation.eager.token_ids import IdsGenerator

        start_ids = tuple(map(int, start_ids))
        key = f"ids of {end_id}, {start_ids}"
        if key not in self._kept:
            may_write = None
            if self.preprocessor is not None:
                framing = self._generator.framing
                may_write = framing.may_write.copy()
                # Where another token ends a text, the tokenizer's end is not written in it.
                may_write[framing.end_id] = False
                end_id = framing.end_id if end_id is None else end_id
                start_ids = start_ids or framing.start
            self._kept[key] = IdsGenerator(self.network, self.recipe, end_id, start_ids, may_write)
        generator: IdsGenerator = self._kept[key]
        return generator.generate(prompts, GenerationRequest.with_values(values))

    def forget_graphs(self) -> None:
        """Lets go of compiled graphs, which a change of the model's parts makes stale."""
        self._kept.clear()

    @functools.cached_property
    def _kept(self) -> dict[str, Any]:
        return {}

    @property
    def _client(self) -> "ModelClient":
        if "client" not in self._kept:
            served = self.served
            from firth.serving.model_client import ModelClient

            self._kept["client"] = ModelClient(served, in_graph=not self._engine)
        client: ModelClient = self._kept["client"]
        return client

    @property
    def _generator(self) -> "TextGenerator":
        if "generator" not in self._kept:
            if self.preprocessor is None:
                raise ValueError(
                    f"{self.recipe.name} has no preprocessor, and reads batches of features alone; "
                    "generate_ids writes after token ids"
                )
            tokenizer = self.tokenizer
            from firth.generation.engines import load_generator
            from firth.generation.framing import NoTextError
            from firth.generation.generator import keras_generator

            try:
                self._kept["generator"] = (
                    load_generator(self._bundle(), **self._engine)
                    if self._engine
                    else keras_generator(self.network, tokenizer, self.recipe)
                )
            except NoTextError:
                raise self._cannot("generate") from None
        generator: TextGenerator = self._kept["generator"]
        return generator

    def _client_with(self, top_k: int) -> "ModelClient":
        """Returns the client that proposes as many pieces for each mask."""
        key = f"client of {top_k}"
        if key not in self._kept:
            from firth.serving.model_client import ModelClient

            export = Export.of({**self.recipe.export.model_dump(), "top_k": top_k})
            recipe = self.recipe.model_copy(update={"export": export})
            self._kept[key] = ModelClient(dataclasses.replace(self.served, recipe=recipe))
        client: ModelClient = self._kept[key]
        return client

    def _client_for(self, name: str) -> "ModelClient":
        if name not in self._client.signatures:
            raise self._cannot(name)
        return self._client

    def _cannot(self, name: str) -> ValueError:
        backend = keras.backend.backend()
        where = "" if backend == "tensorflow" else f" where Keras runs on {backend} (KERAS_BACKEND)"
        return ValueError(
            f"{name}: {self.recipe.name}, a model of {self.recipe.goal.kind}, cannot do this{where}; it can "
            f"{', '.join(self.signatures) or 'predict on features'}"
        )


def _one_or_all(function: Callable[[list[str]], list[_Found]], texts: Any) -> Any:
    found = function([texts] if isinstance(texts, str) else checked_texts(texts))
    return found[0] if isinstance(texts, str) else found


def _chunks(places: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (places[start : start + size] for start in range(0, len(places), size))
