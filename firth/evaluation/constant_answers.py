"""Scores of a task compared with the best constant answer, as metrics and as sentences.

The answer of a model that reads no record is that of the task's type, or the text itself where an answer is a
text; see `Task.constant_answers`. The best of them on the held-out records is compared with the model on the
same resamples of these records. A model is better if the lower end of the difference is above 0. Of few
records even right answers would not be better by that rule: then the values are compared. Where no answer is
better than the constant one, a model has to be as good.

`<score>_beats_constant` is 1 for a better model, else 0. All numbers of the sentence are in the slice
`constant=<answer>`.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth.evaluation.bounds import Bounds, describe
from firth.evaluation.record_scores import OVERALL, Records, in_slice
from firth.recipes.goals.goal import BEATS_CONSTANT, HIGH, LOW, Goal
from firth.recipes.tasks.task import Task
from firth.scores import Collected, Interval, Score, compute, score_of, value_of_places
from firth.scores.bootstrap import RESAMPLES, Resampling
from firth.scores.inputs import Ints

CONSTANT = "constant="
LEAD_TITLE, COPY_TITLE, CHANCE_TITLE = "Lead-3, the first three sentences", "a copy of the text", "by chance"
# How much better the model is, and how much better right answers would be.
_ABOVE, _MOST_ABOVE, _RECORDS = "_above_constant", "_right_above_constant", "_records_compared"
# Differences of equal scores are not 0 to the last bit.
_ROUNDING = 1e-9
_ENDS = ("", LOW, HIGH)


def compared_metrics(name: str) -> tuple[str, ...]:
    """Returns the names of the metrics that the comparison of a score brings."""
    score = name.removesuffix(BEATS_CONSTANT)
    ends = (f"{score}{each}{end}" for each in (_ABOVE, _MOST_ABOVE) for end in _ENDS)
    return (name, *ends, f"{score}{_RECORDS}")


def constant_comparisons(task: Task, records: Records) -> dict[str, float]:
    """Returns the metrics of a task's headlines compared with the best constant answer: see the module.

    Where predictions are not numbers, or the records are of another source, so is the comparison. A model is
    not better on no records. It is not held to a score that no constant answer has a value of, nor to one
    that reads no reference, by which a single right text is the best answer to all records.

    Example:

    >>> from firth.recipes.tasks.classification import Classification
    >>> task = Classification(labels=("no", "yes"))
    >>> records = Records([Collected("a", "yes", "yes"), Collected("b", "no", "no")])
    >>> found = constant_comparisons(task, records)
    >>> found["accuracy_beats_constant"], found['accuracy[constant="yes"]']
    (1.0, 0.5)
    """
    made: dict[str, float] = {}
    for name in task.headlines:
        own = records.of_score(name)
        if records.broken or (records.examples and not own.examples):
            made[f"{name}{BEATS_CONSTANT}"] = math.nan
        elif not own.examples:
            made[f"{name}{BEATS_CONSTANT}"] = 0.0
        else:
            made |= _compared(task, name, own)
    return made


def _compared(task: Task, name: str, records: Records) -> dict[str, float]:
    score, options = score_of(name), task.score_options(name)
    found = _best_constant(task, name, records)
    if found is None:
        return {f"{name}{BEATS_CONSTANT}": 1.0}
    title, value, constant = found
    examples = records.of(score)
    how = Resampling(resamples=RESAMPLES)
    sign = 1.0 if score.greater_is_better else -1.0

    def better_by(value_of: Callable[[Ints], float]) -> Interval:
        return how.interval(len(examples), lambda places: sign * (value_of(places) - constant(places)))

    above = better_by(value_of_places(name, examples, **options))
    most = better_by(_right_answers(score, name, examples, options))
    made = {
        f"{name}{BEATS_CONSTANT}": float(_is_better(above, most)),
        in_slice(name, CONSTANT + title): value,
    }
    for key, interval in ((_ABOVE, above), (_MOST_ABOVE, most)):
        for end, each in zip(_ENDS, interval, strict=True):
            made[in_slice(f"{name}{key}{end}", CONSTANT + title)] = each
    return made | {in_slice(f"{name}{_RECORDS}", CONSTANT + title): float(len(examples))}


def _is_better(above: Interval, most: Interval) -> bool:
    if most.low > _ROUNDING:
        return above.low > _ROUNDING
    if most.value > _ROUNDING:
        return above.value > _ROUNDING
    return above.value >= -_ROUNDING


def _best_constant(
    task: Task, name: str, records: Records
) -> tuple[str, float, Callable[[Ints], float]] | None:
    """Returns the title of the best constant answer, its score, and that as a function of places."""
    score, options = score_of(name), task.score_options(name)
    if not score.inputs.reads_reference:
        return None
    # In the order of ids, so that of equally good answers the same is taken each time.
    examples = sorted(records.of(score), key=lambda each: each.id)
    references = [each.reference for each in examples]
    if score.of_chance is not None:
        by_chance = score.of_chance(references)
        return CHANCE_TITLE, by_chance, lambda places: by_chance
    own = task.of_source(source) if (source := name.rpartition(".")[0]) else task
    candidates = {
        title: [
            dataclasses.replace(each, prediction=score.inputs.of_answer(answer))
            for each, answer in zip(examples, answers, strict=True)
        ]
        for title, answers in own.constant_answers(references).items()
    }
    texts = {LEAD_TITLE: records.lead if score.of_summaries else [], COPY_TITLE: records.copies}
    candidates |= {title: found for title, found in texts.items() if found}
    values = {title: compute(name, each, **options).value for title, each in candidates.items()}
    if not values:
        return None
    title = (max if score.greater_is_better else min)(values, key=values.__getitem__)
    return title, values[title], value_of_places(name, candidates[title], **options)


def _right_answers(
    score: Score, name: str, examples: Sequence[Collected], options: Mapping[str, Any]
) -> Callable[[Ints], float]:
    """Returns the score of right answers, as a function of places."""
    right = score.inputs.right
    if right is None:
        return lambda places: score.best
    answered = [dataclasses.replace(each, prediction=right(each.reference)) for each in examples]
    return value_of_places(name, answered, **options)


@dataclasses.dataclass(frozen=True)
class ConstantComparison:
    """A score of a model next to that of the best constant answer.

    Attributes:
        score: The score with its interval.
        answer: The constant answer, in words.
        value: Score of the constant answer.
        above: How much better the model is, on the same records.
        most_above: How much better right answers would be.
        records: Number of records that are compared.
        greater_is_better: True if a greater score is better.
        is_better: True if the model counts as better.
    """

    score: str
    answer: str
    value: float
    above: Interval
    most_above: Interval
    records: int
    greater_is_better: bool
    is_better: bool

    @property
    def text(self) -> str:
        """The comparison as a sentence."""
        sided = "above" if self.greater_is_better else "below"
        constant = f"{self.value:.3f} of the constant answer {self.answer}"
        on = f"{self.records:,} held-out records"
        negation = "" if self.is_better else "not "
        if self.most_above.low > _ROUNDING:
            by = f"better by {self.above.value:.3f} [{self.above.low:.3f}, {self.above.high:.3f}] on {on}"
            return f"{self.score} is {negation}{sided} {constant} ({by})"
        if self.most_above.value > _ROUNDING:
            few = f"by the values alone, as {on} are too few for an interval"
            return f"{self.score} is {negation}{sided} {constant} ({few})"
        return f"{self.score} is {negation}as good as {constant} (no answers are better on these {on})"


def constant_comparison(
    evaluation: Mapping[str, Mapping[str, float]], name: str
) -> ConstantComparison | None:
    """Returns the comparison of a score, as an evaluation has it; None if it was not compared."""
    overall = evaluation.get(OVERALL, {})
    for slice_name, values in evaluation.items():
        if slice_name.startswith(CONSTANT) and f"{name}{_ABOVE}" in values:
            above, most = (
                Interval(*(values[f"{name}{key}{end}"] for end in _ENDS)) for key in (_ABOVE, _MOST_ABOVE)
            )
            value, low, high = (overall.get(f"{name}{end}", math.nan) for end in _ENDS)
            return ConstantComparison(
                f"{name} {value:.3f} [{low:.3f}, {high:.3f}]",
                slice_name.removeprefix(CONSTANT),
                values[name],
                above,
                most,
                int(values[f"{name}{_RECORDS}"]),
                score_of(name).greater_is_better,
                overall.get(f"{name}{BEATS_CONSTANT}") == 1.0,
            )
    return None


def comparison_sentences(evaluation: Mapping[str, Mapping[str, float]], goal: Goal) -> dict[str, str]:
    """Returns the comparisons of a task's model that has no thresholds, by the metric that decides.

    Example:

    >>> from firth.recipes.tasks.dialogue import Dialogue
    >>> comparison_sentences({"overall": {"perplexity_over_unigram": 0.25}}, Dialogue(scores=()))
    {'perplexity_over_unigram': 'perplexity_over_unigram is 0.25, at most 1 is asked'}
    """
    overall = evaluation.get(OVERALL, {})
    return {
        metric: compared_sentence(evaluation, metric) or describe(metric, overall[metric], Bounds(*sides))
        for metric, sides in goal.constant_bounds.items()
        if metric in overall
    }


def compared_sentence(evaluation: Mapping[str, Mapping[str, float]], metric: str) -> str:
    """Returns the comparison that a metric `<score>_beats_constant` decides; empty for another metric."""
    name = metric.removesuffix(BEATS_CONSTANT)
    if name == metric:
        return ""
    value = evaluation.get(OVERALL, {}).get(metric, math.nan)
    if (found := constant_comparison(evaluation, name)) is not None:
        return found.text
    if math.isnan(value):
        return f"{name} is not a number, so that it cannot be compared with a constant answer"
    return f"{name} has no constant answer to be compared with" if value else f"{name} is of no records"
