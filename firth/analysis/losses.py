"""The figure that a model is judged by."""

from collections.abc import Mapping


def main_perplexity(metrics: Mapping[str, float]) -> float | None:
    """Returns the perplexity of a model's main loss on text; None if it was not measured.

    Runs from before `text_perplexity` was recorded give the perplexity of all predictions.

    Example:

    >>> main_perplexity({"lm_perplexity": 12.5, "lm_accuracy": 0.3, "text_perplexity": 14.0})
    14.0
    """
    others = (value for name, value in metrics.items() if name.endswith("lm_perplexity"))
    return metrics.get("text_perplexity", next(others, None))
