"""A curation whose sources, lists, model and outputs are objects in a bucket."""

import io
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from pyarrow import parquet

from tests.corpus.quality.models import fasttext_step
from tests.pipelines.bucket_server import WITHOUT, Bucket

RECIPE = """\
name: curated
extends: demo
sources:
  - {kind: jsonl, name: web, paths: [s3://artifacts/in/*.jsonl], uri_key: url, licence: CC0}
cleaning:
  steps:
    - {kind: bad_words, lists: [{path: s3://artifacts/lists/words.txt}]}
    - {kind: url_lists, block: [{path: s3://artifacts/lists/urls.txt, name: spam}]}
    - {kind: domain_rules, rules: [{domain: forum.example, max_documents: 3}]}
    - {kind: exact_duplicates}
    - {kind: fasttext, path: s3://artifacts/lists/model.bin, label: __label__cc, keep: below}
  split: {eval_fraction: 0.2}
outputs:
  - {kind: parquet}
  - {kind: jsonl, compression: none}
"""
GOOD = "The captain wrote of the whale and the calm sea, page {}."
LINES = [
    *({"text": GOOD.format(i), "url": f"http://books.example/{i}"} for i in range(20)),
    *({"text": GOOD.format(i), "url": f"http://forum.example/{i}"} for i in range(100, 108)),
    {"text": GOOD.format(0), "url": "http://copies.example/0"},
    {"text": "Damn this whale.", "url": "http://books.example/damn"},
    {"text": GOOD.format(200), "url": "http://www.spam.example/"},
    {"text": "click here , buy cheap pills now , win cash now", "url": "http://shop.example/"},
]
DROPPED = {"bad_word": 1, "blocked_spam": 1, "beyond_forum.example": 5, "duplicate": 1, "high_score": 1}


@pytest.mark.repeated
def test_what_is_given_out_is_whole_in_the_bucket(tmp_path, bucket_server):
    pytest.importorskip("tensorflow_io", reason=WITHOUT)
    bucket = Bucket(bucket_server["S3_ENDPOINT"])
    for part in range(2):
        lines = [json.dumps(line) for line in LINES[part::2]]
        bucket.write(f"in/{part}.jsonl", "\n".join(lines).encode())
    bucket.write("lists/words.txt", b"damn\n")
    bucket.write("lists/urls.txt", b"spam.example\n")
    bucket.write("lists/model.bin", pathlib.Path(fasttext_step().path).read_bytes())
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    command = [sys.executable, "-m", "tests.pipelines.bucket_curation"]
    done = subprocess.run(
        [*command, f"{tmp_path}/metadata.sqlite", f"{tmp_path}/recipe.yaml"],
        env={**os.environ, **bucket_server},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    names = bucket.names()

    def contents(pattern):
        return [bucket.read(name) for name in names if re.fullmatch(f"run/{pattern}", name)]

    (report,) = map(json.loads, contents(r"Curator/report/\d+/corpus_report\.json"))
    dropped = {
        reason: sizes["documents"] for row in report["funnel"] for reason, sizes in row["dropped"].items()
    }
    assert dropped == DROPPED
    (scores,) = map(json.loads, contents(r"Curator/report/\d+/fasttext\.json"))
    assert sum(scores["scores"]["sources"][0]["dropped"]) == 1
    folder = r"CorpusExporter/corpus/\d+"
    tables = [parquet.read_table(io.BytesIO(each)) for each in contents(rf"{folder}/parquet/\w+/.*\.parquet")]
    records = [
        json.loads(line) for each in contents(rf"{folder}/jsonl/\w+/.*\.jsonl") for line in each.splitlines()
    ]
    rows = [row for table in tables for row in table.to_pylist()]
    kept = len(LINES) - sum(DROPPED.values())
    assert sorted(row["id"] for row in rows) == sorted(row["id"] for row in records)
    assert len({row["id"] for row in rows}) == len(rows) == kept
    assert {row["split"] for row in rows} == {"train", "eval"}
    for name in ("parquet/_SUCCESS", "jsonl/_SUCCESS", "datasheet.json", "README.md"):
        assert len(contents(f"{folder}/{name}")) == 1, name
    assert not [name for name in names if "unfinished" in name or "scratch" in name or "_BEGUN" in name]
