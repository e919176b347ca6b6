"""Writes firth/tokenizers/graph/characters.json: what Hugging Face's BERT normaliser does to each code point.

    python tests/tokenizers/golden/make_characters.py

It needs `tokenizers` (the reference), `tensorflow_text` and `regex` (to find the characters that the kernel,
or a newer Unicode than the reference knows, would split off a word). `characters_test.py` holds the file
equal to the `tokenizers` that is installed.
"""

import json
import pathlib

import regex
import tensorflow as tf
import tensorflow_text as tf_text
import tokenizers

TARGET = pathlib.Path(__file__).parents[3] / "firth" / "tokenizers" / "graph" / "characters.json"
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
KEPT_BY_KERNEL_AS_CJK = range(0x2B820, 0x2B920)


def code_points() -> list[int]:
    return [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def normalized(lowercase: bool) -> dict[int, str]:
    """Returns the reference's normal form of each character between two letters."""
    normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    return {point: normalizer.normalize_str(f"a{chr(point)}b")[1:-1] for point in code_points()}


def pre_tokenized() -> dict[int, int]:
    """Returns how many words the reference makes of a letter, a character and a letter."""
    splitter = tokenizers.pre_tokenizers.BertPreTokenizer()
    return {point: len(splitter.pre_tokenize_str(f"a{chr(point)}b")) for point in code_points()}


def split_by_kernel(points: list[int]) -> list[int]:
    """Returns the characters that tensorflow-text splits off a word, or may with a newer Unicode."""
    kernel = tf_text.FastWordpieceTokenizer(["[UNK]", "z", "##z"], token_out_type=tf.int32)
    counts = kernel.tokenize([f"x{chr(point)}y" for point in points]).row_lengths().numpy()
    newer = regex.compile(r"[\p{P}\p{White_Space}]")
    return [
        point
        for point, count in zip(points, counts)
        if count > 1 or newer.match(chr(point)) or point in KEPT_BY_KERNEL_AS_CJK
    ]


def ranges(points) -> list[list[int]]:
    found: list[list[int]] = []
    for point in sorted(points):
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def by_target(mapping: dict[int, str]) -> dict[str, str]:
    targets: dict[str, str] = {}
    for point, target in sorted(mapping.items()):
        targets[target] = targets.get(target, "") + chr(point)
    return targets


def main() -> None:
    cased, uncased, words = normalized(False), normalized(True), pre_tokenized()
    removed = [point for point, text in cased.items() if text == ""]
    spaces = [point for point, text in cased.items() if text == " "]
    ideographs = [point for point, text in cased.items() if text == f" {chr(point)} "]
    punctuation = [point for point, count in words.items() if count == 3]
    accents = [point for point, text in uncased.items() if text == "" and cased[point] != ""]
    mapped = {
        point: text.strip(" ")
        for point, text in uncased.items()
        if text and text.strip(" ") not in ("", chr(point)) and point not in HANGUL_SYLLABLES
    }
    others = set(removed) | set(spaces) | set(ideographs) | set(punctuation)
    table = {
        "reference": f"tokenizers {tokenizers.__version__}: BertNormalizer and BertPreTokenizer",
        "removed": ranges(removed),
        "spaces": ranges(spaces),
        "punctuation": ranges(punctuation),
        "ideographs": ranges(ideographs),
        "accents": ranges(accents),
        "split_by_kernel": ranges(split_by_kernel([point for point in code_points() if point not in others])),
        "lowercase": by_target(mapped),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
