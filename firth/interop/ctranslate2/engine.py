"""CTranslate2 as an engine of `firth.generation.engines`, by the names that every engine has."""

from firth.interop.ctranslate2.encoder import EncodingModel
from firth.interop.ctranslate2.generator import CTranslate2Generator

generator_of, model_of = CTranslate2Generator, EncodingModel
