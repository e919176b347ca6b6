"""Writes `firth/tokenizers/graph/split_classes.json`: letters, numbers and spaces.

Read off Hugging Face's splitter:

python -m tests.tokenizers.golden.make_split_classes
"""

import json
import pathlib

from tokenizers import pre_tokenizers

import firth.tokenizers

SURROGATES = range(0xD800, 0xE000)
# A character of each class; another one is of the class if both together are a single token.
NEIGHBOURS = {"letters": "a", "numbers": "1", "others": "!"}


def class_of(splitter, character: str) -> str:
    for name, neighbour in NEIGHBOURS.items():
        if len(splitter.pre_tokenize_str(neighbour + character)) == 1:
            return name
    return "spaces"


def main() -> None:
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    spans: dict[str, list[list[int]]] = {"letters": [], "numbers": [], "spaces": []}
    for point in range(0x110000):
        name = "others" if point in SURROGATES else class_of(splitter, chr(point))
        if name in spans and spans[name] and spans[name][-1][1] == point - 1:
            spans[name][-1][1] = point
        elif name in spans:
            spans[name].append([point, point])
    path = pathlib.Path(firth.tokenizers.__file__).parent / "graph" / "split_classes.json"
    path.write_text(json.dumps(spans, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
