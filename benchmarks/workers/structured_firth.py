"""firth's worker of `benchmarks.structured`: a generator whose requests have a constraint."""

import functools
import importlib.metadata
import os
import pathlib
import platform
import re
import sysconfig
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.workers.generation_sizes import GenerationSize
from benchmarks.workers.structured_schemas import SCHEMAS
from firth.constraints.compiling import compile_constraint
from firth.constraints.matcher import fill_masks
from firth.constraints.token_bytes import TokenBytes
from firth.generation import load_generator
from firth.generation.automaton_writer import AutomatonWriter
from firth.models import build_model, save_model
from firth.recipes import load_recipe
from firth.recipes.generation.constraints import JsonSchema
from firth.serving.continuation import PARAMETERS, write_on
from firth.serving.schemas.signature import automaton_of
from firth.serving.served_model import Served
from firth.serving.slots.tokenizer_description import write_token_bytes
from firth.tokenizers import BytePairTokenizer, count_byte_words, save_tokenizer, train_byte_pairs

# Characters of Python's library that the pieces are learned on.
_LEARNED = 10_000_000
# More tokens than a text has.
_ANY = 10**6


def bundle_in(folder: str, size: GenerationSize) -> str:
    """Returns the bundle of random weights in a folder, which is written if it is not there yet."""
    place = f"{folder}/model"
    if os.path.isdir(place):
        return place
    lines, characters = [], 0
    for path in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("**/*.py")):
        text = path.read_text(encoding="utf-8", errors="ignore")
        lines += text.split("\n")
        characters += len(text)
        if characters > _LEARNED:
            break
    pieces = train_byte_pairs(count_byte_words(lines), size.vocabulary, 1, 0)
    recipe = load_recipe(
        size.preset,
        [
            f"tokenizer={{kind: bpe, vocabulary_size: {len(pieces)}, sentinels: 0}}",
            f"sequences.length={size.positions}",
            f"model.layers={size.layers}",
            f"model.width={size.width}",
            f"model.attention.heads={size.heads}",
            f"model.feed_forward.width={size.feed_forward}",
            f"model.positions.length={size.positions}",
            "training.precision=float32",
        ],
    )
    save_tokenizer(BytePairTokenizer(pieces), f"{folder}/tokenizer")
    save_model(build_model(recipe), recipe, f"{folder}/tokenizer", place)
    return place


class Model:
    """Writes JSON after prompts; see `benchmarks.workers.structured_work`.

    Args:
        way: `baked` for the graph of `generate_NAME` of an exported model, which has the schema inside;
            otherwise each request has its own.
    """

    def __init__(self, way: str, size: GenerationSize, folder: str):

        self._size, self._is_baked = size, way == "baked"
        bundle = bundle_in(folder, size)
        self._generator = load_generator(bundle)
        framing = self._generator.framing
        self._tokens = TokenBytes.of(framing.tokenizer, framing.may_write, framing.end_id)
        write_token_bytes(folder, self._tokens)
        self._compiled, self._constraints, self._rows = {}, {}, {}
        recipe = self._generator.recipe
        recipe = recipe.model_copy(update={"export": recipe.export.model_copy(update={"schemas": SCHEMAS})})
        self._served, self._graphs = Served(self._generator.model, self._generator.tokenizer, recipe), {}
        names = ("tensorflow", "llguidance", "outlines_core")
        versions = {name: importlib.metadata.version(name) for name in names}
        self.versions = {"python": platform.python_version(), **versions}

    def compile(self, name: str, schema: Mapping[str, Any]) -> float:
        """Returns the seconds in which a schema was made ready."""
        begin = time.perf_counter()
        self._constraints[name] = JsonSchema(json_schema=schema)
        self._compiled[name] = compile_constraint(self._constraints[name], self._tokens, self._is_baked)
        self._compiled[name].new_matcher(_ANY)
        return time.perf_counter() - begin

    def begun(self, name: str, batch: int) -> list[Any]:
        """Returns matchers of texts without a token."""
        return [self._compiled[name].new_matcher(_ANY) for _ in range(batch)]

    def masks(self, texts: list[Any]) -> Any:
        """Returns the masks of texts."""
        shape = (len(texts), self._tokens.mask_words)
        words = self._rows.setdefault(shape, np.zeros(shape, np.int32))
        fill_masks(texts, words)
        return words

    def accept(self, texts: list[Any], row: int, token: int) -> None:
        """Takes the next token of a text."""
        texts[row].accept(token)

    def write(self, name: str | None, batch: int, most: int) -> int:
        """Returns the steps of the batch."""
        texts = self._prompts(batch)
        least = most if name is None else 0
        if self._is_baked:
            return self._asked(name, texts, most, least)
        constraint = None if name is None else self._constraints[name].model_dump()
        found = self._generator.generate(
            texts,
            sampler={"kind": "sample"},
            max_new_tokens=most,
            min_new_tokens=least,
            seed=1,
            constraint=constraint,
        )
        return max(len(each.ids) for each in found)

    def _asked(self, name: str | None, texts: list[str], most: int, least: int) -> int:
        """Returns the steps of a batch that the graph of an exported model writes."""
        numbers = {"max_new_tokens": most, "min_new_tokens": least, "temperature": 1.0, "seed": 1}
        values = [
            tf.fill([len(texts)], tf.cast(numbers.get(each, parameter.default), parameter.dtype))
            for each, parameter in PARAMETERS.items()
        ]
        if name not in self._graphs:
            self._graphs[name] = tf.function(functools.partial(self._write, name), autograph=False)
        return int(self._graphs[name](tf.constant(texts), values))

    def _write(self, name: str | None, texts: tf.Tensor, values: list[tf.Tensor]) -> tf.Tensor:
        made, steps = self._served, []

        class Counting:
            """A decoder that keeps the number of tokens of the longest text."""

            def __init__(self, decoder: Any):
                self.start, self.go_on, self._texts = decoder.start, decoder.go_on, decoder.texts

            def texts(self, writing: Any) -> Any:
                found = self._texts(writing)
                steps.append(tf.reduce_max(found.count))
                return found

        def decoder(writer: Any) -> Any:
            return Counting(writer if name is None else AutomatonWriter(writer, automaton_of(made, name)))

        written = write_on(made, texts, *values, decoder=decoder)
        # The text is a part of the work.
        with tf.control_dependencies(list(written.values())):
            return tf.identity(steps[0])

    def _prompts(self, batch: int) -> list[str]:
        framing = self._generator.framing
        own = self._size.prompt - len(framing.before) - len(framing.after)
        words = [each[1:] for each in framing.tokenizer.get_vocabulary() if re.fullmatch("Ġ[a-z]+", each)]
        drawn = np.random.default_rng(0).integers(0, len(words), (batch, own))
        return [" " + " ".join(words[number] for number in row) for row in drawn]
