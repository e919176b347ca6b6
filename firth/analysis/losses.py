"""Names of losses for readers."""

from collections.abc import Mapping

TITLES = {
    "mlm": "masked LM",
    "lm": "LM",
    "nsp": "next sentence prediction",
    "sop": "sentence order prediction",
    "sbo": "span boundary objective",
    "rtd": "replaced token detection",
}
# Losses with two answers, and what guessing costs, in nats.
BINARY = ("nsp", "sop", "rtd")
GUESSING = 0.6931


def main_perplexity(metrics: Mapping[str, float]) -> tuple[str, float | None]:
    """Returns the name and the value of the main metric: the perplexity of masked LM, or of LM, on text.

    Runs from before `text_perplexity` was recorded give the perplexity of all predictions.

    Args:
        metrics: Metrics over the whole split, by name.

    Example:

    >>> main_perplexity({"lm_perplexity": 12.5, "lm_accuracy": 0.3, "text_perplexity": 14.0})
    ('LM', 14.0)
    """
    for loss in ("mlm", "lm"):
        if (value := metrics.get(f"{loss}_perplexity")) is not None:
            return TITLES[loss], metrics.get("text_perplexity", value)
    return "", None
