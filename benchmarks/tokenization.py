"""Encoding speed of firth's tokenizers next to Hugging Face's, sentencepiece's and KerasHub's, on one thread.

    python -m benchmarks.tokenization                       # docstrings of installed packages
    python -m benchmarks.tokenization --kind bpe            # or unigram, sentencepiece_bpe
    python -m benchmarks.tokenization --text book.txt       # one's own text, a document a line
    python -m benchmarks.tokenization --json figures.json

All have the same vocabulary and read the same texts in turn, several rounds; the figures are medians.
"""

import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import ast
import importlib.util
import itertools
import json
import pathlib
import statistics
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

KINDS = ("wordpiece", "bpe", "unigram", "sentencepiece_bpe")
# What reads Python strings and not tensors.
IN_PYTHON = ("Hugging Face tokenizers", "sentencepiece package")
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
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


class Trained(NamedTuple):
    """Parts of a kind's encoders, and the seconds to make them."""

    encoders: dict[str, Callable[[list[str]], object]]
    distinct_words: int
    pieces: int
    count_seconds: float
    train_seconds: float


def graph(function):
    import tensorflow as tf

    return tf.function(function, input_signature=[tf.TensorSpec([None], tf.string)])


def wordpiece_encoders(vocabulary: list[str]) -> dict[str, Callable[[list[str]], object]]:
    import keras_hub
    import tensorflow as tf
    import tensorflow_text as tf_text
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers

    from firth.tokenizers import WordPieceTokenizer

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


def merges_of(vocabulary: list[str]) -> list[tuple[str, str]]:
    """Returns how each piece is made: as its bytes are encoded by the pieces before it."""
    rank = {piece: index for index, piece in enumerate(vocabulary)}
    merges = []
    for piece in vocabulary[len(SPECIALS) + 256 :]:
        parts = list(piece)
        while len(parts) > 2:
            ranks = [rank.get(first + second, len(rank)) for first, second in itertools.pairwise(parts)]
            place = ranks.index(min(ranks))
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        merges.append((parts[0], parts[1]))
    return merges


def bpe_encoders(vocabulary: list[str]) -> dict[str, Callable[[list[str]], object]]:
    import keras_hub
    import tokenizers
    from tokenizers import models, pre_tokenizers

    from firth.tokenizers import BytePairTokenizer

    merges = merges_of(vocabulary)
    ids = {piece: index for index, piece in enumerate(vocabulary)}
    rust = tokenizers.Tokenizer(models.BPE(ids, merges))
    rust.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    hub = keras_hub.tokenizers.BytePairTokenizer(ids, [" ".join(pair) for pair in merges])
    return {
        "firth BytePairTokenizer": graph(BytePairTokenizer(vocabulary).tokenize),
        "Hugging Face tokenizers": lambda texts: rust.encode_batch(texts, add_special_tokens=False),
        "KerasHub BytePairTokenizer": graph(hub.tokenize),
    }


def sentencepiece_encoders(model: bytes) -> dict[str, Callable[[list[str]], object]]:
    import keras_hub
    import sentencepiece

    from firth.tokenizers import SentencePieceTokenizer

    package = sentencepiece.SentencePieceProcessor(model_proto=model)
    hub = keras_hub.tokenizers.SentencePieceTokenizer(model)
    return {
        "firth SentencePieceTokenizer": graph(SentencePieceTokenizer(model).tokenize),
        "sentencepiece package": lambda texts: package.encode(texts, num_threads=1),
        "KerasHub SentencePieceTokenizer": graph(hub.tokenize),
    }


def train(kind: str, texts: list[str], pieces: int) -> Trained:
    from firth import tokenizers

    start = time.perf_counter()
    if kind == "wordpiece":
        counts = tokenizers.count_words(texts, lowercase=True)
    else:
        count = tokenizers.count_byte_words if kind == "bpe" else tokenizers.count_spaced_words
        counts = count(texts)
    counted = time.perf_counter()
    if kind == "wordpiece":
        made = tokenizers.train_wordpiece(counts, pieces, min_frequency=2)
    elif kind == "bpe":
        made = tokenizers.train_byte_pairs(counts, pieces, min_frequency=2)
    else:
        made = tokenizers.train_sentencepiece(counts, pieces, kind.removeprefix("sentencepiece_"))
    trained = time.perf_counter()
    build = {"wordpiece": wordpiece_encoders, "bpe": bpe_encoders}.get(kind, sentencepiece_encoders)
    size = len(made) if isinstance(made, list) else pieces
    return Trained(build(made), len(counts), size, counted - start, trained - counted)


def measure(encoders, texts: list[str], rounds: int) -> dict[str, float]:
    """Returns the median speed of each encoder in MB/s."""
    import tensorflow as tf

    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    speeds: dict[str, list[float]] = {name: [] for name in encoders}
    for warm in (False, *[True] * rounds):
        for name, encode in encoders.items():
            # Graphs read tensors, as they do in tf.data; libraries without a graph read Python strings.
            given = texts if name in IN_PYTHON else tf.constant(texts)
            start = time.perf_counter()
            encode(given)
            seconds = time.perf_counter() - start
            if warm:
                speeds[name].append(megabytes / seconds)
    return {name: statistics.median(figures) for name, figures in speeds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, default="wordpiece")
    parser.add_argument("--text", type=pathlib.Path, help="a file to read instead of docstrings")
    parser.add_argument("--megabytes", type=float, default=4.0)
    parser.add_argument("--pieces", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    arguments = parser.parse_args()

    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    texts = read_texts(arguments.text, arguments.megabytes)
    trained = train(arguments.kind, texts, arguments.pieces)
    speeds = measure(trained.encoders, texts, arguments.rounds)

    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(
        f"{len(texts)} texts, {megabytes:.1f} MB, {trained.distinct_words} distinct words, "
        f"{trained.pieces} pieces"
    )
    print(f"counted in {trained.count_seconds:.1f} s, trained in {trained.train_seconds:.1f} s")
    ours = next(speed for name, speed in speeds.items() if name.startswith("firth"))
    print(f"{'encode, one thread':36}{'MB/s':>8}{'firth is':>10}")
    for name, speed in speeds.items():
        print(f"{name:36}{speed:8.1f}{ours / speed:9.2f}x")
    if arguments.json:
        figures = {
            "kind": arguments.kind,
            "megabytes": megabytes,
            "pieces": trained.pieces,
            "distinct_words": trained.distinct_words,
            "count_seconds": trained.count_seconds,
            "train_seconds": trained.train_seconds,
            "megabytes_per_second": speeds,
            "firth_over": {name: ours / speed for name, speed in speeds.items()},
        }
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
