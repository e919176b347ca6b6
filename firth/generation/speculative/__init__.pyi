from .proposals import DraftProposer as DraftProposer, LookupProposer as LookupProposer, Proposer as Proposer
from .speculative_generator import SpeculativeGenerator as SpeculativeGenerator
from .speculative_writer import (
    Speculating as Speculating,
    SpeculativeWriter as SpeculativeWriter,
    accept as accept,
)
