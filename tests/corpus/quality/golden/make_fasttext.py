"""Makes `fasttext.bin`, `fasttext_hs.bin` and `fasttext.json`: tiny models, and the scores by them.

In an environment of its own, with Python 3.11:

pip install fasttext-wheel==0.9.2 "numpy<2" && python tests/corpus/quality/golden/make_fasttext.py
"""

import importlib.metadata
import json
import pathlib
import random

import fasttext

HERE = pathlib.Path(__file__).parent
GOOD = [
    "the",
    "whale",
    "swam",
    "through",
    "a",
    "calm",
    "sea",
    "and",
    "its",
    "captain",
    "wrote",
    "at",
    "night",
]
BAD = [
    "buy",
    "cheap",
    "pills",
    "now",
    "click",
    "here",
    "win",
    "cash",
    "free",
    "offer",
    "best",
    "price",
    "today",
]
RARE = ["wind", "snow", "rain", "ice", "storm"]
TEXTS = {
    "good": "The captain wrote\nof the whale and the calm sea.",
    "bad": "click here now , buy cheap pills today",
    "mixed": "the captain said : win cash",
    "unknown": "xyzzy",
    "empty": "",
}


def lines(seed: int) -> list[str]:
    generator = random.Random(seed)
    kinds = [("hq", GOOD, 60), ("cc", BAD, 60), ("weather", RARE, 6)]
    return [
        f"__label__{name} {' '.join(generator.choices(words, k=12))}"
        for name, words, count in kinds
        for _ in range(count)
    ]


def make(name: str, loss: str) -> dict:
    path = HERE / "lines.txt"
    path.write_text("\n".join(lines(0)) + "\n")
    model = fasttext.train_supervised(
        str(path),
        dim=4,
        epoch=50,
        lr=0.1,
        minn=0,
        maxn=0,
        bucket=64,
        wordNgrams=2,
        loss=loss,
        thread=1,
        seed=1,
    )
    path.unlink()
    model.save_model(str(HERE / f"{name}.bin"))
    found = {}
    for each, text in TEXTS.items():
        labels, probabilities = model.predict(text.replace("\n", " "), k=-1)
        found[each] = dict(sorted(zip(labels, map(float, probabilities))))
    return found


if __name__ == "__main__":
    versions = {"fasttext-wheel": importlib.metadata.version("fasttext-wheel")}
    scores = {name: make(name, loss) for name, loss in (("fasttext", "softmax"), ("fasttext_hs", "hs"))}
    content = json.dumps({"versions": versions, "texts": TEXTS, "scores": scores}, indent=1, sort_keys=True)
    (HERE / "fasttext.json").write_text(content + "\n")
