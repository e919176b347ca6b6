"""Values that papers and releases name, and that presets take from the defaults of a type."""

import functools

import pytest

from firth.recipes import load_recipe, preset_names

BERT = "optimization.py and modeling.py of google-research/bert"
ELECTRA = "configure_pretraining.py and pretrain_helpers.py of google-research/electra"
ELMO = "the published options of the 4096-cell model"
# Beginning of the presets' names, key, value, and its reference.
SAID = [
    ("bert_", "model.feed_forward.activation", "gelu", "Devlin et al. 2018, section A.2"),
    ("bert_", "model.feed_forward.width", None, "four times the width, section 3"),
    ("bert_", "model.norm.kind", "layer_norm", BERT),
    ("bert_", "model.norm.placement", "post", BERT),
    ("bert_", "model.norm.epsilon", 1e-12, BERT),
    ("bert_", "model.initializer_stddev", 0.02, BERT),
    ("bert_", "model.biases", True, BERT),
    ("bert_", "objective.random_next_rate", 0.5, "section 3.1, task 2"),
    ("bert_", "objective.whole_word", False, "section 3.1, task 1: pieces; whole words came in 2019"),
    ("bert_", "training.optimizer.schedule.kind", "linear", "section A.2"),
    ("bert_", "training.optimizer.final_fraction", 0.0, BERT),
    ("bert_", "training.optimizer.epsilon", 1e-6, BERT),
    ("roberta_", "training.optimizer.epsilon", 1e-6, "Liu et al. 2019, table 9"),
    ("roberta_", "training.optimizer.beta_1", 0.9, "table 9"),
    ("roberta_", "training.optimizer.schedule.kind", "linear", "table 9"),
    ("spanbert_", "training.optimizer.schedule.kind", "linear", "polynomial_decay of its fairseq"),
    ("spanbert_", "training.optimizer.gradient_clip_norm", 1.0, "--clip-norm of the same"),
    ("albert_", "model.share_layers.blocks", 1, "Lan et al. 2019, section 3.1: one block for all layers"),
    ("albert_", "objective.swap_rate", 0.5, "section 3.1"),
    ("albert_", "tokenizer.model", "unigram", "the README of google-research/albert"),
    ("electra_", "objective.mask_token_rate", 0.85, ELECTRA),
    ("electra_", "objective.random_token_rate", 0.0, ELECTRA),
    ("electra_", "objective.generator_layers_fraction", 1.0, ELECTRA),
    ("electra_", "objective.temperature", 1.0, ELECTRA),
    ("electra_", "training.optimizer.epsilon", 1e-6, "Clark et al. 2020, table 6"),
    ("electra_", "training.optimizer.beta_2", 0.999, "table 6"),
    ("electra_", "training.optimizer.schedule.kind", "linear", "table 6"),
    ("deberta_v3_", "objective.mask_token_rate", 1.0, "rtd_task.py of microsoft/DeBERTa: mask_prob = 1"),
    ("deberta_v3_", "objective.random_token_rate", 0.0, "the same"),
    ("deberta_v3_", "objective.temperature", 1.0, "the same"),
    ("deberta_v3_", "model.feed_forward.activation", "gelu", "rtd_base.json of the same"),
    ("deberta_v3_", "model.initializer_stddev", 0.02, "rtd_base.json of the same"),
    ("deberta_v3_", "training.optimizer.epsilon", 1e-6, "optims/args.py of the same"),
    ("xlnet_", "objective.predicted_fraction", 1 / 6, "Yang et al. 2019, section 3.1: K = 6"),
    ("xlnet_", "model.feed_forward.activation", "gelu", "the released xlnet_config.json"),
    ("xlnet_", "model.norm_epsilon", 1e-12, "modeling.py of zihangdai/xlnet"),
    ("xlnet_", "training.optimizer.schedule.kind", "linear", "section A.4.1"),
    ("unilm_", "objective.bidirectional_rate", 1 / 3, "Dong et al. 2019, section 2.3"),
    ("unilm_", "objective.sequence_to_sequence_rate", 1 / 3, "section 2.3"),
    ("unilm_", "objective.left_to_right_rate", 1 / 6, "section 2.3"),
    ("unilm_", "objective.right_to_left_rate", 1 / 6, "section 2.3"),
    ("unilm_", "training.optimizer.schedule.kind", "linear", "section 2.6"),
    ("gpt_1", "model.initializer_stddev", 0.02, "Radford et al. 2018, section 4.1"),
    ("gpt_1", "model.tied_output", True, "section 3.1: the same matrix twice"),
    ("gpt_1", "training.optimizer.final_fraction", 0.0, "section 4.1: annealed to 0"),
    ("gpt2_", "model.tied_output", True, "model.py of openai/gpt-2"),
    ("gpt2_", "model.initializer_stddev", 0.02, "model.py of openai/gpt-2"),
    ("gpt3_", "training.optimizer.beta_1", 0.9, "Brown et al. 2020, appendix B"),
    ("gpt3_", "training.optimizer.gradient_clip_norm", 1.0, "appendix B"),
    ("llama_", "training.optimizer.beta_1", 0.9, "Touvron et al. 2023, section 2.3"),
    ("llama_", "training.optimizer.gradient_clip_norm", 1.0, "section 2.3"),
    ("t5_", "training.optimizer.beta_2_decay", -0.8, "adafactor_decay_rate_pow of tensorflow/mesh"),
    ("t5_", "training.optimizer.clip_threshold", 1.0, "AdafactorOptimizer of tensorflow/mesh"),
    ("t5_", "training.optimizer.gradient_clip_norm", None, "AdafactorOptimizer of tensorflow/mesh"),
    (
        "t5_",
        "tokenizer.model",
        "unigram",
        "the released sentencepiece.model",
    ),
    ("t5_", "tokenizer.lowercase", False, "the released sentencepiece.model"),
    (
        "bart_",
        "objective.delete_rate",
        0.0,
        "Lewis et al. 2019, section 5.1: infilling and order",
    ),
    ("bart_", "objective.mask_rate", 0.0, "section 5.1"),
    ("bart_", "objective.rotate", 0.0, "section 5.1"),
    (
        "bart_",
        "model.tied_output",
        True,
        "the released weights",
    ),
    ("bart_", "model.initializer_stddev", 0.02, "section 2.1: N(0, 0.02)"),
    ("elmo_original", "model.characters.width", 16, ELMO),
    ("elmo_original", "model.characters.max_characters", 50, ELMO),
    (
        "elmo_original",
        "model.characters.filters",
        ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)),
        ELMO,
    ),
    ("elmo_original", "model.characters.highway_layers", 2, ELMO),
    ("elmo_original", "model.characters.activation", "relu", ELMO),
    ("elmo_original", "training.optimizer.warmup_steps", 0, "training.py of allenai/bilm-tf"),
]


@pytest.mark.parametrize(("family", "key", "value", "where"), SAID, ids=lambda given: str(given)[:40])
def test_the_presets_have_it(family, key, value, where):
    names = [name for name in preset_names() if name.startswith(family) and not name.endswith("_tiny")]
    assert names
    for name in names:
        assert functools.reduce(getattr, key.split("."), load_recipe(name)) == value, (name, where)
