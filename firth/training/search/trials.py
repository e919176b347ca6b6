"""KerasTuner's search, whose trials are trainings by this package's own loop."""

import os
import sys
from typing import Any

import keras_tuner
from keras_tuner import errors
from keras_tuner.engine import base_tuner
from keras_tuner.engine.trial import TrialStatus

from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.search import Search, with_values
from firth.training.checkpoints import remove_runs
from firth.training.loop import NonFiniteLossError
from firth.training.pretraining import load_recipe_tokenizer, train
from firth.training.search.objective import measured, objective_of
from firth.training.search.oracles import oracle_of

# KerasTuner takes a seed of 0 for none, and draws one; no recipe has this seed.
_FOR_ZERO = 2**31
# Units of steps that Hyperband gives a trial; others make all.
_UNITS = "tuner/epochs"


class SearchError(ValueError):
    """No trial of a search has come to its end."""


class RecipeTuner(base_tuner.BaseTuner):
    """Searches the values of a recipe's keys.

    What it knows is in KerasTuner's files below `directory`, and the checkpoints of trials next to them, so
    that a search that was killed goes on within its trial.
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
                # One that diverges says what to avoid, and is not a reason to end.
                max_consecutive_failed_trials=sys.maxsize,
            ),
            directory=directory,
            project_name="trials",
        )

    def on_trial_begin(self, trial: Any) -> None:
        """Keeps which trial it is, so that a killed one is not begun again with other values."""
        self.save()

    def run_trial(self, trial: Any, *fit_args: Any, **fit_kwargs: Any) -> dict[str, float]:
        """Returns what the model is worth that is trained with a trial's values."""
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
            # In a small space, Bayesian optimization comes back to what it knows.
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
        """Removes a trial's checkpoints, and keeps what it was worth.

        The next trial would go on from them if it differs in the number of steps alone, and all together
        would fill the disk. If the process is killed in between, the trial is made again.
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
