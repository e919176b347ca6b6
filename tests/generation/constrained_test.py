"""Texts of random weights that are held to a constraint: what is completed is valid."""

import functools
import json

import jsonschema
import pytest

from firth.generation import Generator
from firth.models import build_pretraining_model
from firth.recipes.generation.request import GenerationRequest
from firth.recipes.tokenizers.tokenizer import (
    BytePairTokenizerConfig,
    SentencePieceTokenizerConfig,
    Sequences,
)
from firth.tokenizers import (
    BytePairTokenizer,
    SentencePieceTokenizer,
    count_byte_words,
    count_spaced_words,
    train_byte_pairs,
    train_sentencepiece,
)
from tests.models.table import MODELS, OTHERS, TRAINED, tiny_recipe

TEXTS = ['{"name": "Zoë", "count": [1, 2, 30], "kind": "cat"}', "the quick brown fox; yes or no"] * 3
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["cat", "dög", 'a"b\\', 7]},
        "name": {"type": "string", "maxLength": 4},
        "count": {"type": "array", "items": {"type": "integer", "minimum": -5, "maximum": 30}, "maxItems": 2},
        "born": {"type": "string", "format": "date"},
    },
    "required": ["kind", "count", "born"],
    "additionalProperties": False,
}
LENGTH = 200


@functools.cache
def generator(goal: str, kind: str) -> Generator:
    """Returns the generator of a tiny model of random weights."""
    family, objective = TRAINED[goal]
    model = (MODELS.get(family) or OTHERS[family]).model_copy(update={"layers": 1})
    if kind == "bpe":
        pieces = train_byte_pairs(count_byte_words(TEXTS), 330, 1, 16)
        tokenizer, config = BytePairTokenizer(pieces), BytePairTokenizerConfig
    else:
        made = train_sentencepiece(count_spaced_words(TEXTS), 350, "bpe", 16, byte_fallback=True)
        tokenizer, config = SentencePieceTokenizer(made), SentencePieceTokenizerConfig
    recipe = tiny_recipe(
        model,
        objective=objective,
        tokenizer=config(vocabulary_size=tokenizer.vocabulary_size(), sentinels=16),
        sequences=Sequences(length=LENGTH, max_documents=2),
    )
    return Generator(build_pretraining_model(recipe), tokenizer, recipe)


def is_valid(text: str) -> bool:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(SCHEMA, format_checker=checker).is_valid(json.loads(text))


SAMPLERS = {
    "greedy": {"repetition_penalty": 1.3},
    "sample": {"temperature": 1.5, "no_repeat_ngram_size": 2},
    "beam": {"beams": 3},
    "contrastive": {"penalty_alpha": 0.6},
}


@pytest.mark.parametrize(
    ("goal", "kind", "sampler"),
    [
        ("causal_lm, table of its own", "bpe", "greedy"),
        ("causal_lm, table of its own", "bpe", "sample"),
        ("causal_lm, table of its own", "sentencepiece", "beam"),
        ("span_corruption", "sentencepiece", "sample"),
        ("span_corruption", "bpe", "contrastive"),
    ],
)
def test_completed_texts_are_valid(goal, kind, sampler):
    requests = [
        GenerationRequest.with_values(
            {
                "constraint": {"kind": "json_schema", "json_schema": SCHEMA, "white_space": white_space},
                "max_new_tokens": most,
                "seed": seed,
                **SAMPLERS[sampler],
            }
        )
        for seed, (white_space, most) in enumerate([("compact", 150), ("single", 150), (2, 12)])
    ]
    found = generator(goal, kind).generate(["the fox", "yes", "a cat"], requests)
    assert [each.complete for each in found] == [each.ended == "end" for each in found]
    assert sum(each.complete for each in found) >= 2
    for each in found:
        if each.complete:
            assert is_valid(each.text), each.text
            assert each.text == each.text.strip()
