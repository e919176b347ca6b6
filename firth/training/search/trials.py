"""The trials of a search: each trains the recipe with other values, and is kept as it is measured."""

import functools
import itertools
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import keras_tuner
from keras_tuner import errors, oracles
from keras_tuner.engine import base_tuner
from keras_tuner.engine.trial import TrialStatus

from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.search import HYPERBAND_FACTOR, Search, with_values
from firth.scores import compute, score_of
from firth.scores.score_table import CONSTRAINED, PROBABILITIES, SCORED_ANSWERS, WRITTEN
from firth.serving.evaluate import answers_to
from firth.serving.served_model import Served
from firth.tasks import TASKS
from firth.training.checkpoints import remove_runs
from firth.training.held_out import HeldOut, first_rows
from firth.training.history import HELD_OUT_LOSS
from firth.training.loop import NonFiniteLossError
from firth.training.pretraining import load_recipe_tokenizer, train

# KerasTuner takes a seed of 0 for none, and draws one; no recipe has this seed.
_FOR_ZERO = 2**31
# Units of steps that Hyperband gives a trial; others make all.
_UNITS = "tuner/epochs"
# More trials than any number of rounds gives.
_MOST_TRIALS = 10_000
# Inputs of scores that need more than the answers of a trial: probabilities, or whether a text was cut.
_MORE_THAN_ANSWERS = (PROBABILITIES, SCORED_ANSWERS, WRITTEN, CONSTRAINED)
_Oracle = functools.partial[keras_tuner.Oracle]


class SearchError(ValueError):
    """No trial of a search was completed."""


class RecipeTuner(base_tuner.BaseTuner):
    """Searches the values of a recipe's keys.

    Its state is in KerasTuner's files below `directory`, with the checkpoints of trials next to them, so that
    a search that was killed resumes within its trial.
    """

    def __init__(self, recipe: RunRecipe, places: dict[str, Any], directory: str, schedule: Any) -> None:
        assert recipe.search is not None
        self._recipe, self._places, self._schedule = recipe, places, schedule
        self._objective = objective_of(recipe)
        super().__init__(
            oracle=oracle_of(recipe.search, recipe.seed or _FOR_ZERO)(
                objective=keras_tuner.Objective(*self._objective),
                hyperparameters=hyperparameters(recipe.search),
                allow_new_entries=False,
                # A trial that diverges shows what to avoid, and does not end the search.
                max_consecutive_failed_trials=sys.maxsize,
            ),
            directory=directory,
            project_name="trials",
        )

    def on_trial_begin(self, trial: Any) -> None:
        """Saves the trial, so that a killed one is not restarted with other values."""
        self.save()

    def run_trial(self, trial: Any, *fit_args: Any, **fit_kwargs: Any) -> dict[str, float]:
        """Returns the score of a model that is trained with a trial's values."""
        try:
            return {self._objective.name: self._value(trial.trial_id, trial.hyperparameters.values)}
        except errors.FailedTrialError:
            raise
        except NonFiniteLossError as error:
            raise errors.FailedTrialError(str(error)) from error
        except Exception as error:
            raise errors.FatalError(f"{type(error).__name__}: {error}") from error

    def _value(self, trial_id: str, values: dict[str, Any]) -> float:
        for each in self.oracle.trials.values():
            # In a small space, Bayesian optimization repeats values.
            if each.status == TrialStatus.COMPLETED and each.hyperparameters.values == values:
                return float(each.score)
        assert self._recipe.search is not None
        units = self._recipe.search.units
        recipe = shortened(self._schedule(self._with(values)), values.get(_UNITS, units), units)
        curve = os.path.join(self.directory, "curves", trial_id)
        checkpoints = os.path.join(self.directory, "checkpoints")
        model = train(recipe, model_run_directory=curve, checkpoint_root=checkpoints, **self._places)
        tokenizer = load_recipe_tokenizer(recipe, self._places["tokenizer_directory"])
        return measured(self._objective, model, tokenizer, recipe, self._places["eval_files"])

    def _with(self, values: dict[str, Any]) -> RunRecipe:
        try:
            return with_values(self._recipe, values)
        except ValueError as error:
            # The ends of a range fit on their own. A number between them, or two keys together, may not.
            raise errors.FailedTrialError(str(error)) from error

    def on_trial_end(self, trial: Any) -> None:
        """Removes a trial's checkpoints, and saves its score.

        The next trial would resume from them if it differs in the number of steps alone, and all together
        would fill the disk. If the process is killed in between, the trial is repeated.
        """
        remove_runs(os.path.join(self.directory, "checkpoints"))
        super().on_trial_end(trial)

    def on_search_end(self) -> None:
        """Checks that there is a best trial."""
        if not any(each.status == TrialStatus.COMPLETED for each in self.oracle.trials.values()):
            raise SearchError(
                f"none of {len(self.oracle.trials)} trials has a finite loss and values that fit each other; "
                "lower training.optimizer.learning_rate, or its range in search.space"
            )


