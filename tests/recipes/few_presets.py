"""A few presets, of models, objectives and tokenizers that differ in kind."""

FEW_PRESETS = (
    "bart_tiny",
    "bert_tiny",
    "deberta_v3_tiny",
    "electra_tiny",
    "elmo_tiny",
    "gpt2_tiny",
    "llama_3_1_8b",
    "modernbert_tiny",
    "prefix_lm_tiny",
    "t5_ablation_shared_denoising",
    "t5_ssm_3b",
    "unilm_base",
    "xlnet_tiny",
)
