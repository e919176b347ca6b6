"""CorpusReporter: one page on the corpus."""

from firth.components.corpus_reporter.component import CorpusReporter

__all__ = ["CorpusReporter"]
