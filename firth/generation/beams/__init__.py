"""Beam search: several beginnings of each text are written on side by side, and the best texts are kept."""

from firth.generation.beams.beam_search import BeamSearcher, Searching
from firth.generation.beams.hypotheses import Hypotheses

__all__ = ["BeamSearcher", "Hypotheses", "Searching"]
