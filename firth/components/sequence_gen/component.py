"""The declaration of SequenceGen."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tfx import types
from tfx.types import standard_artifacts

from firth import features
from firth.components.artifacts import CorpusReport, Tokenizer
from firth.components.declaration import BeamComponent, declare
from firth.components.sequence_gen.executor import Executor
from firth.recipes.corpus.mixture import AnyMixture, AsIs
from firth.recipes.tokenizers.tokenizer import Sequences

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
            a negative row. Next to the splits stand `tokenizer/`, a copy of the tokenizer, and
            `sequence_counts.json`, and of a mixture `mixture_report.json` (see
            `firth.corpus.packing.mixture_report`). Rows of each length of `stages` stand in a folder of their
            own, with a split `train` alone; see `firth.recipes.run.stages`. What the corpus was found to hold
            of evaluation data stands in `contamination/`, see `firth.corpus.contamination`. Custom property:
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
