"""From read documents to cleaned train and eval splits with a report."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from firth.corpus.clean import Clean
from firth.corpus.document import Document
from firth.corpus.excerpts import scrubber_for
from firth.corpus.json_files import read_json, write_json
from firth.corpus.read import STEP, read_source_counts, source_names
from firth.corpus.records import ReadBatches
from firth.corpus.report import build_report, check_report, length_bin
from firth.corpus.report_rows import LICENCE_STEP, SPLIT_STEP
from firth.corpus.split import SPLITS, HashRange, hash_range, join_ranges, split_of
from firth.corpus.tally import IN, Flow, Sampled, Tally, merge_tallies
from firth.recipes.cleaning import Cleaning, step_names

REPORT_FILE = "corpus_report.json"
# Of a sampled document its beginning tells the language.
SAMPLED_CHARACTERS = 500


def curate(
    make_pipeline: Callable[[], beam.Pipeline],
    corpus_folder: str,
    corpus_pattern: str,
    cleaning: Cleaning,
    split_folders: Mapping[str, str],
    report_folder: str,
) -> dict[str, Any]:
    """Cleans a corpus, splits it and writes the report.

    Args:
        make_pipeline: Returns a new Beam pipeline.
        corpus_folder: Where `ReadSources` left its counts.
        corpus_pattern: Of TFRecord files of documents.
        cleaning: The steps and the split.
        split_folders: Where to write the documents of "train" and of "eval".
        report_folder: Where to write `corpus_report.json`.

    Returns:
        The report, as `build_report` describes it.

    Raises:
        EmptyCorpusError: if nothing is left, or nothing for one of the splits.
        CountMismatchError: if documents went missing between the steps.
    """
    path = f"{report_folder}/{REPORT_FILE}"
    with make_pipeline() as pipeline:
        raw = pipeline | "Documents" >> ReadBatches(corpus_pattern) | "Parse" >> beam.Map(_parse)
        cleaned, tallies = raw | "Clean" >> Clean(cleaning.steps, source_names(corpus_folder), report_folder)
        hashes = cleaned | "Hash" >> beam.Map(_hash_range) | beam.CombineGlobally(join_ranges)
        split = beam.ParDo(_Split(cleaning.split.eval_fraction), beam.pvalue.AsSingleton(hashes))
        splits = cleaned | "Split" >> split.with_outputs(*SPLITS, "tally")
        for split in SPLITS:
            _ = splits[split] | f"Write[{split}]" >> beam.io.WriteToTFRecord(
                f"{split_folders[split]}/data_tfrecord", file_name_suffix=".gz"
            )
        lengths = raw | "Lengths" >> beam.Map(_measure_read)
        _ = (
            [*tallies, splits.tally, lengths]
            | "Flatten" >> beam.Flatten()
            | "Sum" >> beam.CombineGlobally(merge_tallies)
            | "Report" >> beam.Map(_write_report, path, read_source_counts(corpus_folder), cleaning)
        )
    report = read_json(path)
    check_report(report)
    return report


def _parse(records: list[bytes]) -> list[Document]:
    return [Document.from_example(record) for record in records]


def _hash_range(documents: list[Document]) -> HashRange:
    return hash_range(document.text for document in documents)


class _Split(beam.DoFn):
    def __init__(self, eval_fraction: float):
        self._eval_fraction = eval_fraction

    def process(self, documents: list[Document], whole: HashRange) -> Iterator[Any]:
        tally = _measure(documents, "cleaned")
        for document in documents:
            split = split_of(document.text, self._eval_fraction, whole)
            tally.add(
                Flow(SPLIT_STEP, document.source, split, document.licence), document.size, document.words
            )
            yield TaggedOutput(split, document.to_example())
        yield TaggedOutput("tally", tally)


def _measure_read(documents: list[Document]) -> Tally:
    tally = _measure(documents, "read")
    for document in documents:
        tally.add(Flow(LICENCE_STEP, document.source, IN, document.licence), document.size, document.words)
    return tally


def _measure(documents: list[Document], stage: str) -> Tally:
    tally = Tally()
    for document in documents:
        tally.histograms[f"{stage}_words", length_bin(document.words)] += 1
        tally.histograms[f"{stage}_characters", length_bin(len(document.text))] += 1
    tally.add_sample(stage, (Sampled(each.id, each.text[:SAMPLED_CHARACTERS]) for each in documents))
    return tally


def _write_report(tally: Tally, path: str, read: Tally, cleaning: Cleaning) -> None:
    steps = step_names(cleaning.steps)
    # A corpus that ReadSources did not read has no counts of reading.
    if read.documents:
        steps = [STEP, *steps]
        tally = merge_tallies([tally, read])
    write_json(path, build_report(tally, steps, scrubber_for(cleaning)))
