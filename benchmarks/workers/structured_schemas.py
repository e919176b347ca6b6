"""The schemas of `benchmarks.structured`: none needs a keyword that one of the engines lacks."""

from typing import Any

from benchmarks.workers.generation_sizes import GenerationSize

# Pieces in front of a vocabulary; the model ends a text with the fourth.
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
END = SPECIAL.index("[SEP]")


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


def _list(items: Any, least: int, most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


_INTEGER, _TRUTH = {"type": "integer"}, {"type": "boolean"}
_COLOURS = {"enum": ["red", "green", "blue", "yellow", "orange", "violet", "black", "white"]}

SCHEMAS: dict[str, dict[str, Any]] = {
    "sentiment": _object(sentiment={"enum": ["positive", "negative", "neutral"]}, is_certain=_TRUTH),
    "colours": _list(_COLOURS, 12, 16),
    "flags": _list(_TRUTH, 20, 30),
    "integers": _list(_INTEGER, 12, 20),
    "person": _object(name=_text(24), born={"type": "string", "format": "date"}, married=_TRUTH),
    "order": _object(
        id={"type": "string", "format": "uuid"},
        lines=_list(_object(article=_text(12), count=_INTEGER, colour=_COLOURS), 1, 3),
    ),
    "event": _object(
        at={"type": "string", "format": "date-time"}, kind={"enum": ["begin", "end"]}, note=_text(40)
    ),
    "codes": _list({"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"}, 6, 8),
    "either": _list({"anyOf": [_INTEGER, _TRUTH, _text(8), {"type": "null"}]}, 8, 12),
    "texts": _list(_text(20), 3, 5),
}


def prompts(size: GenerationSize, batch: int) -> list[list[int]]:
    """Returns tokens of random prompts, which no tokenizer would give."""
    import numpy as np

    drawn = np.random.default_rng(0).integers(len(SPECIAL), size.vocabulary, (batch, size.prompt))
    return drawn.tolist()
