"""The front door next to its parts called by hand: `embed`, `predict`, `generate`, and `firth.load`.

    python -m benchmarks.front_door                     # prints a table
    python -m benchmarks.front_door --json figures.json

Models are BERT-base and GPT-2 small of random weights, with a tokenizer of the site's pages. Each pair is
measured in turn in one process; seconds are medians. `firth.load` is next to reading the bytes of the weights
and building the Keras model, each in processes of their own, since a process keeps what it has read. `first
fill_mask` is a fresh process from its start to its answer.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import collections
import functools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROUNDS = 5
PAGES = pathlib.Path(__file__).parents[1] / "docs"
# Both have imported the same modules before they are timed.
_IMPORTS = """
import firth.language_model.opening, firth.tokenizers, firth.serving.served_model
from firth.models import build_model
from firth.models.bundle import read_recipe
from benchmarks.front_door import seconds
"""
_LOAD = _IMPORTS + "print(seconds(lambda: firth.load({bundle!r})))"
_PARTS = (
    _IMPORTS
    + """
def parts():
    with open({bundle!r} + "/weights.safetensors", "rb") as file:
        file.read()
    build_model(read_recipe({bundle!r}))
print(seconds(parts))
"""
)
_FIRST = """
import time, psutil, firth
firth.load({bundle!r}).fill_mask('The [MASK] of the house.')
print(time.time() - psutil.Process().create_time())
"""


def seconds(function: Callable[[], object]) -> float:
    """Returns the seconds of a call."""
    begun = time.perf_counter()
    function()
    return time.perf_counter() - begun


def texts() -> list[str]:
    """Returns paragraphs of the site's pages."""
    pages = (page.read_text(encoding="utf-8") for page in sorted(PAGES.rglob("*.md")))
    found = [part for page in pages for part in page.split("\n\n") if 80 < len(part) < 600]
    return found[:128]


def make_models(folder: str) -> dict[str, str]:
    """Writes the bundles of an encoder and of a decoder, and returns their folders by preset."""
    import firth
    from firth.tokenizers import WordPieceTokenizer, train_wordpiece

    counts = collections.Counter(" ".join(texts()).lower().split())
    tokenizer = WordPieceTokenizer(train_wordpiece(counts, 2000, 1))
    made = {}
    for preset in ("bert_base", "gpt2_small"):
        made[preset] = os.path.join(folder, preset)
        firth.create(preset, tokenizer=tokenizer).save(made[preset])
    return made


def in_turn(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Returns the median seconds of two functions, measured in turn after a first call of each."""
    one(), other()
    pairs = [(seconds(one), seconds(other)) for _ in range(ROUNDS)]
    return statistics.median(each[0] for each in pairs), statistics.median(each[1] for each in pairs)


def in_process(code: str) -> float:
    """Returns the seconds that a fresh process prints."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, text=True, stdout=-1)
    return float(done.stdout)


def answers(bundles: dict[str, str]) -> dict[str, tuple[float, float]]:
    """Returns seconds through the front door and by hand of each way to ask."""
    import tensorflow as tf

    import firth
    from firth.generation import Generator
    from firth.serving.embeddings import embed
    from firth.serving.fill_mask import fill_mask

    encoder, writer = (firth.load(bundles[name]) for name in ("bert_base", "gpt2_small"))
    asked = texts()
    strings = [tf.TensorSpec([None], tf.string)]
    graph = tf.function(functools.partial(embed, encoder.served), input_signature=strings, autograph=False)
    by_length = sorted(asked, key=len)

    def embed_by_hand() -> None:
        for start in range(0, len(by_length), 32):
            graph(tf.constant(by_length[start : start + 32]))["embedding"].numpy()

    masked = [f"[MASK] {text[:80]}" for text in asked[:32]]
    fill = tf.function(functools.partial(fill_mask, encoder.served), input_signature=strings, autograph=False)

    def predict_by_hand() -> None:
        {name: each.numpy() for name, each in fill(tf.constant(masked)).items()}

    generator = Generator(writer.network, writer.tokenizer, writer.recipe)
    prompts = [text[:40] for text in asked[:4]]
    return {
        "embed, 128 texts": in_turn(lambda: encoder.embed(asked), embed_by_hand),
        "predict (fill_mask), 32 texts": in_turn(lambda: encoder.predict(masked), predict_by_hand),
        "generate, 4 prompts, 32 tokens": in_turn(
            lambda: writer.generate(prompts, max_new_tokens=32),
            lambda: generator.generate(prompts, max_new_tokens=32),
        ),
    }


def main() -> None:
    """Measures, prints a table and writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundles = make_models(folder)
        found = answers(bundles)
        bundle = bundles["bert_base"]
        loads = [
            (in_process(_LOAD.format(bundle=bundle)), in_process(_PARTS.format(bundle=bundle)))
            for _ in range(3)
        ]
        found["load, BERT-base"] = tuple(statistics.median(each) for each in zip(*loads))
        runs = [in_process(_FIRST.format(bundle=bundle)) for _ in range(3)]
    rows = [
        [name, f"{one:.3f}", f"{other:.3f}", f"{one / other:.2f}"] for name, (one, other) in found.items()
    ]
    rows.append(["first fill_mask of a process, BERT-base", f"{statistics.median(runs):.2f}", "", ""])
    columns = ["", "front door, s", "by hand, s", "ratio"]
    for row in [columns, *rows]:
        print(" | ".join(row))
    if options.json:
        part = {"columns": columns, "rows": rows}
        said = {"title": "The front door next to its parts", "parts": [part]}
        options.json.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
