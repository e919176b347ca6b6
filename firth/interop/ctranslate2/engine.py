"""CTranslate2 as an engine of `firth.generation.engines`, by the names that every engine has."""

from firth.interop.ctranslate2.encoding import EncodingModel
from firth.interop.ctranslate2.generating import CTranslate2Generator

generator_of, model_of = CTranslate2Generator, EncodingModel
