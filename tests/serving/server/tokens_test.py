"""The tokenizer over HTTP, as an evaluation harness reads it."""

import pytest

from tests.generation.cases import PIECES
from tests.serving.server.openai.served import ENCODER, WRITER, http_of

SPECIAL = PIECES[:5]


def test_special_pieces_by_their_roles(made_once):
    found = http_of(made_once).get("/tokenizer_info").json()
    assert (found["bos_token"], found["eos_token"], found["pad_token"]) == ("[CLS]", "[SEP]", "[PAD]")
    assert found["chat_template"] is None and found["vocab_size"] == len(PIECES)


def test_texts_to_tokens_and_back(made_once):
    http = http_of(made_once)

    def tokens(text, **others):
        found = http.post("/tokenize", json={"prompt": text, "model": WRITER, **others}).json()
        assert found["count"] == len(found["tokens"])
        return found["tokens"]

    assert tokens("the fox") == [2, 5, 6]
    assert tokens("the fox", add_special_tokens=False) == [5, 6]
    assert tokens("", add_special_tokens=False) == []
    for piece in SPECIAL:
        assert tokens(piece, add_special_tokens=False) == [PIECES.index(piece)]
    assert tokens("the[SEP]fox [CLS]", add_special_tokens=False) == [5, 3, 6, 2]
    # A name that somebody typed is ordinary text in a prompt.
    assert 3 not in tokens("[SEP]")
    for ids, text in (([5, 6], "the fox"), ([2, 5, 3], "[CLS]the[SEP]"), ([], "")):
        assert http.post("/detokenize", json={"tokens": ids}).json() == {"prompt": text}
    named = http.post("/tokenize", json={"prompt": "dogs", "return_token_strs": True}).json()
    assert named["token_strs"][0] == "[CLS]" and "".join(named["token_strs"][1:]) == "dogs"


@pytest.mark.parametrize(
    ("path", "body", "status", "parameter"),
    [
        ("/detokenize", {"tokens": [99]}, 400, "tokens"),
        ("/detokenize", {"tokens": [-1]}, 400, "tokens"),
        ("/tokenize", {"prompt": 7}, 400, "prompt"),
        ("/tokenize", {"prompt": "[CLS]" * 20_000, "add_special_tokens": False}, 400, "prompt"),
        ("/tokenize", {"prompt": "a", "add_generation_prompt": True}, 400, "add_generation_prompt"),
        ("/tokenize", {"prompt": "a", "model": ENCODER}, 404, "model"),
        ("/tokenize", {"prompt": "a", "model": "writre"}, 404, "model"),
    ],
)
def test_what_is_refused(made_once, path, body, status, parameter):
    found = http_of(made_once).post(path, json=body)
    assert (found.status_code, found.json()["error"]["param"]) == (status, parameter)
