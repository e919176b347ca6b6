from .controls import Controls as Controls, controls_of as controls_of
from .engines import ENGINES as ENGINES, generate as generate, load_generator as load_generator
from .generator import Generator as Generator
from .readers import (
    READERS as READERS,
    DecoderReader as DecoderReader,
    StackReader as StackReader,
    WordReader as WordReader,
    reader_of as reader_of,
)
from .results import Generated as Generated, TextStream as TextStream
from .samplers import SAMPLERS as SAMPLERS
from .speculative import SpeculativeGenerator as SpeculativeGenerator
from .text_generator import TextGenerator as TextGenerator
from .token_reader import (
    Prompts as Prompts,
    ReadRows as ReadRows,
    TokenReader as TokenReader,
    last_states as last_states,
)
from .writer import DecodedTexts as DecodedTexts, Writer as Writer, Writing as Writing
