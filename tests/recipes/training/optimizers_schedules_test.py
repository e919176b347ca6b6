import pytest

from firth.recipes import AdamWConfig, CosineScheduleConfig, load_recipe
from firth.recipes.base.errors import RecipeError
from firth.recipes.reading.requirements import notices

KEY = "training.optimizer.schedule"


def test_a_plain_name_is_a_schedule_without_values_of_its_own():
    assert AdamWConfig(schedule="cosine").schedule == CosineScheduleConfig()
    assert load_recipe("gpt3_small").training.optimizer.schedule == CosineScheduleConfig()
    changed = load_recipe("gpt3_small", [f"{KEY}={{kind: warmup_stable_decay, decay_fraction: 0.2}}"])
    assert changed.training.optimizer.schedule.decay_fraction == 0.2
    assert load_recipe("gpt3_small", [f"{KEY}=warmup_stable_decay", f"{KEY}=constant"]).training


def test_an_unknown_schedule_is_told_with_the_nearest():
    with pytest.raises(RecipeError, match=r"schedule: kind: .*'cosin'; .*cosine"):
        load_recipe("bert_base", [f"{KEY}=cosin"])
    with pytest.raises(RecipeError, match=r"decay_fractoin: .*; .*decay_fraction"):
        load_recipe("bert_base", [f"{KEY}={{kind: warmup_stable_decay, decay_fractoin: 0.2}}"])


def test_an_exponential_decay_needs_an_end():
    decay = {"kind": "warmup_stable_decay", "shape": "exponential"}
    assert AdamWConfig(schedule=decay, final_fraction=0.01)
    with pytest.raises(ValueError, match=r"final_fraction: shape: exponential .*0"):
        AdamWConfig(schedule=decay)


def test_a_warmup_without_a_climb_is_not_warned_of():
    short = ["training.steps=100", "training.optimizer.warmup_steps=100"]
    assert any("warmup_steps" in line for line in notices(load_recipe("bert_base", short)))
    still = notices(load_recipe("bert_base", [*short, f"{KEY}=inverse_square_root"]))
    assert not any("warmup_steps" in line for line in still)
