"""Reads sources in Beam, and counts the documents, rejections and bytes of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsDict, PCollection, TaggedOutput

from firth.corpus.documents.corpus_counts import (
    DROPPED,
    IN,
    KEPT,
    READ,
    REJECTED,
    CorpusCounts,
    Count,
    Flow,
    merge_counts,
)
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import SourceError
from firth.corpus.documents.hashing import digest
from firth.corpus.io.records import write_file
from firth.corpus.io.source_files import SourceFile
from firth.corpus.privacy.pii import Pii
from firth.corpus.readers.dropped_documents import DROPPED_FOLDER, DroppedDocument, WriteDropped
from firth.corpus.readers.read_cache import list_files_to_read, read_cached
from firth.corpus.readers.record_profiles import profile, stated_fields
from firth.corpus.readers.sampling import DrawnSample, SourceSampler, join_drawn
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import AnySource
from firth.storage import read_json, write_json, write_text

STEP = READ
# Small files share an element, since Beam's cost is per element; a large one has its own.
FILES_A_BATCH = 16
BATCH_BYTES = 2**22
PROFILES_A_FILE = 2**14
_ROWS_AN_ELEMENT = 2**10
_LEFT_OUT = "left_out"
_SIDE_OUTPUTS = ("rejections", "profiles", "totals", "drawn", _LEFT_OUT)
REJECTED_FILE = "rejected.jsonl"
COUNTS_FILE = "source_counts.json"
_WHAT = {"uri": "an address", "licence": "a licence other than the source's"}


@beam.ptransform_fn
def ReadSources(
    pipeline: beam.Pipeline,
    sources: Sequence[AnySource],
    side_folder: str,
    privacy: PiiStep | None = None,
    profiles_folder: str = "",
    kept_folder: str = "",
    dropped_files: int = 0,
) -> PCollection[bytes]:
    """Reads all documents of the sources, as serialized tf.train.Examples.

    Records that cannot be read do not stop the pipeline. They are written to `rejected.jsonl` in the side
    folder, as one JSON object a line with file and line number. `source_counts.json` in the same folder
    counts records and bytes by source. Each file is read by one worker, so a large corpus should consist of
    many files. Of a source with a `sample`, the other documents are counted as `not_sampled`.

    Args:
        pipeline: The pipeline.
        sources: The sources of the recipe.
        side_folder: Folder of `rejected.jsonl` and `source_counts.json`.
        privacy: Types of personal data that are replaced in the excerpts of `rejected.jsonl`; None for all
            types.
        profiles_folder: Folder for TFRecord files with the `profile` of each record. If it is empty, no
            profiles are written.
        kept_folder: Folder of the cached documents of sources with `keep_read`, from this run or an earlier
            one. If it is empty, nothing is cached.
        dropped_files: Number of Parquet files in the folder `dropped` of the side folder, which list the
            documents that samples leave out; 0 to list none.

    Raises:
        SourceError: when applied, if a pattern matches no file or a package is not installed.
    """
    scrubber = Pii(privacy or PiiStep(kind="pii"))
    batches = [batch for index in range(len(sources)) for batch in _batches(index, sources[index])]
    lists_dropped = bool(dropped_files) and any(source.sample for source in sources)
    read_files = beam.FlatMap(
        _read_files, tuple(sources), scrubber, kept_folder, lists_dropped
    ).with_output_types(bytes)
    read = (
        pipeline
        | "Files" >> beam.Create(batches)
        | "Spread" >> beam.Reshuffle()
        | "Read" >> read_files.with_outputs(*_SIDE_OUTPUTS, main="documents")
    )
    documents, totals, drawn_ids = read.documents, read.totals, None
    if any(source.sample and source.sample.documents for source in sources):
        drawn = read.drawn | "Draw" >> beam.CombinePerKey(join_drawn)
        taken = beam.FlatMapTuple(_take_drawn).with_output_types(bytes)
        sampled = drawn | "Take" >> taken.with_outputs("totals", main="documents")
        documents = (documents, sampled.documents) | "WithDrawn" >> beam.Flatten()
        totals = (totals, sampled.totals) | "WithTheirTotals" >> beam.Flatten()
        drawn_ids = drawn | "DrawnIds" >> beam.MapTuple(_ids_of)
    if lists_dropped:
        left_out = read.left_out
        if drawn_ids is not None:
            left_out |= "NotDrawn" >> beam.Map(_without_drawn, AsDict(drawn_ids))
        _ = left_out | "WriteDropped" >> WriteDropped(
            f"{side_folder}/{DROPPED_FOLDER}", dropped_files, scrubber
        )
    if profiles_folder:
        _ = read.profiles | "WriteProfiles" >> beam.MapTuple(
            lambda name, profiles: write_file(profiles_folder, name, profiles)
        )
    _ = read.rejections | "WriteRejected" >> beam.io.WriteToText(
        f"{side_folder}/{REJECTED_FILE}", shard_name_template="", skip_if_empty=True
    )
    _ = (
        totals
        | "Sum" >> beam.CombineGlobally(merge_counts)
        | "WriteCounts"
        >> beam.Map(
            _write_counts,
            side_folder,
            [_describe(source) for source in sources],
        )
    )
    return documents


def _take_drawn(source: str, drawn: DrawnSample) -> Iterator[Any]:
    yield from (candidate.record for candidate in drawn.candidates)
    yield TaggedOutput("totals", drawn.counts())


def _ids_of(source: str, drawn: DrawnSample) -> tuple[str, frozenset[str]]:
    return source, frozenset(Document.from_example(each.record).id for each in drawn.candidates)


def _without_drawn(rows: list[DroppedDocument], drawn: Mapping[str, frozenset[str]]) -> list[DroppedDocument]:
    """Returns the rows of documents that do not belong to the sample of their source."""
    return [row for row in rows if row.id not in drawn.get(row.source, ())]


def _read_files(
    element: tuple[int, list[SourceFile]],
    sources: Any,  # Beam cannot compare a tuple of sources with its type.
    scrubber: Pii,
    kept_folder: str,
    lists_dropped: bool,
) -> Iterator[Any]:
    index, files = element
    source: AnySource = sources[index]
    totals = CorpusCounts()
    profiles, sampler = _Profiles(source.name), SourceSampler(source, totals, lists_dropped)
    for file in files:
        guessed, records = read_cached(source, file, kept_folder)
        if guessed:
            totals.counts[Count(STEP, source.name, f"encoding {guessed}")] += 1
        for record in records:
            yield from profiles.add(file, profile(source, file.place, record))
            words = record.words if isinstance(record, Document) else 0
            totals.add(Flow(STEP, source.name, IN), record.size, words)
            if isinstance(record, Document):
                for name, is_so in stated_fields(source, file.place, record).items():
                    totals.counts[Count(STEP, source.name, name)] += is_so
                yield from sampler.add(record)
                if len(sampler.left_out) == _ROWS_AN_ELEMENT:
                    yield TaggedOutput(_LEFT_OUT, sampler.left_out)
                    sampler.left_out = []
            else:
                totals.add(Flow(STEP, source.name, REJECTED, record.reason), record.size)
                yield TaggedOutput("rejections", record.to_json(scrubber))
    yield from profiles.rest()
    yield TaggedOutput(_LEFT_OUT, sampler.left_out)
    if sampler.drawn:
        yield TaggedOutput("drawn", (source.name, sampler.drawn))
    yield TaggedOutput("totals", totals)


class _Profiles:
    """Collects profiles into elements of many, since Beam's cost is per element."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._key: tuple[str, ...] = ()
        self._profiles: list[bytes] = []
        self._files = 0

    def add(self, file: SourceFile, record: bytes) -> Iterator[TaggedOutput]:
        """Adds a profile, and yields an element if it is full."""
        # The file is part of the name, since files of the same content have the same profiles.
        self._key = self._key or (self._source, file.place)
        self._profiles.append(record)
        if len(self._profiles) == PROFILES_A_FILE:
            yield from self.rest()

    def rest(self) -> Iterator[TaggedOutput]:
        """Yields an element of the profiles that are left, if there are any."""
        if self._profiles:
            name = digest(*self._key, str(self._files)).hex()
            yield TaggedOutput("profiles", (name, self._profiles))
            self._profiles, self._files = [], self._files + 1


