"""The component RequestExampleGen."""

import os
from collections.abc import Iterator, Mapping, Sequence

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.utils import json_utils

from firth import storage
from firth.components.artifact_folders import model_folder, stamp_splits
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.corpus.io.records import write_records
from firth.serving.batch.prediction import read_requests, task_signature
from firth.serving.batch.texts import TextRecord, Unread, read_texts
from firth.serving.exported_model import read_description
from firth.tasks.labelled.examples import to_unlabelled_example
from firth.tasks.readers.records import RefusedFileError

REPORT_FILE = "report.json"
SPLIT = "requests"


class Executor(base_executor.BaseExecutor):
    """Reads one file."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes the examples, and `report.json`."""
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        stamp_splits(examples, [SPLIT])
        path, unread, read = exec_properties["path"], Unread(), 0

        def written() -> Iterator[bytes]:
            nonlocal read
            for record in _records(input_dict, exec_properties, unread):
                read += 1
                yield to_unlabelled_example(str(record.line), record.texts, SPLIT)

        write_records(artifact_utils.get_split_uri([examples], SPLIT), 0, 1, written())
        lines = [f"{each.file}:{each.line}: {each.detail}" for each in unread.first]
        if not read:
            first = f"; {lines[0]}" if lines else ""
            raise RefusedFileError(f"{path}: none of {unread.counts.total()} records can be read{first}")
        report = {"file": path, "read": read, "unread": dict(unread.counts), "first_unread": lines}
        storage.write_json(os.path.join(examples.uri, REPORT_FILE), report)


def _records(input_dict: Artifacts, exec_properties: Properties, unread: Unread) -> Iterator[TextRecord]:
    path, columns = exec_properties["path"], json_utils.loads(exec_properties["columns"])
    quoted = json_utils.loads(exec_properties["quoted"])
    if not input_dict.get("model"):
        return read_texts(path, columns, unread, quoted=quoted)
    model = only_artifact(input_dict, "model")
    described = read_description(model_folder(model))
    name = task_signature(described)
    inputs = tuple(described["signatures"][name]["inputs"])
    return read_requests(described, name, inputs, path, columns, unread, quoted)


class RequestExampleGen(Component, executor=Executor):
    """Reads texts that a served model was asked about, or is to be, into tf.Examples of the split `requests`.

    Each example is as `firth.tasks.labelled.examples.to_unlabelled_example` writes it, with the record's line
    as its id. Records that cannot be read are counted.

    Args:
        path: csv, tsv, jsonl or txt file on any file system; see `firth.serving.batch.texts.read_texts`.
        columns: Column of each text by its role, or several; with a model, of some inputs of its task's
            signature.
        digest: Digest of the file. The cached output is used again only while it stays the same.
        model: Exported model of a task that is to be asked: texts have the names of its signature's inputs,
            and are read as `firth predict --input` reads them.
        quoted: Whether cells of a tsv may be in quotation marks; None for as in the model's training data.

    Outputs:
        examples: The records. Next to the split is `report.json`: the numbers of records `read` and, by
            reason, `unread`, and the `first_unread`.
    """

    SPEC_CLASS = declare(
        optional_inputs={"model": standard_artifacts.Model},
        outputs={"examples": standard_artifacts.Examples},
        parameters={"path": str, "columns": str, "digest": str, "quoted": str},
    )

    def __init__(
        self,
        path: str,
        columns: Mapping[str, str | Sequence[str]],
        digest: str,
        model: types.BaseChannel | None = None,
        quoted: bool | None = None,
    ) -> None:
        super().__init__(
            path=path,
            columns=json_utils.dumps(dict(columns)),
            digest=digest,
            quoted=json_utils.dumps(quoted),
            model=model,
        )
