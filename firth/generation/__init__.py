"""Texts that a trained model writes, token by token.

from firth.generation import load_generator

generator = load_generator("firth-runs/name/bundle")
print(generator.generate("Once upon a time").text)
"""

from firth.generation.controls import Controls, controls_of
from firth.generation.engines import ENGINES, generate, load_generator
from firth.generation.generator import Generator
from firth.generation.readers import READERS, DecoderReader, StackReader, WordReader, reader_of
from firth.generation.reading import Prompts, ReadRows, TokenReader, last_states
from firth.generation.results import Generated, TextStream
from firth.generation.samplers import SAMPLERS
from firth.generation.speculative import SpeculativeGenerator
from firth.generation.text_generator import TextGenerator
from firth.generation.writing import DecodedTexts, Writer, Writing

__all__ = [
    "ENGINES",
    "READERS",
    "SAMPLERS",
    "Controls",
    "DecodedTexts",
    "DecoderReader",
    "Generated",
    "Generator",
    "Prompts",
    "ReadRows",
    "SpeculativeGenerator",
    "StackReader",
    "TextGenerator",
    "TextStream",
    "TokenReader",
    "WordReader",
    "Writer",
    "Writing",
    "controls_of",
    "generate",
    "last_states",
    "load_generator",
    "reader_of",
]
