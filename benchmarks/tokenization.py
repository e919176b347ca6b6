"""Encoding speed of firth's WordPiece beside its bare kernel, Hugging Face's and KerasHub's, on one thread.

    python -m benchmarks.tokenization                       # docstrings of installed packages
    python -m benchmarks.tokenization --text book.txt       # one's own text, a document a line
    python -m benchmarks.tokenization --json figures.json

All four have the same vocabulary and read the same texts in turn, several rounds; the figures are medians.
"""

import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import ast
import importlib.util
import json
import pathlib
import statistics
import time
from collections.abc import Callable, Iterator

PACKAGES = ("numpy", "keras", "apache_beam", "tensorflow")


def docstrings(package: str) -> Iterator[str]:
    spec = importlib.util.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(pathlib.Path(folder).rglob("*.py")):
            try:
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError):
                continue
            kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
            found = (ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds))
            yield from (text for text in found if text)


def read_texts(path: pathlib.Path | None, megabytes: float) -> list[str]:
    if path is None:
        source = (text for package in PACKAGES for text in docstrings(package))
    else:
        source = (line for line in path.read_text(encoding="utf-8").splitlines())
    texts, size = [], 0
    for text in source:
        texts.append(text)
        size += len(text.encode())
        if size >= megabytes * 1e6:
            break
    return texts


def build_encoders(vocabulary: list[str]) -> dict[str, Callable[[list[str]], object]]:
    import keras_hub
    import tensorflow as tf
    import tensorflow_text as tf_text
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers

    from firth.tokenizers import WordPieceTokenizer

    def graph(function):
        return tf.function(function, input_signature=[tf.TensorSpec([None], tf.string)])

    bare = tf_text.FastBertTokenizer(vocabulary, token_out_type=tf.int32, lower_case_nfd_strip_accents=True)
    hub = keras_hub.tokenizers.WordPieceTokenizer(vocabulary, lowercase=True, strip_accents=True)
    ids = {piece: index for index, piece in enumerate(vocabulary)}
    rust = tokenizers.Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    rust.normalizer = normalizers.BertNormalizer()
    rust.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return {
        "firth WordPieceTokenizer": graph(WordPieceTokenizer(vocabulary).tokenize),
        "tensorflow-text FastBertTokenizer": graph(bare.tokenize),
        "Hugging Face tokenizers": lambda texts: rust.encode_batch(texts, add_special_tokens=False),
        "KerasHub WordPieceTokenizer": graph(hub.tokenize),
    }


def measure(encoders, texts: list[str], rounds: int) -> dict[str, float]:
    """Returns the median speed of each encoder in MB/s."""
    import tensorflow as tf

    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    speeds: dict[str, list[float]] = {name: [] for name in encoders}
    for warm in (False, *[True] * rounds):
        for name, encode in encoders.items():
            # Graphs read tensors, as they do in tf.data; the Rust library reads Python strings.
            given = texts if name.startswith("Hugging") else tf.constant(texts)
            start = time.perf_counter()
            encode(given)
            seconds = time.perf_counter() - start
            if warm:
                speeds[name].append(megabytes / seconds)
    return {name: statistics.median(figures) for name, figures in speeds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--text", type=pathlib.Path, help="a file to read instead of docstrings")
    parser.add_argument("--megabytes", type=float, default=4.0)
    parser.add_argument("--pieces", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    arguments = parser.parse_args()

    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from firth.tokenizers import count_words, train_wordpiece

    texts = read_texts(arguments.text, arguments.megabytes)
    start = time.perf_counter()
    counts = count_words(texts, lowercase=True)
    counted = time.perf_counter()
    vocabulary = train_wordpiece(counts, arguments.pieces, min_frequency=2)
    trained = time.perf_counter()
    speeds = measure(build_encoders(vocabulary), texts, arguments.rounds)

    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(texts)} texts, {megabytes:.1f} MB, {len(counts)} distinct words, {len(vocabulary)} pieces")
    print(f"counted in {counted - start:.1f} s, trained in {trained - counted:.1f} s")
    ours = speeds["firth WordPieceTokenizer"]
    print(f"{'encode, one thread':36}{'MB/s':>8}{'firth is':>10}")
    for name, speed in speeds.items():
        print(f"{name:36}{speed:8.1f}{ours / speed:9.2f}x")
    if arguments.json:
        figures = {
            "megabytes": megabytes,
            "pieces": len(vocabulary),
            "distinct_words": len(counts),
            "count_seconds": counted - start,
            "train_seconds": trained - counted,
            "megabytes_per_second": speeds,
            "firth_over": {name: ours / speed for name, speed in speeds.items()},
        }
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
