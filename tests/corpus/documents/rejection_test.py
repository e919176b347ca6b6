"""Records that were rejected are quoted without personal data."""

import json
import random

import pytest

from firth.corpus import SourceError
from firth.corpus.documents.rejection import BEGINNING_BYTES, EXCERPT_CHARACTERS, Rejection
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.quality.classifier import ReadReference
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.helpers import make_pipeline, read_to

EMAIL, CARD = "jane.roe@larkmail.org", "4111 1111 1111 1111"
SCRUBBER = scrubber_for(Cleaning())
TOKEN = f"eyJ{'hbGciOiJI' * 200}.eyJ{'zdWIiOiIx' * 800}.{'dBjftJeZ' * 5}"


def excerpt(data: bytes, size: int | None = None) -> str:
    return Rejection("web", "a", 1, "malformed_json", size or len(data), data[:BEGINNING_BYTES]).excerpt(
        SCRUBBER
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"text": "Call me', '{"text": "Call me'),
        (f'{{"to": "{EMAIL}", "card": "{CARD}'.encode(), '{"to": "<EMAIL>", "card": "<CREDIT_CARD>'),
        # The character before it is not a letter.
        (b'{"text": "Pay\\n4111 1111 1111 1111', '{"text": "Pay\n<CREDIT_CARD>'),
        (b'{"text": "jane\\u0040larkmail.org', '{"text": "<EMAIL>'),
        (b"\xff4111111111111111\xe9", "\\xff<CREDIT_CARD>\\xe9"),
        (b"caf\xe9 " + EMAIL.encode(), "caf\\xe9 <EMAIL>"),
        (f"To {EMAIL}".encode("utf-16"), "\\xff\\xfeTo <EMAIL>"),
        (f"To {EMAIL}".encode("utf-16-be"), "To <EMAIL>"),
        (b"\x00\x01\x1b[31m", "[31m"),
        (b'"\\ud800"', '"\ud800"'),
        # What the end cuts is replaced as a whole.
        (b"x" * 70 + b" " + EMAIL.encode() + b" more", "x" * 70 + " <EMAIL>"),
        (b"x" * 70 + b" " + TOKEN.encode() + b" more", "x" * 70 + " <SECRET>"),
        (b"", ""),
    ],
)
def test_excerpts(data, expected):
    assert excerpt(data) == expected


@pytest.mark.parametrize(
    "data", [b"\x89PNG " + random.Random(1).randbytes(2**14), b"It was the best of times. " * 700]
)
def test_what_comes_after_the_excerpt_is_hardly_looked_at(data, monkeypatch):
    find, looked_at = SCRUBBER.find, []
    monkeypatch.setattr(SCRUBBER, "find", lambda text: looked_at.append(len(text)) or find(text))
    assert len(excerpt(data)) >= EXCERPT_CHARACTERS
    assert sum(looked_at) <= 2000


def test_a_key_that_is_longer_than_what_is_looked_at_first():
    key = "\n".join(["MIIEpAIBAAKCAQEA" * 4] * 30)
    block = f"-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY----- and more"
    assert excerpt(block.encode()) == "-----BEGIN RSA PRIVATE KEY-----\n<SECRET>"


def test_a_record_that_was_cut_early_is_not_quoted():
    assert excerpt(EMAIL.encode()[:16], size=1000) == ""
    assert excerpt(b"a" * BEGINNING_BYTES, size=BEGINNING_BYTES + 1) == "a" * EXCERPT_CHARACTERS


def test_rejected_records_are_written_without_personal_data(tmp_path):
    lines = [f'["{EMAIL}"]', f'{{"text": "{CARD}', f'"tel 020 7946 0123 {"x" * 100}', '{"text": "Fine."}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/a.jsonl",))
    read_to(tmp_path, [source], PiiStep(kind="pii", phone_regions=("GB",)))
    rejected = [json.loads(line) for line in (tmp_path / "rejected.jsonl").read_text().splitlines()]
    assert [each["excerpt"] for each in rejected][:2] == ['["<EMAIL>"]', '{"text": "<CREDIT_CARD>']
    assert rejected[2]["excerpt"].startswith('"tel <PHONE> xxx')


def test_an_error_quotes_no_personal_data(tmp_path):
    (tmp_path / "a.jsonl").write_text(f'{{"text": "{EMAIL} {CARD}')
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/a.jsonl",))
    with pytest.raises(SourceError, match="<EMAIL> <CREDIT_CARD>") as error, make_pipeline() as pipeline:
        _ = pipeline | ReadReference([source])
    assert "jane" not in str(error.value)
    assert "4111" not in str(error.value)
