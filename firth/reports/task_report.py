"""Renders the record of a run that adapts a model as one self-contained HTML page."""

from firth.evaluation.constant_answers import CONSTANT, comparison_sentences
from firth.evaluation.record_scores import CLEAN, EXAMPLE_COUNT, LEAD, OVERALL
from firth.recipes import recipe_to_yaml
from firth.reports import plots
from firth.reports.page import count, render_page, tensorboard_command
from firth.reports.quantities import seconds_text
from firth.reports.record import RunRecord
from firth.reports.task_collect import TaskRecord
from firth.reports.task_scores import (
    clean_scores,
    contamination_line,
    held_out_scores,
    served_line,
    whole_and_clean,
)
from firth.reports.threshold_results import COUNTS, overall, threshold_results

# Each has a template of its own, `section_<id>.html.j2`.
SECTIONS = (
    ("scores", "Scores"),
    ("answers", "Answers"),
    ("training", "Training"),
    ("records", "Labelled records"),
    ("serving", "Serving validation"),
    ("cost", "Time and memory"),
    ("recipe", "Recipe"),
    ("lineage", "Lineage and versions"),
)
# Slices that stand next to the whole, and not in the table of slices.
_OWN_COLUMNS = (OVERALL, CLEAN, LEAD)


def render_task_report(record: RunRecord, task: TaskRecord) -> str:
    """Returns the page. It needs no script and nothing from outside, and escapes all text of records.

    Example: see `tests/reports/task_report_test.py`.
    """
    metrics, goal = overall(record.evaluation), record.recipe.goal
    scores = held_out_scores(metrics, goal.score_names)
    # A row may hold several short records, so its count next to the scores would be read as theirs.
    named = {*COUNTS, *goal.comparison_metrics}
    named |= {name for each in goal.score_names for name in (each, f"{each}_low", f"{each}_high")}
    return render_page(
        kind="task report",
        title=record.recipe.name,
        description=record.recipe.description,
        record=record,
        task=task,
        sections=SECTIONS,
        scores=scores,
        tokenizers={each.name: goal.score_options(each.name).get("tokenize") for each in scores},
        others={name: value for name, value in metrics.items() if name not in named},
        slices={
            name: each
            for name, each in record.evaluation.items()
            if name not in _OWN_COLUMNS and not name.startswith(CONSTANT)
        },
        comparisons=list(comparison_sentences(record.evaluation, goal).values()),
        beats_constant=record.recipe.evaluation.compares_with_constant,
        served=served_line((record.serving or {}).get("held_out")),
        lead={each.name: each for each in held_out_scores(record.evaluation.get(LEAD, {}), goal.score_names)},
        clean={each.name: each for each in clean_scores(record.evaluation, goal.score_names)},
        whole_and_clean=whole_and_clean(record.evaluation),
        contamination=contamination_line(task.contamination),
        score_names=[each.name for each in scores],
        example_count=metrics.get(EXAMPLE_COUNT),
        threshold_results=threshold_results(record.recipe.evaluation, record.recipe.goal, metrics)
        if record.recipe.evaluation.thresholds
        else [],
        headline=_headline(record, task, metrics),
        training_plots=plots.training_plots(record.history, goal.loss_terms),
        tensorboard=tensorboard_command(record.curves) if record.curves else "",
        recipe_yaml=recipe_to_yaml(record.recipe),
        slowest=max((timing.get("seconds") or 0.0 for timing in record.timings.values()), default=0.0),
    )


def _headline(record: RunRecord, task: TaskRecord, metrics: dict[str, float]) -> list[tuple[str, str, str]]:
    """Returns the page's first figures: name, value, and a figure to compare it with."""
    states = {True: "yes", False: "no", None: "not recorded"}
    seconds = sum(timing.get("seconds") or 0.0 for timing in record.timings.values())
    splits = (task.records or {}).get("splits", {})
    kept = {name: split["kept"] for name, split in splits.items()}
    scores = [
        (f"Held-out {each.name.replace('_', ' ')}", f"{each.value:.3f}", _interval(each.low, each.high))
        for each in held_out_scores(metrics, record.recipe.goal.score_names)[:1]
    ]
    return [
        *(scores or [("Held-out scores", "not recorded", "")]),
        ("Blessed", states[record.blessed], f"pushed: {states[record.pushed]}"),
        ("Records to train on", count(kept.get("train")), f"held out: {count(kept.get('eval'))}"),
        (
            "Parameters trained",
            count(task.trained),
            f"backbone: {count(record.parameters.get('total'))}",
        ),
        ("Wall time", seconds_text(seconds) if record.timings else "not recorded", "of all components"),
    ]


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"95% interval {low:.3f} to {high:.3f}"
