"""The component TokenizerGen."""

import json
import os
from collections.abc import Sequence

from tfx import types
from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils, standard_artifacts

from firth import storage
from firth.components.artifact_folders import split_patterns
from firth.components.artifacts import Tokenizer
from firth.components.declaration import Artifacts, BeamComponent, Properties, declare
from firth.corpus import TRAIN, count_corpus_words, train_tokenizer
from firth.recipes.reading.bundles import blessed_bundle, check_digest
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.tokenizers.tokenizer import AnyTokenizerConfig, tokenizer_from_json
from firth.tokenizers import load_tokenizer, save_tokenizer
from firth.tokenizers.extending import add_words, words_to_add


class Executor(base_beam_executor.BaseBeamExecutor):
    """Trains one tokenizer, or takes one."""

    def __init__(self, context: base_beam_executor.BaseBeamExecutor.Context) -> None:
        super().__init__(context)
        self._context_of_launcher = context

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Saves the tokenizer.

        Raises:
            firth.corpus.EmptyCorpusError: if the train split has no word.
            firth.recipes.reading.bundles.NoBundleError: if another bundle is at the path of the base, or
                the blessed model to start from is gone.
            firth.tokenizers.TokenizerMismatchError: if the bundle's tokenizer is damaged.
            ValueError: if a word that is to be added is a piece already, or cannot be one.
        """
        tokenizer = artifact_utils.get_single_instance(output_dict["tokenizer"])
        if base := input_dict.get("base"):
            bundle = _bundle_of(artifact_utils.get_single_instance(base))
            digest = self._take(bundle, input_dict, exec_properties, tokenizer.uri)
        else:
            words, config = self._words(input_dict, exec_properties)
            normalization = json.loads(exec_properties["normalization"])
            digest = train_tokenizer(words, config, tokenizer.uri, normalization)
        tokenizer.set_string_custom_property("digest", digest)

    def _words(
        self, input_dict: Artifacts, exec_properties: Properties
    ) -> tuple[dict[str, int], AnyTokenizerConfig]:
        config = tokenizer_from_json(exec_properties["config"])
        patterns = split_patterns(input_dict["examples"])
        if TRAIN not in patterns:
            raise ValueError(f"examples: they have no split {TRAIN!r}, only {', '.join(patterns)}")
        scratch = self._context_of_launcher.get_tmp_path()
        return count_corpus_words(self._make_beam_pipeline, patterns[TRAIN], config, scratch), config

    def _take(self, bundle: str, input_dict: Artifacts, exec_properties: Properties, folder: str) -> str:
        """Writes a bundle's tokenizer, with the words that are added to it, and returns the digest."""
        taken, added = os.path.join(bundle, TOKENIZER_FOLDER), json.loads(exec_properties["added_words"])
        count = exec_properties["added_count"]
        if not added and not count:
            storage.copy_folder(taken, folder)
            return load_tokenizer(folder).digest
        tokenizer = add_words(load_tokenizer(taken), added)
        if count:
            words, _ = self._words(input_dict, exec_properties)
            tokenizer = add_words(tokenizer, words_to_add(tokenizer, words, count))
        return save_tokenizer(tokenizer, folder)


def _bundle_of(model: types.Artifact) -> str:
    """Returns the folder of a base's bundle, which must be the one that the recipe was read with."""
    if digest := model.get_string_custom_property("digest"):
        # Hours may have passed since then.
        check_digest(model.uri, digest)
        return model.uri
    return blessed_bundle(model.uri)


class TokenizerGen(BeamComponent, executor=Executor):
    """Trains a tokenizer on the words of the train split, or takes that of a model bundle.

    Args:
        examples: Output of Curator.
        tokenizer: Tokenizer of the recipe.
        normalization: Steps of Curator on text that the tokenizer repeats;
            `firth.recipes.Cleaning.text_steps`.
        base: Model whose tokenizer is taken: a bundle with the custom property `digest`, or a model of the
            Trainer. Without it, or where the channel is empty, one is trained.
        added_words: Words that become pieces of the bundle's tokenizer.
        added_count: Number of further words of the train split that do.

    Outputs:
        tokenizer: As `firth.tokenizers.save_tokenizer` writes it. Custom property: `digest`.
    """

    SPEC_CLASS = declare(
        inputs={"examples": standard_artifacts.Examples},
        outputs={"tokenizer": Tokenizer},
        optional_inputs={"base": standard_artifacts.Model},
        parameters={"config": str, "normalization": str, "added_words": str, "added_count": int},
    )

    def __init__(
        self,
        examples: types.BaseChannel,
        tokenizer: AnyTokenizerConfig,
        normalization: Sequence[Sequence[str]] = (),
        base: types.BaseChannel | None = None,
        added_words: Sequence[str] = (),
        added_count: int = 0,
    ) -> None:
        super().__init__(
            examples=examples,
            base=base,
            config=tokenizer.to_json(),
            normalization=json.dumps(normalization),
            added_words=json.dumps(added_words),
            added_count=added_count,
        )
