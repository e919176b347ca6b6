"""The component SequenceGen."""

import functools
import json
import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tfx import types
from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils, standard_artifacts

from firth import features, storage
from firth.components.artifact_folders import keeping, split_folders, split_patterns, stamp_splits
from firth.components.artifacts import CorpusReport, Tokenizer
from firth.components.declaration import Artifacts, BeamComponent, Properties, declare, only_artifact
from firth.corpus import CorpusError, make_sequences
from firth.corpus.decontamination.evidence import copy_found
from firth.corpus.documents.split import TRAIN
from firth.corpus.packing.sequences import COUNTS_FILE, MIXTURE_FILE
from firth.recipes.corpus.mixture import AnyMixture, AsIs, mixture_from_json
from firth.recipes.run.stages import rows_folder
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import load_tokenizer

TOKENIZER_FOLDER = "tokenizer"


class Executor(base_beam_executor.BaseBeamExecutor):
    """Makes the rows of all splits."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes the rows, a copy of the tokenizer and the counts.

        Raises:
            firth.corpus.MixtureError: if the mixture cannot be had.
            firth.corpus.EmptyCorpusError: if a split has no rows.
            firth.tokenizers.TokenizerMismatchError: if the tokenizer is not the one that was stamped.
        """
        patterns = split_patterns(input_dict["documents"])
        if TRAIN not in patterns:
            raise ValueError(f"documents: they have no split {TRAIN!r}, only {', '.join(patterns)}")
        tokenizer = only_artifact(input_dict, "tokenizer")
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        digest = tokenizer.get_string_custom_property("digest")
        folder = os.path.join(examples.uri, TOKENIZER_FOLDER)
        storage.copy_folder(tokenizer.uri, folder)
        load_tokenizer(folder, expected_digest=digest)
        for report in input_dict.get("report", []):
            copy_found(report.uri, examples.uri)
        stamp_splits(examples, patterns)
        with keeping(examples.uri, MIXTURE_FILE, COUNTS_FILE, errors=CorpusError):
            self._make_rows(patterns, examples, folder, exec_properties)
        examples.set_string_custom_property("tokenizer_digest", digest)

    def _make_rows(
        self,
        patterns: dict[str, list[str]],
        examples: types.Artifact,
        tokenizer_folder: str,
        exec_properties: dict[str, Any],
    ) -> None:
        sequences = Sequences.from_json(exec_properties["sequences"])
        written = split_folders(examples)
        make = functools.partial(
            make_sequences,
            self._make_beam_pipeline,
            tokenizer_folder=tokenizer_folder,
            special_tokens=exec_properties["special_tokens"],
            mixture=mixture_from_json(exec_properties["mixture"]),
            sources=json.loads(exec_properties["sources"]),
        )
        make(
            split_patterns=patterns,
            sequences=sequences,
            raw_length=exec_properties["raw_length"],
            split_folders=written,
            counts_folder=examples.uri,
        )
        for length, raw_length in json.loads(exec_properties["stages"]).items():
            folder = os.path.join(examples.uri, rows_folder(int(length)))
            train = os.path.join(folder, os.path.basename(written[TRAIN]))
            changed = sequences.model_copy(update={"length": int(length)})
            make(
                split_patterns={TRAIN: patterns[TRAIN]},
                sequences=changed,
                raw_length=raw_length,
                split_folders={TRAIN: train},
                counts_folder=folder,
            )


_AS_IS = AsIs()


class SequenceGen(BeamComponent, executor=Executor):
    """Tokenizes documents and packs them into rows, once and in the same way on any number of workers.

    Args:
        examples: Output of Curator.
        tokenizer: Output of TokenizerGen.
        sequences: Rows of the recipe.
        special_tokens: Number of tokens that the objective adds to each document of a row.
        raw_length: Most tokens of a row before the objective adds any or takes some out.
        mixture: Mixture of the recipe: the share of each source in the train split.
        sources: Names of all sources of the recipe, so that a mixture reports those that have nothing left.
        stages: Most raw tokens of a row by the length of rows, for each other length that is trained on.
        report: Corpus report of Curator: what it found of evaluation data goes with the rows to the model.

    Outputs:
        examples: Rows as `firth.features.row_specs` describes them, with `source`; in the split `eval` also
            a negative row. Next to the splits are `tokenizer/`, a copy of the tokenizer, and
            `sequence_counts.json`, and of a mixture `mixture_report.json` (see
            `firth.corpus.packing.sequences`). Rows of each length of `stages` are in a folder of their
            own, with a split `train` alone; see `firth.recipes.run.stages`. What the corpus was found to hold
            of evaluation data is in `contamination/`, see `firth.corpus.contamination`. Custom property:
            `tokenizer_digest`.
    """

    SPEC_CLASS = declare(
        inputs={"documents": standard_artifacts.Examples, "tokenizer": Tokenizer},
        optional_inputs={"report": CorpusReport},
        outputs={"examples": standard_artifacts.Examples},
        parameters={
            "sequences": str,
            "special_tokens": int,
            "raw_length": int,
            "mixture": str,
            "sources": str,
            "stages": str,
            "row_format": int,
        },
    )

    def __init__(
        self,
        examples: types.BaseChannel,
        tokenizer: types.BaseChannel,
        sequences: Sequences,
        special_tokens: int,
        raw_length: int,
        mixture: AnyMixture = _AS_IS,
        sources: Sequence[str] = (),
        stages: Mapping[int, int] = MappingProxyType({}),
        report: types.BaseChannel | None = None,
    ) -> None:
        super().__init__(
            documents=examples,
            tokenizer=tokenizer,
            report=report,
            sequences=sequences.to_json(),
            special_tokens=special_tokens,
            raw_length=raw_length,
            mixture=mixture.to_json(),
            sources=json.dumps([] if mixture.mixed is None else list(sources)),
            stages=json.dumps(dict(sorted(stages.items()))),
            row_format=features.ROW_FORMAT,
        )
