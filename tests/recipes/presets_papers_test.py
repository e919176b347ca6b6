"""Presets have the settings of their papers' released code."""

import pytest

from firth.recipes import load_recipe

SAID = [
    # preset, part, setting, value, reference
    ("bert_base", "sequences", "short_seq_prob", 0.1, "create_pretraining_data.py of google-research/bert"),
    ("bert_tiny", "sequences", "short_seq_prob", 0.1, "create_pretraining_data.py of google-research/bert"),
    ("bert_large", "objective", "masking_copies", 10, "dupe_factor of google-research/bert"),
    ("albert_xlarge", "objective", "masking_copies", 40, "dupe_factor of google-research/albert"),
    (
        "albert_base",
        "sequences",
        "short_seq_prob",
        0.1,
        "create_pretraining_data.py of google-research/albert",
    ),
    ("roberta_large", "objective", "masking_copies", 0, "dynamic masking, section 4.1"),
    ("roberta_large", "sequences", "short_seq_prob", 0.0, "full sentences, section 4.2"),
    ("spanbert_large", "sequences", "short_seq_prob", 0.0, "the command of facebookresearch/SpanBERT"),
    ("spanbert_large", "objective", "boundary_places", 15, "--max-pair-targets of the same"),
    ("electra_small", "sequences", "short_seq_prob", 0.05, "build_pretraining_dataset.py"),
    ("unilm_large", "objective", "single_segments", True, "section 2.1"),
    ("unilm_large", "objective", "next_sentence", True, "section 2.3"),
    ("t5_11b", "objective", "random_roll", False, "span.gin of text-to-text-transfer-transformer"),
    ("t5_1_1_xxl", "objective", "random_roll", False, "span.gin of text-to-text-transfer-transformer"),
    ("t5_ssm_11b", "training", "steps", 100_000, "README of t5_closed_book_qa"),
]


@pytest.mark.parametrize(("preset", "part", "setting", "value", "where"), SAID)
def test_the_preset_says_so(preset, part, setting, value, where):
    assert getattr(getattr(load_recipe(preset), part), setting) == value, where
