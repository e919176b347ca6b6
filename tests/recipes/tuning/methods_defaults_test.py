"""Defaults of each method: the figures of its paper, or of peft where it has none."""

import pytest

from firth.recipes.tuning.methods import method_types

PAPERS = {
    # Hu et al. 2021, section 5.1 and appendix D.2, table 9: RoBERTa, alpha of the large one.
    "lora": {
        "targets": ("*attention/query", "*attention/value"),
        "rank": 8,
        "alpha": 16.0,
        "rank_stabilised": False,
        "learning_rate": 5e-4,
    },
    # Zhang et al. 2023, section 4 for the targets and appendix D for the rate; peft for ranks and alpha.
    "adalora": {
        "targets": (
            "*attention/query",
            "*attention/key",
            "*attention/value",
            "*attention/output",
            "feed_forward/*",
        ),
        "initial_rank": 12,
        "target_rank": 8,
        "alpha": 8.0,
        "smoothing": 0.85,
        "uncertainty_smoothing": 0.85,
        "orthogonality": 0.5,
        "learning_rate": 1e-3,
    },
    # Liu et al. 2022, sections 3.3 and 3.5.
    "ia3": {
        "targets": ("*attention/key", "*attention/value"),
        "input_targets": ("feed_forward/outer",),
        "learning_rate": 3e-3,
    },
    # Hyeon-Woo et al. 2022 has no adapters: peft's figures, and LoRA's rate.
    "loha": {"rank": 8, "alpha": 8.0, "learning_rate": 5e-4},
    # Houlsby et al. 2019, sections 2.1 and 3.1.
    "houlsby": {"bottleneck": 64, "activation": "gelu", "norms": True, "learning_rate": 3e-4},
    # Pfeiffer et al. 2021, section 4.2 and appendix A.
    "pfeiffer": {"reduction_factor": 16.0, "activation": "relu", "norms": False, "learning_rate": 1e-4},
    # Li and Liang 2021, section 7.2 and appendix A; the rate is that of benchmarks/figures/methods.json.
    "prefix_tuning": {"length": 10, "reparameterised": True, "hidden": 512, "learning_rate": 1e-3},
    # Liu et al. 2022, P-Tuning v2, and the authors' scripts.
    "p_tuning_v2": {"learning_rate": 5e-3},
    # Liu et al. 2021, section 2.2: an LSTM; peft's length and rate.
    "p_tuning": {"length": 20, "encoder": "lstm", "learning_rate": 1e-3},
    # Lester et al. 2021, section 3.2: 20 of the first 5,000 pieces do; AdamW's rate is peft's.
    "prompt_tuning": {"length": 20, "start": "vocabulary", "learning_rate": 3e-2},
    # Wang et al. 2023, section 3.1: rank 1; length and rate of prompt tuning.
    "multitask_prompt_tuning": {"length": 20, "rank": 1, "tasks": 1, "learning_rate": 3e-2},
}


@pytest.mark.parametrize("name", PAPERS)
def test_a_method_that_is_named_alone_has_the_figures_of_its_paper(name):
    method = method_types()[name]()
    assert {key: getattr(method, key) for key in PAPERS[name]} == PAPERS[name]


def test_every_method_that_adds_something_is_in_the_table():
    assert PAPERS.keys() == {name for name, each in method_types().items() if each.adds}