def _batches(index: int, source: AnySource) -> Iterator[tuple[int, list[SourceFile]]]:
    batch: list[SourceFile] = []
    size = 0
    for file in list_files_to_read(source):
        if batch and (len(batch) == FILES_A_BATCH or size + file.size > BATCH_BYTES):
            yield index, batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield index, batch


def _write_counts(totals: CorpusCounts, folder: str, sources: list[dict[str, Any]]) -> None:
    totals.check([STEP])
    flows = [{**flow._asdict(), **totals.sizes(flow)} for flow in sorted(totals.documents)]
    # Keys with a count of 0 are among the counts.
    unstated = [[count.source, count.name] for count, number in sorted(totals.counts.items()) if not number]
    counts = [[*count, number] for count, number in sorted(totals.counts.items()) if count.name not in _WHAT]
    found = {"sources": sources, "flows": flows, "unstated": unstated, "counts": counts}
    write_json(f"{folder}/{COUNTS_FILE}", found)
    if not any(flow.outcome == REJECTED for flow in totals.documents):
        # Beam cannot write an empty file into a bucket of S3.
        write_text(f"{folder}/{REJECTED_FILE}", "")


def _describe(source: AnySource) -> dict[str, Any]:
    return {
        "name": source.name,
        "kind": source.kind,
        "licence": source.licence,
        "places": ", ".join(source.reads),
        "states_ids": "id" in source.states,
        "encoding": getattr(source, "encoding", ""),
        "keys": {name: getattr(source, f"{name}_key") for name in sorted(source.states)},
    }


