from firth.generation.proposals import (
    DraftProposer as DraftProposer,
    LookupProposer as LookupProposer,
    Proposer as Proposer,
)
from firth.generation.speculative_generator import (
    Speculating as Speculating,
    SpeculativeGenerator as SpeculativeGenerator,
    SpeculativeWriter as SpeculativeWriter,
    accept as accept,
)
