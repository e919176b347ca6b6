"""Reporter: one page on the whole run."""

from firth.components.reporter.component import Reporter

__all__ = ["Reporter"]
