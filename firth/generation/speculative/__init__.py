"""Speculative decoding: tokens are guessed, and the model reads them all at once to see which it keeps."""

from firth.generation.speculative.acceptance import accept
from firth.generation.speculative.proposals import DraftProposer, LookupProposer, Proposer
from firth.generation.speculative.speculative_generator import SpeculativeGenerator
from firth.generation.speculative.speculative_writer import Speculating, SpeculativeWriter

__all__ = [
    "DraftProposer",
    "LookupProposer",
    "Proposer",
    "Speculating",
    "SpeculativeGenerator",
    "SpeculativeWriter",
    "accept",
]