def shortened(recipe: RunRecipe, units: int, of_units: int) -> RunRecipe:
    """Returns a recipe with a part of its steps, whose schedule is for these.

    Example:

    >>> from firth.recipes import load_recipe
    >>> recipe = load_recipe("demo", ["training.steps=100"])
    >>> [shortened(recipe, units, 9).training.steps for units in (1, 3, 9)]
    [12, 34, 100]
    """
    steps = -(-recipe.training.steps * units // of_units)
    return recipe.model_copy(update={"training": recipe.training.model_copy(update={"steps": steps})})


def hyperparameters(search: Search) -> keras_tuner.HyperParameters:
    """Returns the space of a search as KerasTuner has it."""
    found = keras_tuner.HyperParameters()
    for key, space in search.space.items():
        space.add_to(found, key)
    return found


class TrialMeasure(NamedTuple):
    """A measure of trained models.

    Attributes:
        name: Name of the score, or of the loss.
        direction: `max` where a greater value is better, or else `min`.
    """

    name: str
    direction: str


def objective_of(recipe: RunRecipe) -> TrialMeasure:
    """Returns the first score of a recipe's task that answers alone give, or the held-out loss."""
    for name in getattr(recipe.goal, "score_names", ()):
        score = score_of(name)
        if score.inputs not in _MORE_THAN_ANSWERS:
            return TrialMeasure(name, "max" if score.greater_is_better else "min")
    return TrialMeasure(HELD_OUT_LOSS, "min")


def measured(
    objective: TrialMeasure, model: keras.Model, tokenizer: Any, recipe: RunRecipe, eval_files: Sequence[str]
) -> float:
    """Returns the value of a trained model."""
    if objective.name == HELD_OUT_LOSS:
        losses = HeldOut(model, tokenizer, recipe, eval_files)()
        if HELD_OUT_LOSS not in losses:
            raise ValueError("search: there are no held-out rows to compare trials by")
        return float(losses[HELD_OUT_LOSS])
    task: Any = recipe.goal
    found = answers_to(Served(model, tokenizer, recipe), first_rows(eval_files, sys.maxsize))
    join = getattr(TASKS[task.kind], "joined", None)
    examples = found if join is None else join(task, found)["examples"]
    if source := objective.name.rpartition(".")[0]:
        # A run of several tasks is scored by one of them.
        examples = [each for each in examples if each.source == source]
    return float(compute(objective.name, examples, **task.score_options(objective.name)).value)


class GridOracle(keras_tuner.Oracle):
    """Takes all values of a space one after another, the last key's first.

    KerasTuner's own oracle does not keep which combination comes next, so that a search that was killed
    between two trials would end with those that are done. Here it follows from the number of trials.
    """

    def populate_space(self, trial_id: str) -> dict[str, Any]:
        """Returns the values of the next trial, under `values`, and its `status`."""
        space = self.get_space().space
        each = [[key.default, *(value for value in key.values if value != key.default)] for key in space]
        found = next(itertools.islice(itertools.product(*each), len(self.start_order), None), None)
        if found is None:
            return {"status": TrialStatus.STOPPED}
        return {
            "status": TrialStatus.RUNNING,
            "values": {key.name: value for key, value in zip(space, found, strict=True)},
        }


class HyperbandOracle(oracles.HyperbandOracle):
    """KerasTuner's Hyperband, with a number of trials, which TFX's Tuner asks for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.max_trials = _MOST_TRIALS


def oracle_of(search: Search, seed: int) -> _Oracle:
    """Returns the class of a search's oracle, with the arguments that differ among algorithms.

    Example:

    >>> search = Search.of({"space": {"seed": {"kind": "choices", "values": [1, 2]}}, "algorithm": "grid"})
    >>> oracle_of(search, seed=7).keywords
    {'max_trials': 10}
    """
    trials: dict[str, Any] = {"max_trials": search.most_trials}
    rounds: dict[str, Any] = {"max_epochs": search.units, "factor": HYPERBAND_FACTOR}
    made: dict[str, _Oracle] = {
        "random": functools.partial(oracles.RandomSearchOracle, **trials, seed=seed),
        "grid": functools.partial(GridOracle, **trials),
        "bayesian": functools.partial(oracles.BayesianOptimizationOracle, **trials, seed=seed),
        "hyperband": functools.partial(HyperbandOracle, **rounds, seed=seed),
    }
    return made[search.algorithm]
