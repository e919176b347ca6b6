"""Trains, exports, serves, evaluates, reports and sums up a model of an objective and a backbone just added.

    python tests/added_objective.py OBJECTIVE BACKBONE FOLDER

Prints one JSON object with what came of it. `additions_test.py` runs it in a copy of the package.
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf


def main(kind: str, backbone: str, folder: str) -> dict:
    from firth.cli.summary import ask_with, perplexity_line
    from firth.evaluation.metrics import metrics_of
    from firth.features import evaluation_sums
    from firth.recipes import Recipe
    from firth.recipes.counting import memory_bytes, parameter_counts, training_flops_per_step
    from firth.reports.record import RunRecord
    from firth.reports.report import render_report
    from firth.serving import Client, export
    from firth.serving.exported_model import read_description
    from firth.serving.validation import cases
    from firth.tokenizers import load_tokenizer
    from firth.training.objective_rates import measure_objective
    from firth.training.pretraining import train
    from tests.training.artifacts import tiny_recipe, write_artifact

    data = json.loads(tiny_recipe(next_sentence=True, steps=3, checkpoint_every_steps=3).to_json())
    data["objective"]["kind"], data["model"]["kind"] = kind, backbone
    recipe = Recipe.from_json(json.dumps(data))
    files = write_artifact(os.path.join(folder, "examples"), count=8)
    tokenizer_folder = os.path.join(folder, "examples", "tokenizer")
    tokenizer = load_tokenizer(tokenizer_folder)
    model_run = os.path.join(folder, "model_run")
    model = train(recipe, files, tokenizer_folder, model_run, os.path.join(folder, "checkpoints"))
    served = os.path.join(folder, "serving")
    counts = np.ones(recipe.tokenizer.vocabulary_size, np.int64)
    export(model, tokenizer, recipe, counts, served)
    sums = _sums(served, files, evaluation_sums(recipe.goal.loss_classes))
    metrics = {name: metric(sums) for name, metric in metrics_of(recipe.goal.loss_classes).items()}
    with open(os.path.join(model_run, "history.jsonl"), encoding="utf-8") as file:
        history = [json.loads(line) for line in file]
    page = render_report(RunRecord(recipe, history=history, evaluation={"overall": metrics}))
    client = Client(served)
    masks = client.fill_mask(["w1 [MASK] w3"])
    return {
        "counts": [parameter_counts(recipe)["total_with_heads"], memory_bytes(recipe)["total"]],
        "held": sum(int(np.prod(weight.shape)) for weight in model.trainable_variables),
        "built": _parts(model),
        "loaded": _parts(_bundled(model, recipe, tokenizer_folder, os.path.join(folder, "bundle"))),
        "flops": training_flops_per_step(recipe),
        "rates": measure_objective(recipe.objective, recipe.sequences, tokenizer, files, 1, 8)["kind"],
        "metrics": metrics,
        "cases": len(list(cases(served))),
        "asked": ask_with(read_description(served)["signatures"]),
        "line": perplexity_line(metrics, recipe.goal.loss_terms[0].title),
        "masks": len(masks[0]),
        "read": _read(os.path.join(folder, "documents.copied")),
        "cleaned": _cleaned(),
        "pieces": _pieces(os.path.join(folder, "trained")),
        "copied": _copied(client, read_description(served)["signatures"]["copied"]["answer"]),
        "drawn": page.count("Loss of "),
    }


def _parts(model) -> list[str]:
    """The classes of a model's parts."""
    return [type(part).__name__ for part in (model.backbone, model.heads)]


def _bundled(model, recipe, tokenizer_folder: str, folder: str):
    """The model as its bundle gives it back."""
    from firth.models import load_model, save_model

    save_model(model, recipe, tokenizer_folder, folder)
    return load_model(folder)


def _copied(client, answer) -> list[list[str]]:
    """Returns the fields and the printed lines of the added signature's answer."""
    from firth.serving.answers import answer_lines, printed_fields

    values = printed_fields(answer, client.ask("copied", ["w1 w2"])[0])
    return [list(values), answer_lines(answer, values)]


def _read(path: str) -> list[str]:
    """The texts that the added source reads in a file, whose ending tells its kind."""
    from firth.corpus.readers.sources import SOURCES, list_files
    from firth.recipes.corpus.sources import ENDINGS
    from firth.recipes.corpus.sources_json import sources_from_json

    with open(path, "w", encoding="utf-8") as file:
        file.write('{"text": "one two three"}\n')
    (source,) = sources_from_json(json.dumps([{"kind": ENDINGS[".copied"], "paths": [path]}]))
    (file,) = list_files(source)
    return [document.text for document in SOURCES[source.kind].read(source, file)]


def _cleaned() -> list[bool]:
    """Returns whether the added step keeps a text that is too short, and one that is not."""
    from firth.corpus.curation.step_table import STEPS
    from firth.corpus.documents.document import Document
    from firth.corpus.documents.steps import Keep
    from firth.recipes import Cleaning

    (config,) = Cleaning.from_json('{"steps": [{"kind": "copied", "min_words": 2}]}').steps
    texts = ("one", "one two three")
    documents = [Document(id=text, text=text, source="made", licence="", uri="") for text in texts]
    return [isinstance(STEPS[config.kind](config).decide(each), Keep) for each in documents]


def _pieces(folder: str) -> list[str]:
    """Returns the pieces of a word, by a trained, saved and loaded tokenizer of the added kind."""
    from firth.corpus import train_tokenizer
    from firth.recipes.tokenizers.tokenizer import tokenizer_from_json
    from firth.tokenizers import load_tokenizer

    config = tokenizer_from_json('{"kind": "copied", "vocabulary_size": 16}')
    train_tokenizer({"the": 9, "thes": 9}, config, folder)
    tokenizer = load_tokenizer(folder)
    assert tokenizer.kind == "copied"
    return [tokenizer.id_to_token(id) for id in tokenizer.tokenize("thes").numpy()]


def _sums(served: str, files: list[str], names) -> dict[str, float]:
    import tensorflow_text  # noqa: F401

    rows = list(tf.data.TFRecordDataset(tf.io.gfile.glob(files), "GZIP").as_numpy_iterator())
    answers = tf.saved_model.load(served).signatures["evaluate"](examples=tf.constant(rows))
    return {name: float(tf.reduce_sum(answers[name])) for name in names}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
