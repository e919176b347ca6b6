"""Files of other encodings than UTF-8: named by the recipe, guessed, or rejected by the key."""

import gzip
import json

import pytest

from firth.corpus import SourceError
from firth.corpus.readers.read_sources import list_undecoded
from firth.corpus.report.limits import report_warnings
from firth.recipes.corpus.sources import JsonlSource, TextSource
from tests.corpus.helpers import CLEANING, clean, read_to
from tests.corpus.readers.reading import outcomes

FRENCH = "Où est passé l'été ?\nLes élèves étaient déjà à l'école.\n\nLe garçon mangeait des pâtes.\n"
TEXTS = {
    "latin-1": FRENCH,
    "cp1252": "“Don’t,” she said — “it’s a café.”\n\nHe paid £5 … or €6.\n",
    "utf-8-sig": FRENCH,
    "utf-16": FRENCH,
    "utf-16-le": FRENCH,
    "utf-16-be": "Call me Ishmael.\n\nSome years ago, never mind how long.\n",
    "utf-32": FRENCH,
    "koi8-r": "Сегодня хорошая погода.\n\nМы пойдём гулять в парк.\n",
    "gb18030": "我们在北京住了很多年。\n\n天气很好，大家都很高兴。\n",
    "shift_jis": "昨日、友達と東京へ行きました。\n\nとても楽しかったです。\n",
    "cp949": "어제 저는 친구와 함께 서울에 갔습니다.\n\n정말 재미있었습니다.\n",
}


@pytest.mark.parametrize("way", ["named", "auto"])
@pytest.mark.parametrize("encoding", TEXTS)
def test_text_and_lines_in_an_encoding(tmp_path, encoding, way, monkeypatch):
    monkeypatch.setattr("firth.corpus.io.file_contents.BLOCK_BYTES", 7)
    text, paragraphs = TEXTS[encoding], TEXTS[encoding].strip().split("\n\n")
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode(encoding)))
    lines = "\n".join(json.dumps({"text": each}, ensure_ascii=False) for each in paragraphs)
    (tmp_path / "a.jsonl").write_bytes(lines.encode(encoding))
    given = {"encoding": encoding if way == "named" else "auto"}
    whole = TextSource(kind="text", paths=(f"{tmp_path}/*.txt*",), **given)
    assert outcomes(whole) == [text, text]
    parts = TextSource(kind="text", paths=(f"{tmp_path}/a.txt",), documents="blank_line", **given)
    assert outcomes(parts) == paragraphs
    assert outcomes(JsonlSource(kind="jsonl", paths=(f"{tmp_path}/*.jsonl",), **given)) == paragraphs


def test_what_is_not_in_the_encoding_costs_its_own_record(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(
        '{"text": "été"}\n'.encode("cp1252") + b'{"text": "\x81"}\n{"text": "x"}'
    )
    source = JsonlSource(kind="jsonl", paths=(f"{tmp_path}/a.jsonl",), encoding="cp1252")
    assert outcomes(source) == ["été", (2, "invalid_cp1252"), "x"]
    (tmp_path / "a.jsonl").write_bytes('{"text": "été"}\n'.encode() * 20 + b'{"text": "\xe9"}\n')
    source = source.model_copy(update={"encoding": "auto"})
    assert outcomes(source) == [*["été"] * 20, (21, "invalid_utf8")]
    # A crash may leave zeros at the end of a file; of UTF-16 every second byte is one.
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n' + b"\0" * 64)
    assert outcomes(source) == ["a", (2, "malformed_json")]


def test_the_report_has_the_guesses_and_names_the_key_where_records_were_lost(tmp_path):
    for i in range(20):
        (tmp_path / f"{i}.txt").write_bytes(
            f"Été numéro {i} à la mer.".encode("latin-1" if i % 2 else "utf-8")
        )
    paths = (f"{tmp_path}/*.txt",)
    guessed = TextSource(kind="text", name="guessed", paths=paths, encoding="auto")
    plain = TextSource(kind="text", name="plain", paths=paths)
    documents = read_to(tmp_path / "out", [guessed, plain])
    (warning,) = list_undecoded(str(tmp_path / "out"))
    assert "'plain'" in warning and "10 records" in warning and "encoding: utf-8" in warning
    report = clean(tmp_path / "out", documents, CLEANING)
    assert warning in report_warnings(report)
    counts = {(each["source"], each["name"]): each["count"] for each in report["counts"]}
    assert (counts["guessed", "encoding cp1252"], counts["guessed", "encoding utf-8"]) == (10, 10)
    lost = TextSource(kind="text", name="lost", paths=(f"{tmp_path}/1.txt",))
    with pytest.raises(SourceError, match=r"'lost'.*invalid_utf8: 1.*encoding: utf-8.*auto"):
        read_to(tmp_path / "other", [lost])


@pytest.mark.parametrize(
    ("given", "named"), [("latin2x", "latin2"), ("hex", "cp1252"), ("idna", ""), ("", "auto")]
)
def test_an_encoding_that_is_not_there(given, named):
    with pytest.raises(ValueError, match=f"encoding: '{given}'.*{named}"):
        TextSource(kind="text", paths=("a",), encoding=given)