def read_source_counts(folder: str) -> CorpusCounts:
    """Returns the counts of `ReadSources`. They are empty if it did not make the documents."""
    totals = CorpusCounts()
    found = read_json(f"{folder}/{COUNTS_FILE}") or {"flows": []}
    totals.counts.update({Count(*count): number for *count, number in found.get("counts", ())})
    for flow in found["flows"]:
        key = Flow(flow["step"], flow["source"], flow["outcome"], flow["reason"])
        totals.documents[key] = flow["documents"]
        totals.bytes[key] = flow["bytes"]
        totals.words[key] = flow["words"]
    return totals


def source_names(folder: str) -> tuple[str, ...]:
    """Returns the names of the sources that `ReadSources` read, in order; empty if it did not run."""
    return tuple(source["name"] for source in _sources(folder))


def sources_with_ids(folder: str) -> tuple[str, ...]:
    """Returns the names of the sources whose records state ids, in order."""
    return tuple(source["name"] for source in _sources(folder) if source.get("states_ids"))


def list_unstated_keys(folder: str) -> list[str]:
    """Returns a sentence for each key of an address or a licence that no record of a source has."""
    keys = {source["name"]: source.get("keys", {}) for source in _sources(folder)}
    unstated = (read_json(f"{folder}/{COUNTS_FILE}") or {}).get("unstated", [])
    return [
        f"source {source!r}: no record has {_WHAT[name]} under {name}_key: {keys[source][name]}"
        for source, name in unstated
    ]


def list_undecoded(folder: str) -> list[str]:
    """Returns a sentence for each source of which records are not in the encoding that the recipe names."""
    encodings = {source["name"]: source.get("encoding", "") for source in _sources(folder)}
    counts = read_source_counts(folder)
    return [
        f"source {flow.source!r}: {number:,} records are not in encoding: {encodings[flow.source]} "
        f"({flow.reason}); name the encoding of the files, such as latin-1 or utf-16, or auto"
        for flow, number in sorted(counts.documents.items())
        if flow.outcome == REJECTED and flow.reason.startswith("invalid_") and encodings[flow.source]
    ]


def _sources(folder: str) -> list[dict[str, Any]]:
    return (read_json(f"{folder}/{COUNTS_FILE}") or {"sources": []})["sources"]


def check_sources(folder: str) -> None:
    """Checks that each source yielded documents, after the pipeline has run.

    Args:
        folder: The side folder of `ReadSources`.

    Raises:
        SourceError: if a source yielded no document; the message names the source, its patterns or packages,
            the reasons of rejection with their counts, and how many documents its sample left out.
    """
    counts = read_source_counts(folder)
    totals = counts.totals()
    for source in read_json(f"{folder}/{COUNTS_FILE}")["sources"]:
        name = source["name"]
        if totals[STEP, name, KEPT]:
            continue
        rejected, left_out = totals[STEP, name, REJECTED], totals[STEP, name, DROPPED]
        found = [f"`sample` holds none of {left_out} documents; make it larger"] if left_out else []
        if rejected or not left_out:
            reasons = _reasons(counts, name) or "no record found"
            found.append(
                f"{rejected} records rejected ({reasons}); they are listed in {folder}/{REJECTED_FILE}"
            )
        found += [each for each in list_undecoded(folder) if each.startswith(f"source {name!r}: ")]
        raise SourceError(f"source {name!r} ({source['places']}) has no document: {'; '.join(found)}")


def _reasons(counts: CorpusCounts, source: str) -> str:
    """Returns the reasons for which records of a source were rejected, with counts; empty if none was."""
    return ", ".join(
        f"{flow.reason}: {count}"
        for flow, count in sorted(counts.documents.items())
        if (flow.source, flow.outcome) == (source, REJECTED)
    )
