"""Writes bert_hugging_face.npz: a tiny random BERT of Hugging Face's, its inputs and what it makes of them.

It runs in an environment of its own, so that the tests need no torch:

    python3.11 -m venv build/hugging-face
    build/hugging-face/bin/pip install torch==2.13.0 transformers
    build/hugging-face/bin/python tests/models/golden/make_bert_golden.py

The file keeps the versions it was made with under `made_with`.
"""

import json
import pathlib
import platform

import numpy as np
import torch
import transformers

OUTPUT = pathlib.Path(__file__).with_name("bert_hugging_face.npz")
LENGTHS = (12, 7, 9)
SHAPE = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 14,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}


def random_model() -> transformers.BertForPreTraining:
    """A model whose biases and norms are random too: fresh ones hide a mistaken copy."""
    torch.manual_seed(0)
    model = transformers.BertForPreTraining(transformers.BertConfig(**SHAPE)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            mean = 1.0 if "LayerNorm.weight" in name else 0.0
            parameter.copy_(torch.randn(parameter.shape) * 0.3 + mean)
    return model


def random_inputs() -> dict[str, np.ndarray]:
    """Three examples, two of them padded; -100 marks the positions that are not predicted."""
    generator = np.random.default_rng(0)
    shape = (len(LENGTHS), max(LENGTHS))
    attention_mask = (np.arange(shape[1]) < np.array(LENGTHS)[:, None]).astype("int64")
    predicted = (generator.random(shape) < 0.3) & (attention_mask == 1)
    return {
        "input_ids": generator.integers(1, SHAPE["vocab_size"], shape) * attention_mask,
        "token_type_ids": (np.arange(shape[1])[None] >= np.array([[5], [3], [4]])) * attention_mask,
        "attention_mask": attention_mask,
        "labels": np.where(predicted, generator.integers(1, SHAPE["vocab_size"], shape), -100),
        "next_sentence_label": np.array([0, 1, 1]),
    }


def main() -> None:
    model, inputs = random_model(), random_inputs()
    tensors = {name: torch.tensor(value) for name, value in inputs.items()}
    with torch.no_grad():
        both = model(**tensors, output_hidden_states=True)
        labels = tensors["labels"].reshape(-1)
        masked_lm_loss = torch.nn.functional.cross_entropy(
            both.prediction_logits.reshape(labels.shape[0], -1), labels, ignore_index=-100
        )
    made_with = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": "python tests/models/golden/make_bert_golden.py",
        "config": SHAPE,
    }
    np.savez_compressed(
        OUTPUT,
        made_with=json.dumps(made_with),
        hidden_states=both.hidden_states[-1].numpy(),
        prediction_logits=both.prediction_logits.numpy(),
        next_sentence_logits=both.seq_relationship_logits.numpy(),
        masked_lm_loss=masked_lm_loss.numpy(),
        next_sentence_loss=(both.loss - masked_lm_loss).numpy(),
        **{f"input/{name}": value for name, value in inputs.items()},
        # The decoder's weights are the word embeddings and the bias once more.
        **{
            f"weight/{name}": value.numpy()
            for name, value in model.state_dict().items()
            if ".decoder." not in name
        },
    )
    print(f"{OUTPUT}: {OUTPUT.stat().st_size} bytes, {json.dumps(made_with)}")


if __name__ == "__main__":
    main()
