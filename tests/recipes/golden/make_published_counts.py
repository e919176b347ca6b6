"""Counts the parameters of published configurations with transformers and torch, and no firth.

Models are built on torch's meta device, which holds no numbers: nothing is downloaded, and 405B parameters
count in a second. The configurations are those of the released checkpoints. Its environment is its own:

    pip install torch transformers
    python tests/recipes/golden/make_published_counts.py

writes tests/recipes/golden/published_counts.json next to it, with the versions that made it.
"""

import json
import pathlib
import platform

import torch
import transformers
from torch import nn

OUTPUT = pathlib.Path(__file__).with_name("published_counts.json")


def count(model) -> int:
    """Parameters, those that are shared counted once."""
    return sum(parameter.numel() for parameter in model.parameters())


def bert(layers, width, heads, vocabulary=30522, segments=2, kind="Bert", **more):
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        type_vocab_size=segments,
        **more,
    )
    return count(getattr(transformers, f"{kind}Model")(config))


def bert_miniature(layers, width):
    """With the heads of pre-training, as the miniatures' figures count them."""
    config = transformers.BertConfig(
        hidden_size=width, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=4 * width
    )
    return count(transformers.BertForPreTraining(config))


def roberta(layers, width, heads):
    return bert(layers, width, heads, 50265, segments=1, kind="Roberta", max_position_embeddings=514)


def electra(layers, width, heads, embeddings):
    return bert(layers, width, heads, kind="Electra", embedding_size=embeddings)


def deberta_v3(layers, width, heads):
    return bert(
        layers,
        width,
        heads,
        128100,
        segments=0,
        kind="DebertaV2",
        relative_attention=True,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
    )


def xlnet(layers, width, heads):
    config = transformers.XLNetConfig(
        vocab_size=32000, d_model=width, n_layer=layers, n_head=heads, d_inner=4 * width
    )
    return count(transformers.XLNetModel(config))


def gpt(layers, width, heads, positions=1024):
    config = transformers.GPT2Config(
        vocab_size=50257, n_embd=width, n_layer=layers, n_head=heads, n_positions=positions
    )
    return count(transformers.GPT2Model(config))


def llama(layers, width, heads, inner, vocabulary=32000, groups=None, tied=False):
    config = transformers.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=groups or heads,
        intermediate_size=inner,
        tie_word_embeddings=tied,
    )
    return count(transformers.LlamaForCausalLM(config))


def qwen_3(width, inner):
    config = transformers.Qwen3Config(
        hidden_size=width,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        intermediate_size=inner,
        tie_word_embeddings=True,
    )
    return count(transformers.Qwen3ForCausalLM(config))


def modernbert(layers, width, heads, inner):
    config = transformers.ModernBertConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
    )
    return count(transformers.ModernBertModel(config))


def t5_config(layers, width, heads, inner, head_width=64, gated=False):
    return transformers.T5Config(
        vocab_size=32128,
        d_model=width,
        d_kv=head_width,
        d_ff=inner,
        num_layers=layers,
        num_heads=heads,
        feed_forward_proj="gated-gelu" if gated else "relu",
    )


def t5(*shape, head_width=64):
    return count(transformers.T5Model(t5_config(*shape, head_width)))


def t5_1_1(layers, width, heads, inner):
    output = nn.Linear(width, 32128, bias=False)
    return count(transformers.T5Model(t5_config(layers, width, heads, inner, gated=True))) + count(output)


def t5_stack(*shape):
    """One stack of T5's blocks, which is what its encoder and a decoder without encoder both are."""
    return count(transformers.T5EncoderModel(t5_config(*shape)))


def t5_shared(*shape):
    """An encoder-decoder whose encoder has no weights but the decoder's."""
    model = transformers.T5Model(t5_config(*shape))
    return count(model) - count(model.encoder) + count(model.shared)


def bart(layers, width, heads):
    config = transformers.BartConfig(
        vocab_size=50265,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        max_position_embeddings=1024,
    )
    return count(transformers.BartModel(config))


def elmo(cells, width, highways):
    """From the published options: transformers has no ELMo. The 262 characters of the released weights."""
    filters = [(1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)]
    made = sum(number for _, number in filters)
    parts = [nn.Embedding(262, 16), nn.Linear(made, width)]
    parts += [nn.Conv1d(16, number, span) for span, number in filters]
    parts += [nn.Linear(made, 2 * made) for _ in range(highways)]
    for _ in range(2 * 2):  # Layers and directions. torch's LSTM has two biases, the published one has one.
        parts += [nn.Linear(2 * width, 4 * cells), nn.Linear(cells, width, bias=False)]
    return sum(map(count, parts))


