"""The work of TokenizerGen: counts words and trains, or takes a bundle's tokenizer; stamps the digest."""

import json
import os

from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth import storage
from firth.components.execution import Artifacts, Properties
from firth.corpus import TRAIN, count_corpus_words, train_tokenizer
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.tokenizers.tokenizer import tokenizer_from_json
from firth.tokenizers import load_tokenizer


class Executor(base_beam_executor.BaseBeamExecutor):
    """Trains one tokenizer, or takes one.

    Args:
        context: Context of the execution, from TFX's launcher.
    """

    def __init__(self, context: base_beam_executor.BaseBeamExecutor.Context) -> None:
        super().__init__(context)
        self._context_of_launcher = context

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Saves the tokenizer.

        Args:
            input_dict: `examples`, with a split `train`; `base` where a bundle's tokenizer is taken.
            output_dict: `tokenizer`, which gets the custom property `digest`.
            exec_properties: `config` and `normalization` as JSON.

        Raises:
            firth.corpus.EmptyCorpusError: if the train split has no word.
        """
        tokenizer = artifact_utils.get_single_instance(output_dict["tokenizer"])
        if base := input_dict.get("base"):
            digest = _take(artifact_utils.get_single_uri(base), tokenizer.uri)
        else:
            digest = self._train(input_dict, exec_properties, tokenizer.uri)
        tokenizer.set_string_custom_property("digest", digest)

    def _train(self, input_dict: Artifacts, exec_properties: Properties, folder: str) -> str:
        config = tokenizer_from_json(exec_properties["config"])
        pattern = io_utils.all_files_pattern(artifact_utils.get_split_uri(input_dict["examples"], TRAIN))
        scratch = self._context_of_launcher.get_tmp_path()
        words = count_corpus_words(self._make_beam_pipeline, pattern, config, scratch)
        return train_tokenizer(words, config, folder, json.loads(exec_properties["normalization"]))


def _take(bundle: str, folder: str) -> str:
    """Copies a bundle's tokenizer, and returns its digest."""
    storage.copy_folder(os.path.join(bundle, TOKENIZER_FOLDER), folder)
    return load_tokenizer(folder).digest
