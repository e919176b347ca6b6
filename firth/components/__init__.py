"""TFX components. Each is loaded when it is first asked for, since TFX itself takes long to import."""

import importlib

_HOMES = {
    "CorpusExampleGen": "corpus_example_gen",
    "Curator": "curator",
    "TokenizerGen": "tokenizer_gen",
    "SequenceGen": "sequence_gen",
    "ServingValidator": "serving_validator",
    "Reporter": "reporter",
}
_ARTIFACTS = ("Tokenizer", "CorpusReport", "ServingReport", "RunReport")

__all__ = [*_HOMES, *_ARTIFACTS]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f"firth.components.{_HOMES[name]}.component"), name)
    if name in _ARTIFACTS:
        return getattr(importlib.import_module("firth.components.artifacts"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
