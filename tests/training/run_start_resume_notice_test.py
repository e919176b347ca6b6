"""Notices of the step at which a run resumes, and of the values that another number of steps changes."""

from firth.pipelines.events import reporting
from firth.training.checkpoints import Progress
from firth.training.run_start import report_resume
from tests.training.artifacts import tiny_recipe


def test_it_is_an_event_of_the_run():
    events = []
    with reporting(events.append):
        report_resume(tiny_recipe(steps=5), Progress(3, planned_steps=3))
        report_resume(tiny_recipe(steps=5), Progress(3, planned_steps=5))
        report_resume(tiny_recipe(steps=5), Progress(0))
        report_resume(tiny_recipe(steps=5), Progress(5, planned_steps=5))
    assert [event["kind"] for event in events] == ["notice"] * 2
    changed, same = (event["text"] for event in events)
    assert changed.startswith("the run resumes at step 3 with training.steps: 5 instead of 3")
    assert same == "the run resumes at step 3 of 5"


def test_it_tells_a_mask_rate_that_changes_over_the_run(caplog):
    recipe = tiny_recipe(steps=6)
    objective = recipe.objective.model_copy(update={"first_mask_rate": 0.3})
    recipe = recipe.model_copy(update={"objective": objective})
    report_resume(recipe, Progress(3, planned_steps=3))
    assert ", and mask_rate continues from 0.225, where it would from 0.15" in caplog.text
