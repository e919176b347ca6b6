"""Recipes whose parameters, FLOPs and bytes tests count."""

from firth.recipes import (
    AttentionConfig,
    MaskedTransformerConfig,
    Recipe,
    TextSource,
)

BASE = MaskedTransformerConfig()
LARGE = MaskedTransformerConfig(layers=24, width=1024, attention=AttentionConfig(heads=16))
SOURCES = (TextSource(kind="text", paths=("*.txt",)),)


def recipe(model, **parts) -> Recipe:
    return Recipe(name="counted", sources=SOURCES, model=model, **parts)
