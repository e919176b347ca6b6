"""ObjectiveValidator on rows of a train split, with right objectives and with one that is not."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest
from tfx.components import Trainer
from tfx.proto import trainer_pb2
from tfx.types import artifact_utils, channel_utils, standard_artifacts

from firth.components import ObjectiveRates, ObjectiveValidator
from firth.components.objective_validator import Executor
from firth.objectives import OBJECTIVES, MaskedLMObjective
from firth.recipes.objectives.denoising import Denoising, SpanCorruption
from firth.recipes.objectives.masking import MaskedLM
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordPieceTokenizer, save_tokenizer
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from firth.training.objective_rates import ObjectiveRatesError
from firth.training.rows import RowsError
from tests.training.artifacts import DOCUMENTS, LENGTH, VOCABULARY, write_split

SEQUENCES = Sequences(length=LENGTH, max_documents=DOCUMENTS)
COUNT = 200


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("examples"))
    save_tokenizer(WordPieceTokenizer([*VOCABULARY, *sentinel_pieces(5)]), os.path.join(folder, "tokenizer"))
    write_split(folder, COUNT, shards=3)
    artifact = standard_artifacts.Examples()
    artifact.uri, artifact.split_names = folder, artifact_utils.encode_split_names(["train"])
    return artifact


def run(examples, folder, objective, rows=2000, seed=3):
    """Runs the component's executor with the properties that it declares; returns the report."""
    component = ObjectiveValidator(
        channel_utils.as_channel([examples]), objective, SEQUENCES, seed=seed, rows=rows
    )
    rates = ObjectiveRates()
    rates.uri = str(folder)
    try:
        Executor().Do({"examples": [examples]}, {"rates": [rates]}, component.exec_properties)
    finally:
        path = folder / "objective_rates.json"
        report = json.loads(path.read_text()) if path.exists() else None
    return report


@pytest.mark.parametrize(
    ("objective", "rows", "read"),
    [
        # Measured from the first rate to the last.
        (
            MaskedLM(next_sentence=False, mask_rate=0.1, first_mask_rate=0.6, max_predictions=16),
            2000,
            COUNT,
        ),
        # Only so many rows are read, from every file.
        (Denoising(), 50, 50),
        # `tests/objectives/objective_kinds_rate_measurement_test.py` measures all.
        pytest.param(MaskedLM(max_predictions=5), 2000, COUNT, marks=pytest.mark.repeated),
        pytest.param(SpanCorruption(), 2000, COUNT, marks=pytest.mark.repeated),
    ],
)
def test_a_right_objective_passes(examples, tmp_path, objective, rows, read):
    report = run(examples, tmp_path, objective, rows)
    assert report["ok"] is True
    assert (report["kind"], report["rows"], report["documents"]) == (objective.kind, read, 2 * read)
    assert all(rate["lower"] <= rate["measured"] <= rate["upper"] for rate in report["rates"])
    assert {"special_tokens_touched", "padding"} <= {rate["name"] for rate in report["rates"]}


def test_a_wrong_objective_fails_with_each_broken_rate_and_leaves_the_report(examples, tmp_path, monkeypatch):
    class AlwaysMasks(MaskedLMObjective):
        def __init__(self, config, sequences, tokenizer):
            changed = {"mask_token_rate": 1.0, "random_token_rate": 0.0, "random_next_rate": 1.0}
            super().__init__(config.model_copy(update=changed), sequences, tokenizer)

    monkeypatch.setitem(OBJECTIVES, "masked_lm", AlwaysMasks)
    with pytest.raises(
        ObjectiveRatesError, match=r"masked_lm .* masked is 1, .*kept is 0.*random_next is 1"
    ) as caught:
        run(examples, tmp_path / "out", MaskedLM(max_predictions=5))
    shutil.rmtree(tmp_path / "out")  # As TFX does when a component fails.
    report = json.loads(pathlib.Path(str(caught.value).split("Kept: ")[1]).read_text())
    assert report["ok"] is False
    broken = {rate["name"] for rate in report["rates"] if not rate["ok"]}
    assert broken == {"masked", "random", "kept", "random_next"}


def test_rows_of_another_recipe_are_refused(examples, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SEQUENCES", Sequences(length=8, max_documents=DOCUMENTS))
    with pytest.raises(RowsError, match=r"longer .*8"):
        run(examples, tmp_path, Denoising())


def test_what_is_measured_is_what_is_trained_on(examples, tmp_path, monkeypatch):
    """The first epoch of the training makes the same features of these rows."""
    from firth import features
    from firth.training import objective_rates
    from firth.training.input_pipeline import training_batches
    from firth.training.row_files import read_rows
    from firth.training.rows import RowLimits

    seen = {}

    def remember(config, tokenizer, rows, negatives, made):
        seen.update(tokenizer=tokenizer, rows=rows, made=made)
        raise InterruptedError

    monkeypatch.setattr(objective_rates, "measure_rates", remember)
    config, seed = MaskedLM(max_predictions=5), 3
    with pytest.raises(InterruptedError):
        run(examples, tmp_path, config, seed=seed)
    limits = RowLimits(features.row_specs(LENGTH - 3, DOCUMENTS), 3, len(VOCABULARY) + 5)
    rows = read_rows([f"{examples.uri}/Split-train/*"], str(tmp_path / "cache"), limits)
    objective = MaskedLMObjective(config, SEQUENCES, seen["tokenizer"])
    trained = {}
    for ids, made in training_batches(rows, objective, seed, 20, 0, COUNT // 20).as_numpy_iterator():
        for index, example_id in enumerate(ids):
            trained[example_id] = {name: value[index] for name, value in made.items()}
    assert len(trained) == COUNT
    for index, example_id in enumerate(seen["rows"]["example_id"]):
        for name, value in seen["made"].items():
            np.testing.assert_array_equal(trained[example_id][name], value[index], name)


def test_a_trainer_behind_it_waits_for_it(examples):
    validator = ObjectiveValidator(channel_utils.as_channel([examples]), Denoising(), SEQUENCES, seed=1)
    assert validator.outputs["rates"].type is ObjectiveRates
    trainer = Trainer(
        run_fn="x.y",
        examples=channel_utils.as_channel([examples]),
        train_args=trainer_pb2.TrainArgs(),
        eval_args=trainer_pb2.EvalArgs(),
    )
    trainer.add_upstream_node(validator)
    assert validator in trainer.upstream_nodes
