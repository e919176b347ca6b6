"""The declaration of RequestExampleGen."""

from collections.abc import Mapping, Sequence

from tfx import types
from tfx.types import standard_artifacts
from tfx.utils import json_utils

from firth.components.declaration import Component, declare
from firth.components.request_example_gen.executor import Executor


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
        examples: The records. Next to the split stands `report.json`: how many could be `read`, how many
            could not by reason in `unread`, and the `first_unread`.
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
