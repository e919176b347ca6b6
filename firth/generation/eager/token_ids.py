"""Tokens that a model writes after token ids, without a tokenizer and without TensorFlow."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.generation.eager.batches import check_eager, padded_rows
from firth.generation.eager.readers import eager_reader_of
from firth.generation.eager.writer import EagerWriter, PromptArrays
from firth.generation.request_arrays import power_of_two, request_arrays
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.run_recipe import RunRecipe

# Values of a request that are texts or pieces, or are returned with them.
_NEED_TOKENIZER = ("stop", "logit_bias", "constraint", "log_probabilities", "prompt_log_probabilities")
_SHORTEST = 8


class IdsGenerator:
    """Writes token ids after token ids.

    Args:
        model: Model that `firth.models.build_model` made of the recipe.
        recipe: Recipe of the run.
        end_id: Id of the token that ends a text; None for texts of `max_new_tokens`.
        start_ids: Ids that a decoder next to an encoder starts from; none for one stack.
        may_write: True for ids that may be written, bool [vocabulary], besides `end_id`; None for all.

    Raises:
        ValueError: if the model does not write, if it reads words by their characters, or if `start_ids` do
            not fit it.
    """

    def __init__(
        self,
        model: BackboneWithHeads,
        recipe: RunRecipe,
        end_id: int | None = None,
        start_ids: Sequence[int] = (),
        may_write: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        goal: Any = recipe.goal
        start_ids = tuple(map(int, start_ids))
        if not goal.text_end:
            raise ValueError(f"a model that was trained for {goal.kind} writes no text")
        if recipe.model.has_decoder and not start_ids:
            raise ValueError(
                "start_ids: a decoder next to an encoder starts from ids, such as (0,); give them"
            )
        if start_ids and not recipe.model.has_decoder:
            raise ValueError(
                "start_ids: a model of one stack has none; its prompts hold their special tokens"
            )
        self._recipe, self._rows = recipe, recipe.tokenizer.vocabulary_size
        for name, found in (("end_id", () if end_id is None else (end_id,)), ("start_ids", start_ids)):
            self._check_ids(name, found)
        reader = eager_reader_of(model, start_ids, _no_characters)
        allowed = np.ones(self._rows, bool) if may_write is None else may_write.copy()
        if end_id is not None:
            allowed[end_id] = True
        self._writer = EagerWriter(model, reader, -1 if end_id is None else end_id, allowed)

    def generate(self, prompts: Iterable[Sequence[int]], request: GenerationRequest) -> list[list[int]]:
        """Returns the ids that are written after each prompt, the end among them.

        Args:
            prompts: Ids of each prompt, with its special tokens.
            request: Request for all of them.

        Raises:
            ValueError: for a prompt that is empty, too long or holds an id outside the vocabulary, and for a
                value of the request that needs a tokenizer or is not available.
        """
        check_eager(request, "for token ids")
        for name in _NEED_TOKENIZER:
            if getattr(request, name) != type(request).model_fields[name].default:
                raise ValueError(
                    f"{name}: ids are written without a tokenizer; generate takes it, with texts"
                )
        rows = [self._checked(number, each) for number, each in enumerate(prompts)]
        if not rows:
            raise ValueError("prompts is empty; give the ids of at least one prompt")
        goal: Any = self._recipe.goal
        rooms = [goal.written_places(self._recipe.sequences, len(each)) for each in rows]
        if min(rooms) < 1:
            raise ValueError(f"prompt {rooms.index(min(rooms))}: it leaves no place for a text")
        values = request_arrays([request] * len(rows), None)
        values["most"] = np.minimum(values["most"], np.array(rooms, np.int32))
        draws, room = request.sampler.is_random, power_of_two(int(values["most"].max()))
        written = self._writer.start(*padded_rows(self._batch(rows), values), draws, room)
        written.end(np.arange(len(written.ended)) >= len(rows))
        while written.is_running:
            self._writer.step(written, draws)
        return [each[:count].tolist() for each, count in zip(written.ids[: len(rows)], written.count)]

    def _batch(self, rows: Sequence[npt.NDArray[np.int32]]) -> PromptArrays:
        lengths = np.array(list(map(len, rows)), np.int32)
        goal: Any = self._recipe.goal
        most = goal.prompt_places(self._recipe.sequences)
        length = min(max(power_of_two(int(lengths.max())), _SHORTEST), most)
        ids = np.stack([np.pad(each, (0, length - len(each))) for each in rows])
        return PromptArrays(ids, lengths, {})

    def _checked(self, number: int, prompt: Sequence[int]) -> npt.NDArray[np.int32]:
        found = np.asarray(prompt)
        if found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
            raise ValueError(f"prompt {number}: it is not a list of one or more ids")
        self._check_ids(f"prompt {number}", found.tolist())
        goal: Any = self._recipe.goal
        most = goal.prompt_places(self._recipe.sequences)
        if len(found) > most:
            raise ValueError(f"prompt {number}: it has {len(found):,} tokens; the model reads {most:,}")
        return found.astype(np.int32)

    def _check_ids(self, name: str, ids: Iterable[int]) -> None:
        for each in ids:
            if not 0 <= each < self._rows:
                raise ValueError(f"{name}: {each} is not an id of a vocabulary of {self._rows:,} tokens")


def _no_characters() -> npt.NDArray[np.int32]:
    raise ValueError("the model reads words by their characters, which its tokenizer makes; see generate")
