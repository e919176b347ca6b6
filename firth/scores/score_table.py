"""The type of a score, and all scores by name."""

import dataclasses
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any

from firth.scores.answers import (
    answer_f1_of,
    exact_match,
    exact_match_of,
    is_exact,
    squad_exact_match,
    squad_f1,
)
from firth.scores.bleu import bleu, bleu_of_places, bleu_signature
from firth.scores.bootstrap import (
    OfPlaces,
    f1_of_places,
    macro_f1_of_places,
    matthews_of_places,
    pearson_of_places,
    spearman_of_places,
)
from firth.scores.calibration import brier, brier_of, brier_of_shares, expected_calibration_error
from firth.scores.entities import (
    entity_f1,
    entity_f1_of_places,
    entity_f1_strict,
    entity_f1_strict_of_places,
    tag_accuracy,
    tag_accuracy_of_places,
)
from firth.scores.inputs import Ints
from firth.scores.labels import accuracy, f1, is_right, macro_f1, matthews
from firth.scores.no_answer import (
    ScoredAnswer,
    exact_match_of_places,
    f1_of_places as answer_f1_of_places,
    squad_exact_match_held_out,
    squad_f1_held_out,
)
from firth.scores.replies import reply_probability, reply_probability_of_places
from firth.scores.rouge import rouge_functions
from firth.scores.schema_validity import is_schema_valid, schema_signature, schema_valid
from firth.scores.vectors import (
    cosine_spearman,
    cosine_spearman_of_places,
    pearson,
    retrieval_accuracy,
    retrieval_accuracy_of_places,
    spearman,
)

