import json
import random

import pytest

from firth.corpus import ReadSources, SourceError, WriteRecords
from firth.corpus.io import file_contents as lines
from firth.corpus.readers.read_cache import remove_stale_entries
from firth.recipes.corpus.sources import JsonlSource, SourceSample, TextSource
from tests.corpus.helpers import make_pipeline, random_text, read_records, read_to


def test_rejected_records_are_counted_and_kept_aside(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(
        b'{"text": "One."}\n{"text": \n{"text": "Tw\xff"}\n{"text": "Three."}\n'
    )
    (tmp_path / "b.txt").write_text("Four.")
    (tmp_path / "c.txt").write_text("")
    sources = [
        JsonlSource(kind="jsonl", paths=(f"{tmp_path}/*.jsonl",)),
        TextSource(kind="text", licence="CC0", paths=(f"{tmp_path}/*.txt",)),
    ]
    documents = read_to(tmp_path / "out", sources)
    assert sorted(each.text for each in documents) == ["Four.", "One.", "Three."]
    assert {(each.source, each.licence) for each in documents} == {("jsonl", "unknown"), ("text", "CC0")}
    rejected = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()]
    places = sorted((each["file"], each["line"], each["reason"]) for each in rejected)
    assert places == [
        ("a.jsonl", 2, "malformed_json"),
        ("a.jsonl", 3, "invalid_utf8"),
        ("c.txt", 0, "empty"),
    ]
    assert '{"text": "Tw\\xff"}' in {each["excerpt"] for each in rejected}
    flows = json.loads((tmp_path / "out" / "source_counts.json").read_text())["flows"]
    counts = {(each["source"], each["outcome"], each["reason"]): each["documents"] for each in flows}
    assert counts == {
        ("jsonl", "in", ""): 4,
        ("jsonl", "kept", ""): 2,
        ("jsonl", "rejected", "malformed_json"): 1,
        ("jsonl", "rejected", "invalid_utf8"): 1,
        ("text", "in", ""): 2,
        ("text", "kept", ""): 1,
        ("text", "rejected", "empty"): 1,
    }


def test_documents_are_the_same_in_another_folder(tmp_path):
    outcomes = []
    for folder in (tmp_path / "here", tmp_path / "there" / "deep"):
        (folder / "a").mkdir(parents=True)
        (folder / "b").mkdir()
        for i in range(8):
            lines = [{"text": f"Line {i}.{n}.", "id": i + n / 2} for n in range(4)]
            (folder / f"{i}.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\nno json\n")
            (folder / "ab"[i % 2] / f"{i // 2}.txt").write_text(f"Text {i}.")
        (folder / "b" / "bad.txt").write_bytes(b"\xff")
        (folder / "b" / "link.txt").symlink_to(folder / "nothing")
        sample = SourceSample(documents=12)
        sources = [
            JsonlSource(kind="jsonl", paths=(f"{folder}/*.jsonl",), id_key="id", sample=sample),
            TextSource(kind="text", paths=(f"{folder}/a/*.txt", f"{folder}/b/*.txt")),
        ]
        documents = read_to(folder / "out", sources)
        assert len(documents) == 20 == len({each.id for each in documents})
        rejected = (folder / "out" / "rejected.jsonl").read_text()
        assert str(tmp_path) not in rejected and str(tmp_path) not in repr(documents)
        outcomes.append((sorted(map(repr, documents)), sorted(rejected.splitlines())))
    assert outcomes[0] == outcomes[1]
    reasons = [json.loads(line) for line in outcomes[0][1]]
    others = {(each["file"], each["reason"]) for each in reasons if each["reason"] != "malformed_json"}
    assert others == {("bad.txt", "invalid_utf8"), ("link.txt", "broken_link")}


