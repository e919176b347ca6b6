"""The description of the server names the addresses that its models answer at, and no others."""

import json

from firth.serving.server.openapi import openapi
from tests.exported_model import RECIPE
from tests.serving.server.openai.served import ENCODER, WRITER, models_of


def references(value):
    if isinstance(value, dict):
        yield from (value["$ref"],) if "$ref" in value else ()
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from references(each)


def test_the_addresses_of_what_is_served(made_once):
    found = openapi(models_of(made_once))
    assert json.loads(json.dumps(found)) == found
    assert {"/v1/completions", "/v1/embeddings", "/v1/rerank", "/v1/fill_mask", "/tokenize"} <= set(
        found["paths"]
    )
    assert not {"/v1/classify", "/v1/tag", "/v1/chat/completions"} & set(found["paths"])
    schemas = found["components"]["schemas"]
    for each in references(found):
        assert each.removeprefix("#/components/schemas/") in schemas
    assert WRITER in found["paths"]["/v1/completions"]["post"]["summary"]
    assert ENCODER not in found["paths"]["/v1/completions"]["post"]["summary"]
    body = schemas["CompletionBody"]
    assert body["additionalProperties"] is False and "max_tokens" in body["properties"]
    assert "Most tokens" in body["properties"]["max_tokens"]["description"]
    assert schemas[f"{ENCODER}.embed.inputs"]["required"] == ["text"]
    vector = schemas[f"{ENCODER}.embed.outputs"]["properties"]["embedding"]
    assert (vector["type"], vector["items"], vector["minItems"]) == (
        "array",
        {"type": "number"},
        RECIPE.model.width,
    )
    assert f"/v1/models/{ENCODER}:predict" in found["paths"]
