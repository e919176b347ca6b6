"""The work of Curator: calls `curate` and stamps the artifacts."""

from tfx.components.util import examples_utils
from tfx.dsl.components.base import base_beam_executor
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth.corpus import SPLITS, curate
from firth.recipes.cleaning import Cleaning


class Executor(base_beam_executor.BaseBeamExecutor):
    """Cleans one corpus."""

    def Do(self, input_dict, output_dict, exec_properties) -> None:
        """Writes the splits and `corpus_report.json`.

        Args:
            input_dict: `documents`, of one split.
            output_dict: `examples` and `report`.
            exec_properties: `cleaning` as JSON.

        Raises:
            firth.corpus.EmptyCorpusError: if nothing is left, or nothing for one of the splits.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        documents = artifact_utils.get_single_instance(input_dict["documents"])
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        (split,) = artifact_utils.decode_split_names(documents.split_names)
        examples.split_names = artifact_utils.encode_split_names(list(SPLITS))
        examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
        curate(
            self._make_beam_pipeline,
            corpus_folder=documents.uri,
            corpus_pattern=io_utils.all_files_pattern(artifact_utils.get_split_uri([documents], split)),
            cleaning=Cleaning.from_json(exec_properties["cleaning"]),
            split_folders={name: artifact_utils.get_split_uri([examples], name) for name in SPLITS},
            report_folder=artifact_utils.get_single_uri(output_dict["report"]),
        )
