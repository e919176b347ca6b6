"""Gathers the data of the report from a run's artifacts, with their digests and the versions of packages."""

import dataclasses
import hashlib
import heapq
import importlib.metadata
import math
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firth import features as names, storage
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.search import Search
from firth.reports.held_out import MASK, HeldOutRow, masked_sentences, plain_sentences
from firth.reports.record import ArtifactRecord, FilledMask, RunRecord, ScoredSentence

if TYPE_CHECKING:
    from firth.serving import Client

SENTENCES = 12
# More rows than sentences are read, because not every row has a fit one.
ROWS_READ = 8 * SENTENCES
# Larger artifacts are named without a digest: reading them again would cost more than the report is worth.
MAX_DIGEST_BYTES = 2 * 10**9
PACKAGES = (
    "firth",
    "tfx",
    "tensorflow",
    "tensorflow-text",
    "keras",
    "keras-hub",
    "apache-beam",
    "tensorflow-model-analysis",
    "ml-metadata",
    "numpy",
)


@dataclasses.dataclass(frozen=True)
class ReportInputs:
    """Folders of a run's artifacts; an empty path is that of an artifact which does not exist.

    Attributes:
        recipe: Recipe of the run.
        corpus_report: Folder of `corpus_report.json`.
        tokenizer: Folder of `vocab.txt`.
        examples: Folder of packed rows, with `sequence_counts.json`.
        model: Folder of the exported SavedModel.
        model_run: Folder of `history.jsonl`.
        evaluation: Folder that TFMA wrote.
        blessing: Folder of `BLESSED` or `NOT_BLESSED`.
        serving_report: Folder of `serving_report.json`.
        objective_rates: Folder of `objective_rates.json`.
        distances: Folder of `distances.json`.
        shares: Folder of `shares.json`.
        tuner_results: Folder of TFX's `tuner_results.json`.
        run_dir: Folder of a local run, which holds `timings.json`.
        pushed: True if the model was pushed; None if nothing says so.
        artifacts: Artifacts that the run made.
    """

    recipe: RunRecipe
    corpus_report: str = ""
    tokenizer: str = ""
    examples: str = ""
    model: str = ""
    model_run: str = ""
    evaluation: str = ""
    blessing: str = ""
    serving_report: str = ""
    objective_rates: str = ""
    distances: str = ""
    shares: str = ""
    tuner_results: str = ""
    run_dir: str = ""
    pushed: bool | None = None
    artifacts: Sequence[ArtifactRecord] = ()


def collect_run(inputs: ReportInputs) -> RunRecord:
    """Returns everything that the report shows; fields of artifacts that do not exist are left empty.

    Args:
        inputs: Folders of the run's artifacts.
    """
    from firth.recipes.counting import parameter_counts

    vocabulary = _as_word_pieces(_vocabulary(inputs.tokenizer), inputs.recipe.tokenizer.kind)
    serving = read_json_in(inputs.serving_report, "serving_report.json")
    corpus, steps = read_corpus_report(inputs.corpus_report)
    filled, scored = _sentences(inputs, vocabulary)
    parameters = parameter_counts(inputs.recipe)
    return RunRecord(
        recipe=inputs.recipe,
        parameters=parameters,
        trained=_trained(inputs, parameters),
        corpus=corpus,
        corpus_steps=steps,
        vocabulary=vocabulary,
        sequence_counts=read_json_in(inputs.examples, "sequence_counts.json") or {},
        history=_history(inputs.model_run),
        curves=inputs.model_run,
        evaluation=_evaluation(inputs.evaluation),
        blessed=_blessed(inputs.blessing, serving),
        serving=serving,
        filled_masks=filled,
        scored_sentences=scored,
        objective_rates=read_json_in(inputs.objective_rates, "objective_rates.json"),
        distances=read_json_in(inputs.distances, "distances.json") or (),
        shares=read_json_in(inputs.shares, "shares.json") or (),
        trials=_trials(read_json_in(inputs.tuner_results, "tuner_results.json") or (), inputs.recipe.search),
        pushed=inputs.pushed,
        timings=read_json_in(inputs.run_dir, "timings.json") or {},
        versions=versions(),
        artifacts=sorted(inputs.artifacts, key=lambda artifact: artifact.id),
    )


def _trained(inputs: ReportInputs, parameters: Mapping[str, int]) -> int | None:
    """Returns the number of parameters that are trained: all of a model that starts from no other."""
    if inputs.recipe.base is None:
        return parameters["total_with_heads"]
    start = read_json_in(inputs.model_run, "start.json") or {}
    return start.get("trained_parameters")


def read_corpus_report(folder: str) -> tuple[Mapping[str, Any] | None, dict[str, Mapping[str, Any]]]:
    """Returns a corpus report, or None if the folder has no report, and the reports of single steps by name.

    Args:
        folder: Folder of the report.
    """
    report = read_json_in(folder, "corpus_report.json")
    steps = dict.fromkeys(row["step"] for row in report["funnel"]) if report else {}
    found = {step: read_json_in(folder, f"{step}.json") for step in steps}
    return report, {step: measured for step, measured in found.items() if measured is not None}


def _as_word_pieces(pieces: Sequence[str], kind: str) -> tuple[str, ...]:
    if not pieces:
        # Runs are compared without their tokenizers, and so without TensorFlow.
        return ()
    from firth.tokenizers.tokenizer_kinds import TOKENIZERS

    return tuple(TOKENIZERS[kind].as_word_piece(piece) for piece in pieces)


def read_json_in(folder: str, name: str) -> Any:
    """Returns the value of a JSON file of a folder, or None without the folder or the file."""
    return storage.read_json(os.path.join(folder, name)) if folder else None


