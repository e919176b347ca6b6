"""The work of TokenizerGen: counts words, trains, and stamps the digest."""

import json

from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth.components.execution import Artifacts, Properties
from firth.corpus import TRAIN, count_corpus_words, train_tokenizer
from firth.recipes.tokenizers.tokenizer import tokenizer_from_json


class Executor(base_beam_executor.BaseBeamExecutor):
    """Trains one tokenizer.

    Args:
        context: Context of the execution, from TFX's launcher.
    """

    def __init__(self, context: base_beam_executor.BaseBeamExecutor.Context) -> None:
        super().__init__(context)
        self._context_of_launcher = context

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Saves the tokenizer.

        Args:
            input_dict: `examples`, with a split `train`.
            output_dict: `tokenizer`, which gets the custom property `digest`.
            exec_properties: `config` and `normalization` as JSON.

        Raises:
            firth.corpus.EmptyCorpusError: if the train split has no word.
        """
        config = tokenizer_from_json(exec_properties["config"])
        tokenizer = artifact_utils.get_single_instance(output_dict["tokenizer"])
        pattern = io_utils.all_files_pattern(artifact_utils.get_split_uri(input_dict["examples"], TRAIN))
        scratch = self._context_of_launcher.get_tmp_path()
        words = count_corpus_words(self._make_beam_pipeline, pattern, config, scratch)
        normalization = json.loads(exec_properties["normalization"])
        digest = train_tokenizer(words, config, tokenizer.uri, normalization)
        tokenizer.set_string_custom_property("digest", digest)
