"""Writes firth/tokenizers/graph/letters.json: what Hugging Face's normalisers do to each code point.

    python tests/tokenizers/golden/make_letters.py

It needs `tokenizers` (the reference). `tests/tokenizers/graph/text_steps_test.py` holds the file equal to
the `tokenizers` that is installed.
"""

import json
import pathlib

import tokenizers

from tests.tokenizers.golden.make_characters import by_target, code_points, ranges

TARGET = pathlib.Path(__file__).parents[3] / "firth" / "tokenizers" / "graph" / "letters.json"


def main() -> None:
    lower, strip = tokenizers.normalizers.Lowercase(), tokenizers.normalizers.StripAccents()
    lowered = {point: lower.normalize_str(chr(point)) for point in code_points()}
    table = {
        "reference": f"tokenizers {tokenizers.__version__}: Lowercase and StripAccents",
        "marks": ranges(point for point in code_points() if not strip.normalize_str(chr(point))),
        "lowercase": by_target({point: text for point, text in lowered.items() if text != chr(point)}),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in table.items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
