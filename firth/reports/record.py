"""The data of a report, independent of files and libraries."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from firth.recipes.run.run_recipe import RunRecipe


@dataclasses.dataclass(frozen=True)
class ArtifactRecord:
    """An artifact that the run made.

    Attributes:
        id: Id in ML Metadata.
        name: Name of the output.
        type: Type of the artifact in TFX.
        uri: Path of the artifact, relative to the run's folder if it is below it.
        digest: Digest of its content, or the reason why it could not be computed.
    """

    id: int
    name: str
    type: str
    uri: str
    digest: str


@dataclasses.dataclass(frozen=True)
class FilledMask:
    """A held-out sentence with one word masked, and the model's candidates.

    Attributes:
        before: Text before the masked word.
        answer: Word that is masked.
        after: Text after the masked word.
        source: Source of the sentence.
        candidates: Pieces and their probabilities, the most probable first.
    """

    before: str
    answer: str
    after: str
    source: str
    candidates: Sequence[tuple[str, float]]

    @property
    def rank(self) -> int | None:
        """Place of the answer among the candidates, from 1; None if it is not among them."""
        pieces = [piece for piece, _ in self.candidates]
        return pieces.index(self.answer) + 1 if self.answer in pieces else None


@dataclasses.dataclass(frozen=True)
class ScoredSentence:
    """A held-out sentence under a language model.

    Attributes:
        pieces: Pieces, each with its probability after those before it.
        source: Source of the sentence.
    """

    pieces: Sequence[tuple[str, float]]
    source: str

    @property
    def perplexity(self) -> float:
        """Perplexity over its pieces."""
        nats = -sum(math.log(max(probability, 1e-30)) for _, probability in self.pieces)
        return math.exp(nats / max(len(self.pieces), 1))


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """Data of a run. Fields that were not recorded are None or empty, and the report shows that.

    Attributes:
        recipe: Recipe of the run.
        parameters: Parameters by part, as `firth.recipes.counting.parameter_counts` returns them.
        trained: Number of parameters that are trained, heads among them; None if it was not recorded.
        corpus: Corpus report, as `firth.corpus.report.corpus_report.build_report` describes it.
        corpus_steps: Reports of single cleaning steps, by their names.
        vocabulary: Pieces of the tokenizer.
        sequence_counts: Counts by split: rows, documents, tokens, padding_tokens, ... and tokens by
            `sources`.
        history: Dictionaries of each logged step.
        curves: Folder of the same curves in TensorBoard's format; empty if it is not known.
        evaluation: Metrics by slice, as `firth.evaluation.load_evaluation` returns them.
        blessed: True if the model kept its thresholds and can be served; None if nothing says so.
        serving: Serving report, as `firth.serving.validate_serving` returns it.
        filled_masks: Held-out sentences, if the model fills masks.
        scored_sentences: Held-out sentences, if the model scores texts.
        objective_rates: Rates of the objective on a sample of rows, as ObjectiveValidator measured them.
        trials: Trials of a search that came to their end, the best first: `trial_id`, `score`, and each key.
        distances: Distances of the data from others, as DistributionValidator measured them.
        shares: Changes of the shares of a corpus since the last run, the largest of each kind first; see
            `firth.corpus.report.limits.ShareChange`.
        pushed: True if the model was pushed; None if nothing says so.
        timings: State, seconds and peak_bytes by component.
        versions: Versions of Python and of the packages that matter.
        artifacts: Artifacts that the run made.
    """

    recipe: RunRecipe
    parameters: Mapping[str, int] = dataclasses.field(default_factory=dict)
    trained: int | None = None
    corpus: Mapping[str, Any] | None = None
    corpus_steps: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    vocabulary: Sequence[str] = ()
    sequence_counts: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    history: Sequence[Mapping[str, float]] = ()
    curves: str = ""
    evaluation: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    blessed: bool | None = None
    serving: Mapping[str, Any] | None = None
    filled_masks: Sequence[FilledMask] = ()
    scored_sentences: Sequence[ScoredSentence] = ()
    objective_rates: Mapping[str, Any] | None = None
    trials: Sequence[Mapping[str, Any]] = ()
    distances: Sequence[Mapping[str, Any]] = ()
    shares: Sequence[Mapping[str, Any]] = ()
    pushed: bool | None = None
    timings: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    artifacts: Sequence[ArtifactRecord] = ()


def main_perplexity(metrics: Mapping[str, float]) -> float | None:
    """Returns the perplexity of a model's main loss on text; None if it was not measured.

    Runs from before `text_perplexity` was recorded give the perplexity of all predictions.

    Example:

    >>> main_perplexity({"lm_perplexity": 12.5, "lm_accuracy": 0.3, "text_perplexity": 14.0})
    14.0
    """
    others = (value for name, value in metrics.items() if name.endswith("lm_perplexity"))
    return metrics.get("text_perplexity", next(others, None))
