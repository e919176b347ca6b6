"""Renders the record of a run as one self-contained HTML page."""

import math
from collections.abc import Mapping
from typing import cast

from firth.recipes import Cleaning, Recipe, recipe_to_yaml
from firth.recipes.base.yaml_text import write_yaml
from firth.reports import plots
from firth.reports.corpus_view import CorpusView
from firth.reports.distributions import SHARES
from firth.reports.page import count, number, render_page, tensorboard_command
from firth.reports.quantities import bytes_text, seconds_text
from firth.reports.record import RunRecord, main_perplexity
from firth.reports.threshold_results import overall, threshold_results

# Each has a template of its own, `section_<id>.html.j2`.
SECTIONS = (
    ("evaluation", "Evaluation"),
    ("sentences", "Held-out sentences"),
    ("objective", "Objective"),
    ("training", "Training"),
    ("corpus", "Corpus"),
    ("rows", "Tokens and rows"),
    ("serving", "Serving validation"),
    ("cost", "Time and memory"),
    ("recipe", "Recipe"),
    ("lineage", "Lineage and versions"),
)
CORPUS_SECTIONS = (("corpus", "Corpus"), ("cleaning", "Cleaning"))


def render_report(record: RunRecord) -> str:
    """Returns the page. It needs no script and nothing from outside, and escapes all text of documents.

    Args:
        record: Record of the run.

    Example:

    >>> from firth.recipes import load_recipe
    >>> page = render_report(RunRecord(load_recipe("demo")))
    >>> page.startswith("<!DOCTYPE html>"), "not recorded" in page
    (True, True)
    """
    metrics = overall(record.evaluation)
    limits = cast("Recipe", record.recipe).cleaning.limits
    corpus = (
        CorpusView(record.corpus, record.corpus_steps, limits, record.sequence_counts)
        if record.corpus
        else None
    )
    return render_page(
        kind="run report",
        title=record.recipe.name,
        description=record.recipe.description,
        record=record,
        sections=SECTIONS,
        metrics=metrics,
        threshold_results=threshold_results(record.recipe.evaluation, record.recipe.goal, metrics),
        headline=_headline(record, metrics),
        training_plots=_training_plots(record, metrics),
        tensorboard=tensorboard_command(record.curves) if record.curves else "",
        corpus=corpus,
        corpus_plots=_corpus_plots(corpus),
        measured_plots=_measured_plots(corpus),
        quantile_shares=SHARES,
        vocabulary_plots=_vocabulary_plots(record),
        recipe_yaml=recipe_to_yaml(record.recipe),
        slowest=max((timing.get("seconds") or 0.0 for timing in record.timings.values()), default=0.0),
    )


def render_corpus_report(name: str, cleaning: Cleaning, corpus: CorpusView) -> str:
    """Returns a page on the corpus alone, like that of `render_report`.

    Args:
        name: Name of the recipe.
        cleaning: Cleaning of the recipe.
        corpus: Report of the corpus.
    """
    return render_page(
        kind="corpus report",
        title=name,
        description="",
        sections=CORPUS_SECTIONS,
        headline=_corpus_headline(corpus),
        corpus=corpus,
        corpus_plots=_corpus_plots(corpus),
        measured_plots=_measured_plots(corpus),
        quantile_shares=SHARES,
        recipe_yaml=write_yaml(cleaning.model_dump(mode="json")),
    )


def _headline(record: RunRecord, metrics: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Returns the page's first figures: name, value, and a figure to compare it with."""
    seconds = sum(timing.get("seconds") or 0.0 for timing in record.timings.values())
    trained = record.history[-1].get("tokens") if record.history else None
    states = {True: "yes", False: "no", None: "not recorded"}
    return [
        (
            "Held-out perplexity",
            number(main_perplexity(metrics)),
            f"unigram baseline {number(metrics.get('unigram_perplexity'))}",
        ),
        ("Blessed", states[record.blessed], f"pushed: {states[record.pushed]}"),
        (
            "Parameters",
            count(record.parameters.get("total_with_heads")),
            f"vocabulary: {count(len(record.vocabulary) or None)}",
        ),
        ("Tokens trained on", count(trained), "padding not counted"),
        ("Wall time", seconds_text(seconds) if record.timings else "not recorded", "of all components"),
    ]


def _training_plots(record: RunRecord, metrics: Mapping[str, float]) -> dict[str, str]:
    """Returns SVG elements by title."""
    if not record.history:
        return {}
    unigram = metrics.get("unigram_perplexity")
    loss = math.log(unigram) if unigram and math.isfinite(unigram) else None
    goal = record.recipe.goal
    drawn = plots.training_plots(record.history, goal.loss_terms, loss, goal.main_loss)
    return {**drawn, "Non-padding tokens per second": plots.speed_plot(record.history)}


def _corpus_headline(corpus: CorpusView) -> list[tuple[str, str, str]]:
    flow = corpus.flow()
    broken = sum(not limit.is_kept for limit in corpus.measured_limits)
    return [
        ("Documents kept", count(flow.kept["documents"]), f"of {count(flow.came['documents'])} read"),
        ("Bytes kept", bytes_text(flow.kept["bytes"]), f"of {bytes_text(flow.came['bytes'])}"),
        ("Words kept", count(flow.kept["words"]), f"of {count(flow.came['words'])}"),
        ("Sources", count(len(corpus.sources)), _licences(len(corpus.licences))),
        ("Limits broken", count(broken), f"of {count(len(corpus.measured_limits))} that are set"),
    ]


def _corpus_plots(corpus: CorpusView | None) -> dict[str, str]:
    if corpus is None:
        return {}
    drawn = {
        f"Documents by number of {unit}": plots.length_plot(corpus.report["lengths"], unit)
        for unit in ("words", "characters")
    }
    drawn["Documents by language"] = plots.language_plot(corpus.report["languages"])
    for step, found in corpus.scored:
        drawn[f"Documents by the score of {step}"] = plots.score_plot(step, found["scores"])
    return drawn


def _measured_plots(corpus: CorpusView | None) -> dict[str, dict[str, str]]:
    """Returns SVG elements by the names of the step and of the measure."""
    drawn: dict[str, dict[str, str]] = {}
    for each in corpus.distributions if corpus else ():
        drawn.setdefault(each.step, {})[each.measure] = plots.distribution_plot(each)
    return drawn


def _vocabulary_plots(record: RunRecord) -> dict[str, str]:
    if not record.vocabulary:
        return {}
    title = f"{len(record.vocabulary):,} pieces by number of characters"
    return {title: plots.vocabulary_plot(record.vocabulary)}


def _licences(number: int) -> str:
    return "1 licence" if number == 1 else f"{count(number)} licences"
