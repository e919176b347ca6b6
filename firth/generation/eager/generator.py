"""The generator of Keras models where Keras does not run on TensorFlow, which still splits texts."""

from collections.abc import Hashable, Sequence

import keras
import numpy as np
import tensorflow as tf

from firth.generation.eager.batches import check_eager, padded_rows
from firth.generation.eager.readers import eager_reader_of
from firth.generation.eager.writer import EagerTexts, EagerWriter, PromptArrays
from firth.generation.framing import framing_of
from firth.generation.readers import word_characters
from firth.generation.request_arrays import power_of_two, request_arrays
from firth.generation.results import Blocks, TextInProgress
from firth.generation.text_generator import BETWEEN_LOOKS, TextGenerator
from firth.generation.writer import DecodedTexts
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers.storage import AnyTokenizer


class EagerGenerator(TextGenerator):
    """Writes texts with one model, a call of a compiled function for each token.

    Greedy texts are those of `firth.generation.Generator`. So are draws, up to the rounding of a sum of
    probabilities.

    Args:
        model: Model that `firth.models.build_model` made of the recipe.
        tokenizer: Its tokenizer.
        recipe: Recipe of the run.

    Raises:
        ValueError: if the model does not write.
    """

    def __init__(self, model: BackboneWithHeads, tokenizer: AnyTokenizer, recipe: RunRecipe) -> None:
        self.model, self.tokenizer, self.recipe = model, tokenizer, recipe
        self.framing = framing_of(recipe, tokenizer)
        reader = eager_reader_of(model, self.framing.start, lambda: word_characters(tokenizer))
        self.predicts_prompt = reader.predicts_prompt
        self._writer = EagerWriter(model, reader, self.framing.end_id, self.framing.may_write)

    def check(self, request: GenerationRequest) -> None:
        """Raises an error if a request has a value that cannot be honoured.

        Args:
            request: Request to check.

        Raises:
            ValueError: if it cannot, naming the value.
        """
        super().check(request)
        check_eager(request, f"where Keras runs on {keras.backend.backend()} (KERAS_BACKEND)")

    def shared(self, text: TextInProgress) -> Hashable:
        """Returns the key of texts that can be written together; see `TextGenerator`.

        Args:
            text: A text.
        """
        return text.request.sampler.is_random

    def blocks(self, texts: Sequence[TextInProgress], steps: int | None = None) -> Blocks:
        """Writes texts of one key, and yields after each block of tokens; see `TextGenerator`.

        Args:
            texts: The texts.
            steps: Tokens of a block; None for the fastest number.
        """
        requests = [each.request for each in texts]
        draws, room = requests[0].sampler.is_random, max(each.most for each in texts)
        values = request_arrays(requests, self.tokenizer)
        values["most"] = np.array([each.most for each in texts], np.int32)
        prompts = self.framing.batch([each.prompt for each in texts])
        arrays = PromptArrays(*tf.nest.map_structure(lambda each: each.numpy(), prompts))
        scores = any(each.scores_prompt for each in texts)
        written = self._writer.start(*padded_rows(arrays, values), draws, power_of_two(room), scores)
        rows = len(texts)
        written.end(np.arange(len(written.ended)) >= rows)
        looks = any(each.stop for each in requests)
        steps = steps or (BETWEEN_LOOKS if looks else room)
        for text, found in zip(texts, written.prompt_log_probabilities):
            text.take_prompt(found)
        while True:
            for row, text in enumerate(texts):
                text.take(_decoded(written, row))
            yield
            if all(text.has_ended for text in texts):
                return
            written.end([each.has_ended for each in texts] + [True] * (len(written.ended) - rows))
            for _ in range(steps):
                if not written.is_running:
                    break
                self._writer.step(written, draws)


def _decoded(written: EagerTexts, row: int) -> DecodedTexts:
    return DecodedTexts(
        written.ids[row], written.log_probabilities[row], written.count[row], written.ended[row]
    )
