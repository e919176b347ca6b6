"""Labelled records as firth's rows and as a peer's examples, of the same pieces."""

import collections
import itertools
import pathlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.workers.finetune_files import EXAMPLES, RECIPE, ROWS, TOKENIZER
from benchmarks.workers.finetune_sizes import VOCABULARY, FineTuneSize
from firth import features as names
from firth.corpus.io.records import write_records
from firth.interop.hugging_face.tokenizers import read_tokenizer
from firth.recipes.base.recipe_type import config_of
from firth.recipes.models import blocks
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.tasks import AnyTask
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig
from firth.tasks import TASKS
from firth.tasks.inputs import EncodedRecord
from firth.tasks.labelled.data import LABELLED_DATA
from firth.tasks.readers import LabelledRecord, RefusedFileError
from firth.tasks.task_options import with_labels
from firth.tasks.task_rows import pack_records
from firth.tokenizers import WordPieceTokenizer, save_tokenizer

IGNORED = -100


def prepare(
    folder: str,
    data: dict[str, Any],
    task: dict[str, Any],
    docstrings: str,
    size: FineTuneSize,
    count: int,
    tokenizer: str | None,
) -> dict[str, Any]:
    """Writes rows, examples and the recipe; returns a description of the data."""
    try:
        recipe, records = _read(data, task, size)
    except RefusedFileError:
        recipe, records = _read({"kind": "docstrings", "task": docstrings}, task, size)
    records = [records[index] for index in np.random.default_rng(0).permutation(len(records))[:count]]
    made = read_tokenizer(tokenizer) if tokenizer else _trained(records)
    kind = TASKS[recipe.task.kind](recipe.task, recipe.sequences, made)
    encoded = [each for each in kind.encode(records) if all(map(len, each.chunks))]
    packed = pack_records(encoded, recipe.task, recipe.sequences)
    write_records(f"{folder}/{ROWS}", 0, 1, (row.to_example() for row in packed.rows))
    save_tokenizer(made, f"{folder}/{TOKENIZER}")
    recipe = recipe.scheduled(len(packed.rows), len(encoded))
    pathlib.Path(folder, RECIPE).write_text(recipe.model_dump_json())
    examples = [_example(each, kind.frame) for each in encoded]
    lengths = [len(ids) for ids, _, _ in examples]
    np.savez(
        f"{folder}/{EXAMPLES}",
        ids=np.concatenate([ids for ids, _, _ in examples]),
        segments=np.concatenate([segments for _, segments, _ in examples]),
        labels=np.concatenate([labels for _, _, labels in examples]),
        lengths=lengths,
        head=recipe.task.heads,
        classes=recipe.task.loss_terms[0].classes,
    )
    return {
        "source": recipe.data.source,
        "records": len(encoded),
        "tokens_per_record": float(np.mean(lengths)),
        "padding_share": packed.report["padding_share"],
    }


def _read(
    data: dict[str, Any], task: dict[str, Any], size: FineTuneSize
) -> tuple[AdaptingRecipe, list[LabelledRecord]]:
    recipe = with_labels(_recipe(data, task, size))
    found = LABELLED_DATA[recipe.data.kind].read(recipe.data, recipe.task, "train")
    return recipe, [each for each in found.records if _is_labelled(each, recipe.task)]


def _is_labelled(record: LabelledRecord, task: Any) -> bool:
    labels = record.label if isinstance(record.label, tuple) else (record.label,)
    classes = getattr(task, "labels", labels)
    return bool(labels) and set(labels) <= set(classes)


def _recipe(data: dict[str, Any], task: dict[str, Any], size: FineTuneSize) -> AdaptingRecipe:
    attention = blocks.AttentionConfig(heads=size.heads)
    return AdaptingRecipe.model_validate(
        {
            "name": "benchmark",
            "data": data,
            "base": {"bundle": "none", "digest": "0" * 64},
            "tokenizer": WordPieceTokenizerConfig(vocabulary_size=VOCABULARY),
            "sequences": _rows_of(task),
            "model": MaskedTransformerConfig(layers=size.layers, width=size.width, attention=attention),
            "task": task,
            "method": {"kind": size.method},
            "training": {"optimizer": {"kind": "adamw", "learning_rate": 5e-5}, "precision": size.precision},
            "examples_per_step": size.examples,
            # Warm-up and all rounds are a part of one run.
            "epochs": 100,
        }
    )


def _rows_of(task: dict[str, Any]) -> Sequences:
    """Returns rows as `firth finetune` lays them out by default."""
    made: Any = config_of("task", AnyTask, task)
    return Sequences(length=made.row_length, max_documents=made.row_length // made.record_length)


def _trained(records: Iterable[LabelledRecord]) -> WordPieceTokenizer:
    texts = itertools.chain.from_iterable(
        [text] if isinstance(text, str) else text for record in records for text in record.texts.values()
    )
    counts = collections.Counter(word for text in texts for word in text.lower().split())
    return WordPieceTokenizer.train(counts, WordPieceTokenizerConfig(vocabulary_size=VOCABULARY))


def _example(record: EncodedRecord, frame: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns ids and segments as a peer reads them, and the label, or a label for each id."""
    first, *second = record.chunks
    ids = [*frame.before, *first]
    for chunk in second:
        ids += [*frame.between, *chunk]
    ids += frame.after
    begin = len(frame.before) + len(first) + len(frame.between) if second else len(ids)
    segments = (np.arange(len(ids)) >= begin).astype("int32")
    if names.SPAN_STARTS in record.labels:
        # No answer is the place of [CLS].
        places = np.array([record.labels[name][0] for name in (names.SPAN_STARTS, names.SPAN_ENDS)])
        return np.array(ids, "int32"), segments, np.where(places > 0, begin + places - 1, 0)
    if names.TOKEN_LABELS not in record.labels:
        return np.array(ids, "int32"), segments, np.array(record.labels[names.RECORD_LABELS], "int32")
    labels = np.full(len(ids), IGNORED, "int32")
    tags = np.array(record.labels[names.TOKEN_LABELS], "int32") - 1
    labels[len(frame.before) :][: len(tags)] = np.where(tags < 0, IGNORED, tags)
    return np.array(ids, "int32"), segments, labels