def test_what_was_read_is_kept_until_a_file_changes(tmp_path, monkeypatch):
    for i in range(4):
        (tmp_path / f"{i}.jsonl").write_bytes(b'{"text": "Text %d.", "n": %d}\n{"te\xff\n' % (i, i))
    paths = (f"{tmp_path}/*.jsonl",)
    source = JsonlSource(kind="jsonl", paths=paths, keep_read=True, metadata_keys=("n",), encoding="auto")
    opened = []

    def read_blocks(path, before=lines.read_blocks):
        opened.append(path.rpartition("/")[2])
        return before(path)

    for module in ("firth.corpus.io.file_contents", "firth.corpus.readers.encodings"):
        monkeypatch.setattr(f"{module}.read_blocks", read_blocks)

    def read_again(**sources):
        opened.clear()
        with make_pipeline() as pipeline:
            for name, each in sources.items():
                documents = ReadSources([each], f"{tmp_path}/{name}", kept_folder=f"{tmp_path}/kept")
                written = WriteRecords(f"{tmp_path}/{name}/documents")
                _ = pipeline | f"Read[{name}]" >> documents | f"Write[{name}]" >> written
        return [
            [
                sorted(map(bytes, read_records(f"{tmp_path}/{name}/documents/*"))),
                sorted((tmp_path / name / "rejected.jsonl").read_text().splitlines()),
                json.loads((tmp_path / name / "source_counts.json").read_text()),
            ]
            for name in sources
        ]

    (first,) = read_again(first=source)
    assert len(first[0]) == len(first[1]) == 4 and set(opened) == {f"{i}.jsonl" for i in range(4)}
    sample = SourceSample(documents=2)
    second, sampled = read_again(second=source, sampled=source.model_copy(update={"sample": sample}))
    assert second == first and len(sampled[0]) == 2 and not opened
    (tmp_path / "3.jsonl").write_text('{"text": "Another text.", "n": 3}\n')
    (tmp_path / "7.jsonl").write_text('{"text": "A new text.", "n": 7}\n')
    (again,) = read_again(third=source)
    assert set(opened) == {"3.jsonl", "7.jsonl"} and len(again[0]) == 5 and len(again[1]) == 3
    assert len(list((tmp_path / "kept").iterdir())) == 6
    remove_stale_entries(f"{tmp_path}/kept", [source])
    assert len(list((tmp_path / "kept").iterdir())) == 5


@pytest.mark.repeated
def test_how_files_share_an_element_does_not_matter(tmp_path, monkeypatch):
    for i in range(6):
        (tmp_path / f"{i}.txt").write_text(f"Text number {i}. " * (i + 1))
    source = TextSource(kind="text", paths=(f"{tmp_path}/*.txt",))
    together = read_to(tmp_path / "together", [source])
    monkeypatch.setattr("firth.corpus.readers.read_sources.BATCH_BYTES", 1)
    apart = read_to(tmp_path / "apart", [source])
    assert sorted(each.id for each in together) == sorted(each.id for each in apart)
    assert len({each.id for each in apart}) == 6


def test_a_source_without_documents_is_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_text("no json\n\n[]\n")
    (tmp_path / "b.txt").write_text("fine")
    sources = [
        TextSource(kind="text", paths=(f"{tmp_path}/b.txt",)),
        JsonlSource(kind="jsonl", name="web", paths=(f"{tmp_path}/a.jsonl",)),
    ]
    with pytest.raises(SourceError) as error:
        read_to(tmp_path / "out", sources)
    for part in (
        "'web'",
        f"{tmp_path}/a.jsonl",
        "2 records rejected",
        "malformed_json: 1",
        "not_an_object: 1",
    ):
        assert part in str(error.value)


def test_plays_between_blank_lines(tmp_path):
    speeches = [f"First Citizen:\n{random_text(random.Random(number), 30)}" for number in range(200)]
    path = tmp_path / "plays.txt"
    path.write_text("\n\n".join(speeches))
    source = TextSource(kind="text", paths=(str(path),), documents="blank_line")
    documents = read_to(tmp_path, [source])
    assert documents[0].text.startswith("First Citizen:")
    assert sum(each.size + 2 for each in documents) == pytest.approx(path.stat().st_size, abs=4)