def counts() -> dict[str, int]:
    """The published counts by preset."""
    return {
        "elmo_small": elmo(1024, 128, 1),
        "elmo_original": elmo(4096, 512, 2),
        "bert_tiny": bert_miniature(2, 128),
        "bert_mini": bert_miniature(4, 256),
        "bert_small": bert_miniature(4, 512),
        "bert_medium": bert_miniature(8, 512),
        "bert_base": bert(12, 768, 12),
        "bert_large": bert(24, 1024, 16),
        "roberta_base": roberta(12, 768, 12),
        "roberta_large": roberta(24, 1024, 16),
        "spanbert_base": bert(12, 768, 12, 28996),
        "spanbert_large": bert(24, 1024, 16, 28996),
        "albert_base": bert(12, 768, 12, 30000, kind="Albert"),
        "albert_large": bert(24, 1024, 16, 30000, kind="Albert"),
        "albert_xlarge": bert(24, 2048, 16, 30000, kind="Albert"),
        "albert_xxlarge": bert(12, 4096, 64, 30000, kind="Albert"),
        "electra_small": electra(12, 256, 4, 128),
        "electra_base": electra(12, 768, 12, 768),
        "electra_large": electra(24, 1024, 16, 1024),
        "electra_large_1_75m": electra(24, 1024, 16, 1024),
        "deberta_v3_xsmall": deberta_v3(12, 384, 6),
        "deberta_v3_small": deberta_v3(6, 768, 12),
        "deberta_v3_base": deberta_v3(12, 768, 12),
        "deberta_v3_large": deberta_v3(24, 1024, 16),
        "modernbert_base": modernbert(22, 768, 12, 1152),
        "modernbert_large": modernbert(28, 1024, 16, 2624),
        "xlnet_base": xlnet(12, 768, 12),
        "xlnet_large": xlnet(24, 1024, 16),
        "gpt_1": count(transformers.OpenAIGPTModel(transformers.OpenAIGPTConfig())),
        "gpt2_small": gpt(12, 768, 12),
        "gpt2_medium": gpt(24, 1024, 16),
        "gpt2_large": gpt(36, 1280, 20),
        "gpt2_xl": gpt(48, 1600, 25),
        "gpt3_small": gpt(12, 768, 12, 2048),
        "gpt3_medium": gpt(24, 1024, 16, 2048),
        "gpt3_large": gpt(24, 1536, 16, 2048),
        "gpt3_xl": gpt(24, 2048, 16, 2048),
        "gpt3_2_7b": gpt(32, 2560, 32, 2048),
        "gpt3_6_7b": gpt(32, 4096, 32, 2048),
        "gpt3_13b": gpt(40, 5120, 40, 2048),
        "gpt3_175b": gpt(96, 12288, 96, 2048),
        "llama_1_7b": llama(32, 4096, 32, 11008),
        "llama_1_13b": llama(40, 5120, 40, 13824),
        "llama_1_33b": llama(60, 6656, 52, 17920),
        "llama_1_65b": llama(80, 8192, 64, 22016),
        "llama_2_7b": llama(32, 4096, 32, 11008),
        "llama_2_13b": llama(40, 5120, 40, 13824),
        "llama_2_34b": llama(48, 8192, 64, 22016, groups=8),
        "llama_2_70b": llama(80, 8192, 64, 28672, groups=8),
        "llama_3_1_8b": llama(32, 4096, 32, 14336, 128256, 8),
        "llama_3_1_70b": llama(80, 8192, 64, 28672, 128256, 8),
        "llama_3_1_405b": llama(126, 16384, 128, 53248, 128256, 8),
        "llama_3_2_1b": llama(16, 2048, 32, 8192, 128256, 8, tied=True),
        "llama_3_2_3b": llama(28, 3072, 24, 8192, 128256, 8, tied=True),
        "qwen_3_0_6b": qwen_3(1024, 3072),
        "qwen_3_1_7b": qwen_3(2048, 6144),
        "prefix_lm_small": t5_stack(6, 512, 8, 2048),
        "prefix_lm_base": t5_stack(12, 768, 12, 3072),
        "unilm_base": bert(12, 768, 12, 28996),
        "unilm_large": bert(24, 1024, 16, 28996),
        "t5_small": t5(6, 512, 8, 2048),
        "t5_base": t5(12, 768, 12, 3072),
        "t5_large": t5(24, 1024, 16, 4096),
        "t5_3b": t5(24, 1024, 32, 16384, head_width=128),
        "t5_11b": t5(24, 1024, 128, 65536, head_width=128),
        "t5_ssm_3b": t5(24, 1024, 32, 16384, head_width=128),
        "t5_ssm_11b": t5(24, 1024, 128, 65536, head_width=128),
        "t5_1_1_ssm_small": t5_1_1(8, 512, 6, 1024),
        "t5_1_1_ssm_large": t5_1_1(24, 1024, 16, 2816),
        "t5_1_1_ssm_xl": t5_1_1(24, 2048, 32, 5120),
        "t5_1_1_ssm_xxl": t5_1_1(24, 4096, 64, 10240),
        "t5_1_1_small": t5_1_1(8, 512, 6, 1024),
        "t5_1_1_base": t5_1_1(12, 768, 12, 2048),
        "t5_1_1_large": t5_1_1(24, 1024, 16, 2816),
        "t5_1_1_xl": t5_1_1(24, 2048, 32, 5120),
        "t5_1_1_xxl": t5_1_1(24, 4096, 64, 10240),
        **{
            f"t5_ablation_{architecture}_{objective}": number
            for architecture, number in {
                "encoder_decoder": t5(12, 768, 12, 3072),
                "shared": t5_shared(12, 768, 12, 3072),
                "six_layers": t5(6, 768, 12, 3072),
                "language_model": t5_stack(12, 768, 12, 3072),
                "prefix_lm": t5_stack(12, 768, 12, 3072),
            }.items()
            for objective in ("denoising", "lm")
        },
        "bart_base": bart(6, 768, 12),
        "bart_large": bart(12, 1024, 16),
    }


def main() -> None:
    """Writes the file."""
    with torch.device("meta"):
        made = counts()
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    OUTPUT.write_text(json.dumps({"versions": versions, "counts": made}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
