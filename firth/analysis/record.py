"""What a report shows, gathered in one place and free of files and libraries."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from firth.recipes import Recipe


@dataclasses.dataclass(frozen=True)
class ArtifactRecord:
    """An artifact that the run made.

    Attributes:
        id: In ML Metadata.
        name: What the run calls it.
        type: Its TFX type.
        uri: Relative to the run's folder where it lies below it.
        digest: Of its content, or why there is none.
    """

    id: int
    name: str
    type: str
    uri: str
    digest: str


@dataclasses.dataclass(frozen=True)
class FilledMask:
    """A held-out sentence with one word masked, and what the model proposes.

    Attributes:
        before, after: The sentence around the masked word.
        answer: The masked word.
        source: The sentence's source.
        candidates: Pieces and their probabilities, the likeliest first.
    """

    before: str
    answer: str
    after: str
    source: str
    candidates: Sequence[tuple[str, float]]

    @property
    def rank(self) -> int | None:
        """Place of the answer among the candidates, from 1; None where it is not among them."""
        pieces = [piece for piece, _ in self.candidates]
        return pieces.index(self.answer) + 1 if self.answer in pieces else None


@dataclasses.dataclass(frozen=True)
class ScoredSentence:
    """A held-out sentence under a language model.

    Attributes:
        pieces: Each with its probability after those before it.
        source: The sentence's source.
    """

    pieces: Sequence[tuple[str, float]]
    source: str

    @property
    def perplexity(self) -> float:
        """Over its pieces."""
        nats = -sum(math.log(max(probability, 1e-30)) for _, probability in self.pieces)
        return math.exp(nats / max(len(self.pieces), 1))


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """Everything known of a run. What was not recorded is None or empty, and the report says so.

    Attributes:
        recipe: As it ran.
        parameters: By part, as `firth.recipes.counting.parameter_counts` gives them.
        corpus: What became of the documents, as `firth.corpus.report.corpus_report.build_report` describes
            it.
        corpus_steps: What single cleaning steps report, by their names.
        vocabulary: The tokenizer's pieces.
        sequence_counts: By split: rows, documents, tokens, padding_tokens, ... and tokens by `sources`.
        history: A dict for each logged step.
        curves: The folder of the same curves in TensorBoard's format; empty if it is not known.
        evaluation: Metrics by slice, as `firth.evaluation.load_evaluation` gives them.
        blessed: Whether it kept its thresholds and can be served; None where nothing says so.
        serving: As `firth.serving.validate_serving` gives it.
        filled_masks: Held-out sentences, where the model fills masks.
        scored_sentences: Held-out sentences, where the model scores texts.
        objective_rates: What the objective did to a sample of rows, as ObjectiveValidator measured it.
        pushed: Whether the model was pushed; None where nothing says so.
        timings: By component: state, seconds, peak_bytes.
        versions: Of Python and of the packages that matter.
        artifacts: Lineage.
    """

    recipe: Recipe
    parameters: Mapping[str, int] = dataclasses.field(default_factory=dict)
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
    pushed: bool | None = None
    timings: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    artifacts: Sequence[ArtifactRecord] = ()
