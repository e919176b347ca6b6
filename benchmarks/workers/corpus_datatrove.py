"""datatrove's worker of `benchmarks.corpus`, in an interpreter of its own.

The argument is how it tells words apart: `spacy`, as it comes, or `spaces`, as firth does, which is quicker.
"""

import importlib.metadata
import os
import pathlib
import sys
import tempfile

os.environ["TQDM_DISABLE"] = "1"

from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline import dedup, filters
from datatrove.pipeline.formatters import FTFYFormatter, PIIFormatter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.word_tokenizers import WhitespaceTokenizer
from loguru import logger

from benchmarks.workers import turns
from benchmarks.workers.corpus_work import QUALITY, RULES, WHOLE, read_texts


class Spaces(WhitespaceTokenizer):
    """Words at spaces."""

    def word_tokenize(self, text):  # noqa: D102
        return text.split()


WORDS = {"spacy": "eng", "spaces": Spaces()}


def make_rules(words) -> dict:
    return {
        "normalize": FTFYFormatter(normalization="NFC"),
        "gopher_repetition": filters.GopherRepetitionFilter(language=words),
        "gopher_quality": filters.GopherQualityFilter(language=words),
        "c4": filters.C4QualityFilter(language=words),
        "fineweb": filters.FineWebQualityFilter(language=words),
        "pii": PIIFormatter(),
    }


def rule(kind: str, words, folder: str) -> int:
    step = make_rules(words)[kind]
    documents = [Document(text=text, id=str(i)) for i, text in enumerate(read_texts(folder))]
    return sum(1 for _ in step.run(iter(documents)))


def text_of(document: Document) -> str:
    return document.text


def duplicates(kind: str, words, start: list, folder: str, files: int) -> list[tuple[list, int]]:
    """Returns the pipelines of a step, with how many tasks each has.

    Args:
        start: What reads the documents.
        folder: Folder for the files between the pipelines.
        files: That the documents come in.
    """
    signatures, found, gone, out = (f"{folder}/{name}" for name in ("signatures", "found", "gone", "out"))
    writer = JsonlWriter(out)
    if kind == "near_duplicates":
        config = dedup.MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8)
        return [
            ([*start, dedup.MinhashDedupSignature(signatures, config, language=words)], files),
            ([dedup.MinhashDedupBuckets(signatures, found, config=config)], config.num_buckets),
            ([dedup.MinhashDedupCluster(found, gone, config)], 1),
            ([*start, dedup.MinhashDedupFilter(gone), writer], files),
        ]
    if kind == "exact_duplicates":
        config = dedup.ExactDedupConfig(content_getter=text_of)
        return [
            ([*start, dedup.ExactDedupSignature(signatures, config)], files),
            ([dedup.ExactFindDedups(signatures, found, config=config)], 1),
            ([*start, dedup.ExactDedupFilter(found, config), writer], files),
        ]
    config = dedup.SentDedupConfig()
    return [
        ([*start, dedup.SentenceDedupSignature(signatures, config=config, language=words)], files),
        ([dedup.SentenceFindDedups(signatures, found, config=config)], 1),
        ([*start, dedup.SentenceDedupFilter(found, config=config, language=words), writer], files),
    ]


def run(pipelines: list[tuple[list, int]], folder: str, processes: int) -> int:
    """Runs pipelines one after another, and returns how many documents the last one wrote."""
    for number, (pipeline, tasks) in enumerate(pipelines):
        executor = LocalPipelineExecutor(
            pipeline, tasks=tasks, workers=processes, logging_dir=f"{folder}/logs/{number}"
        )
        stats = executor.run()
    return stats.stats[-1].stats["total"].total


def from_files_to_files(work: str, words, folder: str, processes: int) -> int:
    files = len(list(pathlib.Path(folder).glob("*.jsonl")))
    with tempfile.TemporaryDirectory() as out:
        before, start = [], [JsonlReader(folder)]
        if work == WHOLE:
            work = "near_duplicates"
            before = [([*start, *map(make_rules(words).get, QUALITY), JsonlWriter(f"{out}/kept")], files)]
            start = [JsonlReader(f"{out}/kept")]
        return run([*before, *duplicates(work, words, start, out, files)], out, processes)


def main() -> None:
    logger.disable("datatrove")
    words = WORDS[sys.argv[1]]

    def do(work: str, folder: str, processes: int) -> dict[str, int]:
        if work in RULES:
            return {"kept": rule(work, words, folder)}
        return {"kept": from_files_to_files(work, words, folder, processes)}

    turns.answer({name: importlib.metadata.version(name) for name in ("datatrove", "spacy")}, do)


if __name__ == "__main__":
    main()
