"""What the sides of `benchmarks.corpus` have in common; needs no package."""

import json
import pathlib

# Rules on one document, in memory; duplicates, from files to files; and all of it.
RULES = ("gopher_repetition", "gopher_quality", "c4", "fineweb", "pii")
DUPLICATES = ("exact_duplicates", "sentence_duplicates", "near_duplicates")
CHAIN = (*RULES, "near_duplicates")


def read_texts(folder: str) -> list[str]:
    return [
        json.loads(line)["text"]
        for path in sorted(pathlib.Path(folder).glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