OfAll = Callable[..., float]
_SHARE = (0.0, 1.0)
_PERCENT = (0.0, 100.0)


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The types of the reference and the prediction of one example.

    Attributes:
        name: Name of both, which tasks give their own examples.
        reference: The reference, in words.
        prediction: The prediction, in words.
        right: From a reference to a prediction that is right; None where no prediction follows from it.
        of_answer: From an answer, as tasks name constant ones, to a prediction.
        reads_reference: False if a prediction is scored by itself, so that one text is right for all records.
    """

    name: str
    reference: str
    prediction: str
    right: Callable[[Any], Any] | None = None
    of_answer: Callable[[Any], Any] = lambda answer: answer
    reads_reference: bool = True


@dataclasses.dataclass(frozen=True)
class Score:
    """A published score of a set of examples.

    Attributes:
        title: Name for tables.
        function: Score of references and predictions, and of options by name.
        inputs: What references and predictions are.
        range: Least and greatest value.
        implementation: Distribution that computes it; empty for our own.
        greater_is_better: True if a greater value is better.
        of_one: Value of one reference and one prediction, where the score is the mean of it over examples:
            sums and counts add up over workers, and intervals need no further call. None where the whole set
            is needed.
        of_nothing: Value of no examples.
        of_places: From references, predictions and options to a function of the places of some examples,
            which has the score's value of them: fast, for many resamples; None to call `function` for each.
        needs_variety: True if it is defined only where references differ from each other, and predictions do.
        of_summaries: True for a score of summaries, whose baseline is Lead-3; see `firth.scores.rouge`.
        of_chance: Value of answers by chance, from references, where no constant answer has a value; None
            where one has, or nothing is known.
        signature_of: Signature of the computation, from references and options; None for the implementation's
            version and the options.
    """

    title: str
    function: Callable[..., float]
    inputs: Inputs
    range: tuple[float, float]
    implementation: str
    greater_is_better: bool = True
    of_one: Callable[..., float] | None = None
    of_nothing: float = 0.0
    of_places: Callable[..., Callable[[Ints], float]] | None = None
    needs_variety: bool = False
    of_summaries: bool = False
    of_chance: Callable[[Sequence[Any]], float] | None = None
    signature_of: Callable[..., str] | None = None

    @property
    def best(self) -> float:
        """The value of a perfect prediction."""
        return self.range[1] if self.greater_is_better else self.range[0]

    @property
    def worst(self) -> float:
        """The value of predictions that could not be worse."""
        return self.range[0] if self.greater_is_better else self.range[1]

    def is_defined(self, references: Sequence[Any], predictions: Sequence[Any]) -> bool:
        """Returns true if its formula has a value: a correlation with a constant has none.

        Where it has none, the function gives 0, as its implementation does.

        Args:
            references: References of the examples.
            predictions: Predictions of the examples.
        """
        if not references:
            return False
        return not self.needs_variety or all(_differ(each) for each in (references, predictions))

    def signature(self, references: Sequence[Any], **options: Any) -> str:
        """Returns the signature of a value: the implementation with its version, and the options.

        Args:
            references: References of the examples.
            **options: Options of the score's function.
        """
        if self.signature_of is not None:
            return self.signature_of(references, **options)
        named = (f"{name}:{value}" for name, value in sorted(options.items()))
        return "|".join([self._implementation_and_version, *named])

    @property
    def _implementation_and_version(self) -> str:
        if not self.implementation:
            return "firth"
        return f"{self.implementation}:{importlib.metadata.version(self.implementation)}"


def _differ(values: Sequence[Any]) -> bool:
    return any(each != values[0] for each in values)


def _same(reference: Any) -> Any:
    return reference


def _first(reference: str | Sequence[str]) -> str:
    """Returns a text, or the first of several right ones; an empty one of none."""
    return reference if isinstance(reference, str) else next(iter(reference), "")


def _scored(reference: Sequence[str]) -> ScoredAnswer:
    return ScoredAnswer(_first(reference), -1.0 if reference else 1.0)


LABELS = Inputs("label", "label: str, int or bool", "label of the same type", right=_same)
NUMBERS = Inputs("number", "number", "number", right=_same)
ANSWERS = Inputs(
    "answers", "right answers, none if the text has no answer", "answer, empty for none", right=_first
)
SCORED_ANSWERS = Inputs(
    "scored answers",
    "right answers, none if the text has no answer",
    "best answer, and how much better it is to have none",
    right=_scored,
    of_answer=lambda answer: ScoredAnswer(answer, 0.0),
)
TAGS = Inputs("tags", "tags of the words of a sentence", "tags of the same words", right=_same)
TEXTS = Inputs("texts", "one text, or several right ones", "text", right=_first)
WRITTEN = Inputs("written texts", "any value, which is not read", "text", reads_reference=False)
CONSTRAINED = Inputs(
    "constrained texts",
    "any value, which is not read",
    "text that was written under a constraint",
    reads_reference=False,
)
PROBABILITIES = Inputs("probabilities", "place of the right class", "probabilities of all classes")
REPLIES = Inputs(
    "reply pieces",
    "ReplyPieces: their number, and their log probability by frequency",
    "log probability of the pieces",
    right=lambda reference: 0.0,
)
VECTORS = Inputs("vectors", "number of two texts", "TextVectors: the vectors of the two texts")


def _correlation(
    title: str,
    function: OfAll,
    inputs: Inputs,
    by: str,
    of_places: Callable[..., OfPlaces],
    of_chance: Callable[[Sequence[Any]], float] | None = None,
) -> Score:
    return Score(
        *(title, function, inputs, (-1.0, 1.0), by),
        of_places=of_places,
        needs_variety=True,
        of_chance=of_chance,
    )


def _held_out(title: str, function: OfAll, of_places: Callable[..., OfPlaces]) -> Score:
    return Score(f"{title}, held-out threshold", function, SCORED_ANSWERS, _PERCENT, "", of_places=of_places)


def _rouge(variant: str, title: str) -> Score:
    function, of_one = rouge_functions(variant)
    return Score(title, function, TEXTS, _SHARE, "rouge-score", of_one=of_one, of_summaries=True)


def _schema_valid(title: str, inputs: Inputs) -> Score:
    return Score(
        *(title, schema_valid, inputs, _SHARE, "jsonschema"),
        of_one=is_schema_valid,
        signature_of=schema_signature,
    )


SCORES: dict[str, Score] = {
    "accuracy": Score("Accuracy", accuracy, LABELS, _SHARE, "scikit-learn", of_one=is_right),
    "f1": Score("F1 of the positive class", f1, LABELS, _SHARE, "scikit-learn", of_places=f1_of_places),
    "macro_f1": Score(
        "F1, mean over classes", macro_f1, LABELS, _SHARE, "scikit-learn", of_places=macro_f1_of_places
    ),
    "matthews": _correlation("Matthews' correlation", matthews, LABELS, "scikit-learn", matthews_of_places),
    "pearson": _correlation("Pearson's correlation", pearson, NUMBERS, "scipy", pearson_of_places),
    "spearman": _correlation("Spearman's correlation", spearman, NUMBERS, "scipy", spearman_of_places),
    "squad_exact_match": Score(
        "SQuAD exact match", squad_exact_match, ANSWERS, _PERCENT, "", of_one=exact_match_of
    ),
    "squad_f1": Score("SQuAD F1", squad_f1, ANSWERS, _PERCENT, "", of_one=answer_f1_of),
    "squad_exact_match_held_out": _held_out(
        "SQuAD exact match", squad_exact_match_held_out, exact_match_of_places
    ),
    "squad_f1_held_out": _held_out("SQuAD F1", squad_f1_held_out, answer_f1_of_places),
    "entity_f1": Score("Entity F1", entity_f1, TAGS, _SHARE, "seqeval", of_places=entity_f1_of_places),
    "entity_f1_strict": Score(
        "Entity F1, strict IOB2",
        entity_f1_strict,
        TAGS,
        _SHARE,
        "seqeval",
        of_places=entity_f1_strict_of_places,
    ),
    "tag_accuracy": Score(
        "Accuracy of tags", tag_accuracy, TAGS, _SHARE, "", of_places=tag_accuracy_of_places
    ),
    "cosine_spearman": _correlation(
        "Spearman's correlation with the cosine",
        cosine_spearman,
        VECTORS,
        "scipy",
        cosine_spearman_of_places,
        of_chance=lambda references: 0.0,
    ),
    "retrieval_accuracy": Score(
        "Accuracy of the nearest text",
        retrieval_accuracy,
        VECTORS,
        _SHARE,
        "",
        of_places=retrieval_accuracy_of_places,
        of_chance=lambda references: 1.0 / len(references),
    ),
    "bleu": Score(
        "BLEU",
        bleu,
        TEXTS,
        _PERCENT,
        "sacrebleu",
        of_places=bleu_of_places,
        signature_of=bleu_signature,
    ),
    "exact_match": Score("Exact match", exact_match, TEXTS, _SHARE, "", of_one=is_exact),
    "rouge_1": _rouge("rouge_1", "ROUGE-1"),
    "rouge_2": _rouge("rouge_2", "ROUGE-2"),
    "rouge_l": _rouge("rouge_l", "ROUGE-L"),
    "rouge_lsum": _rouge("rouge_lsum", "ROUGE-Lsum"),
    "schema_valid": _schema_valid("JSON that is valid by the schema", WRITTEN),
    "schema_valid_constrained": _schema_valid(
        "JSON that is valid by the schema, written under it", CONSTRAINED
    ),
    "reply_probability": Score(
        "Probability of a reply's pieces, geometric mean",
        reply_probability,
        REPLIES,
        _SHARE,
        "",
        of_places=reply_probability_of_places,
    ),
    "expected_calibration_error": Score(
        "Expected calibration error",
        expected_calibration_error,
        PROBABILITIES,
        _SHARE,
        "",
        greater_is_better=False,
        of_nothing=1.0,
    ),
    "brier": Score(
        "Brier score",
        brier,
        PROBABILITIES,
        (0.0, 2.0),
        "",
        greater_is_better=False,
        of_one=brier_of,
        of_nothing=2.0,
        of_chance=brier_of_shares,
    ),
}
"""The scores by their names, which `task.scores` of a recipe takes."""