def _trials(found: Sequence[Mapping[str, Any]], search: Search | None) -> list[Mapping[str, Any]]:
    """Returns the trials without what is KerasTuner's own, and with the part of the steps that each made."""
    if search is None or not search.is_by_rounds:
        return list(found)
    return [
        {
            **{key: value for key, value in each.items() if not key.startswith("tuner/")},
            "part of the steps": each["tuner/epochs"] / search.units,
        }
        for each in found
    ]


def _vocabulary(folder: str) -> tuple[str, ...]:
    path = os.path.join(folder, "vocab.txt")
    if not folder or not storage.exists(path):
        return ()
    # Pieces may hold any Unicode line end but this one.
    return tuple(storage.read_text(path).removesuffix("\n").split("\n"))


def _history(folder: str) -> list[Mapping[str, float]]:
    return storage.read_json_lines(os.path.join(folder, "history.jsonl")) if folder else []


def _evaluation(folder: str) -> Mapping[str, Mapping[str, float]]:
    if not folder or not storage.is_folder(folder):
        return {}
    from firth.evaluation import load_evaluation

    return load_evaluation(folder)


def _blessed(folder: str, serving: Mapping[str, Any] | None) -> bool | None:
    """Returns true if the model kept its thresholds and, where that was tried, can be served."""
    if folder and storage.exists(os.path.join(folder, "BLESSED")):
        return serving is None or serving["blessed"]
    return False if folder and storage.exists(os.path.join(folder, "NOT_BLESSED")) else None


def _sentences(
    inputs: ReportInputs, vocabulary: Sequence[str]
) -> tuple[list[FilledMask], list[ScoredSentence]]:
    """Asks the exported model about held-out sentences, as far as it can be asked."""
    if not (inputs.model and vocabulary and storage.glob(os.path.join(inputs.examples, "Split-eval", "*"))):
        return [], []
    from firth.serving import shared_client

    client, seed = shared_client(inputs.model), inputs.recipe.seed
    rows = eval_rows(inputs.examples, ROWS_READ, seed)
    filled = _filled_masks(client, rows, vocabulary, inputs.recipe) if client.inputs("fill_mask") else []
    scored = _scored(client, rows, vocabulary, seed) if client.inputs("score") == ("text",) else []
    return filled, scored


def _filled_masks(
    client: "Client", rows: Sequence[HeldOutRow], vocabulary: Sequence[str], recipe: RunRecipe
) -> list[FilledMask]:
    from firth.tokenizers.tokenizer_kinds import TOKENIZERS

    kind = TOKENIZERS[recipe.tokenizer.kind]
    sentences = list(masked_sentences(rows, vocabulary, recipe.seed))[:SENTENCES]
    texts = [sentence.text.replace(MASK, client.mask) for sentence in sentences]
    answers = client.fill_mask(texts) if texts else []
    return [
        FilledMask(
            sentence.before,
            sentence.answer,
            sentence.after,
            sentence.source,
            [(kind.as_word_piece(piece), score) for piece, score in masks[0]],
        )
        for sentence, masks in zip(sentences, answers)
    ]


def _scored(
    client: "Client", rows: Sequence[HeldOutRow], vocabulary: Sequence[str], seed: int
) -> list[ScoredSentence]:
    sentences = list(plain_sentences(rows, vocabulary, seed))[:SENTENCES]
    answers = client.score([text for text, _ in sentences]) if sentences else []
    return [
        ScoredSentence(list(zip(scored.pieces, map(math.exp, scored.log_probabilities))), source)
        for scored, (_, source) in zip(answers, sentences)
    ]


def eval_rows(examples_uri: str, count: int, seed: int) -> list[HeldOutRow]:
    """Returns `count` rows of a SequenceGen artifact's eval split, always the same for a seed."""
    return heapq.nsmallest(count, _rows(examples_uri), key=lambda row: _order(seed, row.example_id))


def _order(seed: int, example_id: int) -> bytes:
    return hashlib.blake2b(f"{seed}/{example_id}".encode(), digest_size=8).digest()


def _rows(examples_uri: str) -> Iterator[HeldOutRow]:
    import tensorflow as tf

    from firth.corpus.io.records import read_records

    files = storage.glob(os.path.join(examples_uri, "Split-eval", "*"))
    for record in (record for file in files for record in read_records(file)):
        features = tf.train.Example.FromString(record).features.feature
        yield HeldOutRow(
            example_id=features[names.EXAMPLE_ID].int64_list.value[0],
            source=features[names.SOURCE].bytes_list.value[0].decode("utf-8", "replace"),
            tokens=features[names.RAW_TOKENS].int64_list.value,
            sentence_starts=features[names.SENTENCE_STARTS].int64_list.value,
            chunk_lengths=features[names.CHUNK_LENGTHS].int64_list.value,
        )


def directory_digest(directory: str | os.PathLike[str]) -> str:
    """Returns `sha256:` of a folder's relative paths and contents, or the reason why it was not computed.

    Example:

    >>> directory_digest("/no/such/folder")
    'not computed: no such folder'
    """
    if not storage.is_folder(directory):
        return "not computed: no such folder"
    paths = {name: os.path.join(directory, name) for name in storage.files_below(directory)}
    if sum(map(storage.size_of, paths.values())) > MAX_DIGEST_BYTES:
        return f"not computed: above {MAX_DIGEST_BYTES // 10**9} GB"
    whole = hashlib.sha256()
    for name, path in paths.items():
        whole.update(name.encode() + b"\0")
        whole.update(storage.digest_of(path))
    return f"sha256:{whole.hexdigest()}"


def versions() -> dict[str, str]:
    """Returns the versions of Python and of the packages that a run depends on most.

    Example:

    >>> versions()["python"].startswith("3.")
    True
    """
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
