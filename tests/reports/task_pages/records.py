"""A made-up run that adapts a model, with text in it that a page must escape."""

import dataclasses

from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.classification import Classification
from firth.reports.task_report import Confusion, TaskRecord, WrongAnswer
from tests.exported_model import RECIPE
from tests.reports.records import HOSTILE, run_record


def adapting_recipe(**values):
    return AdaptingRecipe(
        **{
            "name": "films",
            "data": {"kind": "columns", "train": "films.csv"},
            "base": {"bundle": "base", "digest": "0" * 64},
            "tokenizer": RECIPE.tokenizer,
            "sequences": RECIPE.sequences,
            "model": RECIPE.model,
            "task": Classification(labels=("no", HOSTILE), scores=("accuracy", "f1"), positive="no"),
            **values,
        }
    )


def film_record():
    metrics = {
        "accuracy": 0.75,
        "accuracy_low": 0.5,
        "accuracy_high": 0.875,
        "f1": 0.625,
        "label_loss": 0.5,
        "example_count": 8.0,
        "row_count": 3.0,
    }
    slices = {
        "length=0-16": {"accuracy": 0.8125, "example_count": 5.0},
        f"label={HOSTILE}": {"accuracy": 0.25, "example_count": 2.0},
    }
    history = [
        {"step": step, "label_loss": 1.0 / step, "loss": 1.0 / step, "held_out_label_loss": 2.0 / step,
         "learning_rate": 1e-3, "tokens_per_second": 9.0, "tokens": step, "gradient_norm": 1.0}
        for step in range(1, 4)
    ]  # fmt: skip
    return dataclasses.replace(
        run_record(),
        recipe=adapting_recipe(description=HOSTILE).scheduled(6, 30),
        evaluation={"overall": metrics, **slices},
        history=history,
    )


def split_report(kept, rejected):
    return {
        "file": f"{HOSTILE}.csv",
        "read": kept + sum(rejected.values()),
        "kept": kept,
        "rejected": rejected,
        "first_rejected": [f"films.csv:7: no_label: {HOSTILE}"] if rejected else [],
        "labels": {"no": kept - 1, HOSTILE: 1},
        "duplicates": {"records": 4, "texts_with_several_labels": 1},
    }


def task_record():
    rows = {"rows": 6, "records": 30, "records_cut": 3, "padding_share": 0.125, "rejected": {"no_tokens": 2}}
    return TaskRecord(
        records={
            "labels": ["no", HOSTILE],
            "held_out": True,
            "splits": {"train": split_report(32, {"no_label": 5}), "eval": split_report(8, {})},
            "in_both_splits": {"records": 6, "with_another_label": 2},
        },
        rows={"train": rows},
        skew=[{"said": f"12.0% of train and 80.0% of eval have the label '{HOSTILE}'"}],
        start={"bundle": "runs/base", "fresh_layers": ["heads/pooled_head"]},
        trained=4321,
        asked=8,
        confusion=Confusion(("no", HOSTILE), [[5, 1], [2, 0]]),
        wrong=[WrongAnswer({"text": f"a film {HOSTILE}"}, HOSTILE, "no")],
    )
