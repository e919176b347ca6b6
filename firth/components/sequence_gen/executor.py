"""The work of SequenceGen: calls `make_sequences`, copies the tokenizer, and stamps its digest."""

import json
import os

from tfx.components.util import examples_utils
from tfx.dsl.components.base import base_beam_executor
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth.corpus import make_sequences
from firth.recipes.mixture import mixture_from_json
from firth.recipes.tokenizer import Sequences
from firth.tokenizers import load_tokenizer

TOKENIZER_FOLDER = "tokenizer"


class Executor(base_beam_executor.BaseBeamExecutor):
    """Makes the rows of all splits."""

    def Do(self, input_dict, output_dict, exec_properties) -> None:
        """Writes the rows, a copy of the tokenizer and the counts.

        Args:
            input_dict: `documents` and `tokenizer`.
            output_dict: `examples`, which get the custom property `tokenizer_digest`.
            exec_properties: `sequences`, `mixture` and `sources` as JSON, `special_tokens` and `raw_length`.

        Raises:
            firth.corpus.MixtureError: if the mixture cannot be had.
            firth.corpus.EmptyCorpusError: if a split has no rows.
            firth.tokenizers.TokenizerMismatchError: if the tokenizer is not the one that was stamped.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        documents = artifact_utils.get_single_instance(input_dict["documents"])
        tokenizer = artifact_utils.get_single_instance(input_dict["tokenizer"])
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        digest = tokenizer.get_string_custom_property("digest")
        folder = os.path.join(examples.uri, TOKENIZER_FOLDER)
        io_utils.copy_dir(tokenizer.uri, folder)
        load_tokenizer(folder, expected_digest=digest)
        examples.split_names = documents.split_names
        self._make_rows(documents, examples, folder, exec_properties)
        examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
        examples.set_string_custom_property("tokenizer_digest", digest)

    def _make_rows(self, documents, examples, tokenizer_folder: str, exec_properties) -> None:
        read, written = _split_folders(documents), _split_folders(examples)
        make_sequences(
            self._make_beam_pipeline,
            {split: io_utils.all_files_pattern(folder) for split, folder in read.items()},
            tokenizer_folder,
            Sequences.from_json(exec_properties["sequences"]),
            exec_properties["special_tokens"],
            exec_properties["raw_length"],
            written,
            examples.uri,
            mixture_from_json(exec_properties["mixture"]),
            json.loads(exec_properties["sources"]),
        )


def _split_folders(examples) -> dict[str, str]:
    splits = artifact_utils.decode_split_names(examples.split_names)
    return {split: artifact_utils.get_split_uri([examples], split) for split in splits}
