"""Parts that the workers of `benchmarks.corpus` share; needs no package."""

import json
import pathlib

# Both libraries do these: rules on one document, in memory; duplicates, from files to files; and all of it.
QUALITY = ("gopher_repetition", "gopher_quality", "c4", "fineweb", "pii")
DUPLICATES = ("exact_duplicates", "sentence_duplicates", "near_duplicates")
CHAIN = (*QUALITY, "near_duplicates")
# firth's other steps, for which datatrove has nothing, or nothing that works without the network.
ALONE_IN_MEMORY = ("length", "characters", "gutenberg", "language", "bad_words")
ALONE_FROM_FILES = ("dataset_duplicates", "decontaminate", "classifier")
RULES = ("normalize", *QUALITY, *ALONE_IN_MEMORY)
CORPUS_STEPS = (*DUPLICATES, *ALONE_FROM_FILES)
WHOLE = "whole"
ALONE = (*ALONE_IN_MEMORY, *ALONE_FROM_FILES)


def read_texts(folder: str) -> list[str]:
    return [
        json.loads(line)["text"]
        for path in sorted(pathlib.Path(folder).glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
