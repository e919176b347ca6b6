"""Writes a small file for each family: a tiny random model of transformers, its inputs and its answers.

It runs in an environment of its own, so that the tests need no torch:

    python3.11 -m venv build/transformers
    build/transformers/bin/pip install torch==2.13.0 transformers==5.23.0
    build/transformers/bin/python tests/models/golden/make_transformers_golden.py [FAMILY ...]

A file holds `input/*`, `weight/*` (tied ones once), `hidden/*` (last hidden states), `loss/*` by the names
that losses have in recipes, and under `made_with` the versions and the configuration it was made with. A file
of a task holds `logits`, and `loss/after`, the loss after a step of plain descent.
"""

import argparse
import copy
import dataclasses
import json
import pathlib
import platform
from collections.abc import Callable

import numpy as np
import torch
import transformers
from torch.nn.functional import cross_entropy

FOLDER = pathlib.Path(__file__).parent
LENGTHS, TARGET_LENGTHS = (12, 7, 9), (6, 10, 4)
IGNORED = -100
VOCABULARY, MASK = 40, 1
# Large enough that a norm without it, or with another one, is seen.
EPSILON = 1e-3
# Of the step of tasks.
RATE = 0.01
# Most tokens of what is written.
WRITTEN = 9

Arrays = dict[str, np.ndarray]
Tensors = dict[str, torch.Tensor]


def padded(
    generator: np.random.Generator, lengths: tuple[int, ...], pad: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns random ids, none of them that of padding, and the mask of what is real."""
    shape = (len(lengths), max(lengths))
    real = np.arange(shape[1]) < np.array(lengths)[:, None]
    return np.where(real, generator.integers(2, VOCABULARY, shape), pad), real


def one_text(generator: np.random.Generator, pad: int) -> Arrays:
    ids, real = padded(generator, LENGTHS, pad)
    return {"input_ids": ids, "attention_mask": real.astype("int64")}


def masked_inputs(generator: np.random.Generator, pad: int = 0) -> Arrays:
    inputs = one_text(generator, pad)
    predicted = (generator.random(inputs["input_ids"].shape) < 0.3) & (inputs["attention_mask"] == 1)
    labels = generator.integers(2, VOCABULARY, predicted.shape)
    return {**inputs, "labels": np.where(predicted, labels, IGNORED)}


def pair_inputs(generator: np.random.Generator, label: str) -> Arrays:
    inputs = masked_inputs(generator)
    second = np.arange(max(LENGTHS)) >= np.array([[5], [3], [4]])
    return {**inputs, "token_type_ids": second * inputs["attention_mask"], label: np.array([0, 1, 1])}


def labelled_inputs(generator: np.random.Generator, labels: np.ndarray) -> Arrays:
    """Returns pairs, with the label of each."""
    inputs = pair_inputs(generator, "unused")
    read = {name: inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
    return {**read, "labels": labels}


def one_text_labelled(generator: np.random.Generator) -> Arrays:
    """Returns texts with a class each, for a decoder that reads the last token that is not padding."""
    return {**one_text(generator, pad=0), "labels": np.array([2, 0, 1])}


def ended_inputs(generator: np.random.Generator, pad: int, end: int) -> Arrays:
    """Returns texts with a class each, of which each has its end token once."""
    inputs = one_text(generator, pad)
    ids, real = np.maximum(inputs["input_ids"], end + 1), inputs["attention_mask"] == 1
    ids = np.where(np.arange(max(LENGTHS)) == np.array(LENGTHS)[:, None] - 1, end, ids)
    return {**inputs, "input_ids": np.where(real, ids, pad), "labels": np.array([2, 0, 1])}


def choice_inputs(generator: np.random.Generator) -> Arrays:
    """Returns three choices of each of two questions, with the place of the right one."""
    kept = ("input_ids", "attention_mask", "token_type_ids")
    questions = [pair_inputs(generator, "unused") for _ in range(2)]
    return {
        **{name: np.stack([each[name] for each in questions]) for name in kept},
        "labels": np.array([2, 0]),
    }


def text_inputs(generator: np.random.Generator, pad: int, begin: tuple[int, ...], end: int) -> Arrays:
    """Returns texts and the texts to write, all of which begin and end as the family's do."""

    def texts(lengths: tuple[int, ...], fill: int) -> np.ndarray:
        made = np.full((len(lengths), max(lengths)), fill)
        for row, length in enumerate(lengths):
            own = generator.integers(3, VOCABULARY, length - len(begin) - 1)
            made[row, :length] = [*begin, *own, end]
        return made

    ids = texts(LENGTHS, pad)
    real = np.arange(ids.shape[1]) < np.array(LENGTHS)[:, None]
    return {
        "input_ids": ids,
        "attention_mask": real.astype("int64"),
        "labels": texts(TARGET_LENGTHS, IGNORED),
    }


def tagged_inputs(generator: np.random.Generator) -> Arrays:
    """Returns texts of which some tokens have one of three tags."""
    inputs = masked_inputs(generator)
    return {**inputs, "labels": np.where(inputs["labels"] == IGNORED, IGNORED, inputs["labels"] % 3)}


def span_inputs(generator: np.random.Generator) -> Arrays:
    """Returns questions on texts, with the places of answers; the last has none: its first token."""
    inputs = labelled_inputs(generator, np.zeros(3))
    del inputs["labels"]
    return {**inputs, "start_positions": np.array([6, 4, 0]), "end_positions": np.array([8, 4, 0])}


def causal_inputs(generator: np.random.Generator) -> Arrays:
    inputs = one_text(generator, pad=0)
    return {**inputs, "labels": np.where(inputs["attention_mask"] == 1, inputs["input_ids"], IGNORED)}


def decoder_inputs(generator: np.random.Generator, pad: int) -> Arrays:
    ids, real = padded(generator, TARGET_LENGTHS, pad)
    labels = np.where(real, generator.integers(2, VOCABULARY, ids.shape), IGNORED)
    decoder = {"decoder_input_ids": ids, "decoder_attention_mask": real.astype("int64")}
    return {**one_text(generator, pad), **decoder, "labels": labels}


def last_states(model: transformers.PreTrainedModel, inputs: Tensors) -> Tensors:
    names = ("input_ids", "attention_mask", "token_type_ids")
    states = model.base_model(**{name: inputs[name] for name in names if name in inputs})
    return {"hidden/last": states.last_hidden_state}


def encoder_and_decoder(model: transformers.PreTrainedModel, inputs: Tensors) -> Tensors:
    answers = model(**inputs)
    encoded = answers.encoder_last_hidden_state
    decoded = model.get_decoder()(
        input_ids=inputs["decoder_input_ids"],
        attention_mask=inputs["decoder_attention_mask"],
        encoder_hidden_states=encoded,
        encoder_attention_mask=inputs["attention_mask"],
    )
    return {"hidden/encoder": encoded, "hidden/last": decoded.last_hidden_state, "loss/lm": answers.loss}


def single(name: str) -> Callable:
    """Returns what runs a model with one loss."""

    def run(model, inputs: Tensors) -> Tensors:
        return {**last_states(model, inputs), f"loss/{name}": model(**inputs).loss}

    return run


def fine_tuned(name: str) -> Callable:
    """Returns what runs a model of a task, and tells its loss before and after a step of plain descent."""

    def run(model, inputs: Tensors) -> Tensors:
        trained = copy.deepcopy(model)
        answers = model(**inputs)
        with torch.enable_grad():
            trained(**inputs).loss.backward()
        for parameter in trained.parameters():
            if parameter.grad is not None:
                parameter -= RATE * parameter.grad
        after = trained(**inputs).loss
        return {"logits": answers.logits, f"loss/{name}": answers.loss, "loss/after": after}

    return run


def writing(start: tuple[int, ...]) -> Callable:
    """Returns what runs a model that writes texts, and tells also what it writes greedily after a start."""

    def run(model, inputs: Tensors) -> Tensors:
        given = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        begun = torch.tensor([start] * len(inputs["input_ids"]))
        written = model.generate(
            **given, decoder_input_ids=begun, max_new_tokens=WRITTEN, do_sample=False, num_beams=1
        )
        return {**fine_tuned("lm")(model, inputs), "written": written[:, len(start) :]}

    return run


def run_spans(model, inputs: Tensors) -> Tensors:
    """The loss of each end; padding is no choice, as in our rows, while transformers lets it compete."""
    trained = copy.deepcopy(model)
    given = {name: inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")}

    def losses_of(asked) -> tuple[torch.Tensor, torch.Tensor, Tensors]:
        answers = asked(**given)
        logits = {"start": answers.start_logits, "end": answers.end_logits}
        hidden = inputs["attention_mask"] == 0
        losses = [
            cross_entropy(values.masked_fill(hidden, -1e9), inputs[f"{name}_positions"])
            for name, values in logits.items()
        ]
        return *losses, {f"logits/{name}": values for name, values in logits.items()}

    start, end, logits = losses_of(model)
    with torch.enable_grad():
        before = sum(losses_of(trained)[:2]) / 2
        before.backward()
    for parameter in trained.parameters():
        if parameter.grad is not None:
            parameter -= RATE * parameter.grad
    after = sum(losses_of(trained)[:2]) / 2
    # Without padding, it is the loss of transformers itself.
    alone = {name: value[:1] for name, value in inputs.items()}
    whole = {name: value[:, : LENGTHS[0]] if value.ndim == 2 else value for name, value in alone.items()}
    return {
        **logits,
        "loss/start": start,
        "loss/end": end,
        "loss/after": after,
        "loss/theirs": model(**whole).loss,
    }


def masked_and(name: str) -> Callable:
    """Returns what runs a model whose loss is that of masked tokens and that of a task on pairs."""

    def run(model, inputs: Tensors) -> Tensors:
        both = model(**inputs)
        logits = both.prediction_logits.flatten(0, 1)
        masked = cross_entropy(logits, inputs["labels"].flatten(), ignore_index=IGNORED)
        return {**last_states(model, inputs), "loss/mlm": masked, f"loss/{name}": both.loss - masked}

    return run


class Electra(torch.nn.Module):
    """A generator and a discriminator that share their embeddings, as the reference code trains them."""

    def __init__(self, config: transformers.ElectraConfig):
        super().__init__()
        self.discriminator = transformers.ElectraForPreTraining(config)
        quarter = {name: getattr(config, name) // 4 for name in ELECTRA_SHRINKS}
        smaller = transformers.ElectraConfig(**{**config.to_dict(), **quarter})
        self.generator = transformers.ElectraForMaskedLM(smaller)
        self.generator.electra.embeddings = self.discriminator.electra.embeddings
        self.generator.generator_lm_head.weight = self.discriminator.electra.embeddings.word_embeddings.weight


ELECTRA_SHRINKS = ("hidden_size", "intermediate_size", "num_attention_heads")


def electra_inputs(generator: np.random.Generator) -> Arrays:
    """Predicted tokens are hidden from the generator; some of those it proposes are the original ones."""
    inputs = pair_inputs(generator, "unused")
    original, predicted = inputs["input_ids"], inputs["labels"] != IGNORED
    proposed = predicted & (generator.random(original.shape) < 0.7)
    replaced = np.where(proposed, generator.integers(2, VOCABULARY, original.shape), original)
    return {
        "input_ids": np.where(predicted, MASK, original),
        "attention_mask": inputs["attention_mask"],
        "token_type_ids": inputs["token_type_ids"],
        "labels": np.where(predicted, original, IGNORED),
        "replaced_ids": replaced,
        "replaced_labels": (replaced != original).astype("int64"),
    }


def run_electra(model: Electra, inputs: Tensors) -> Tensors:
    replaced = {name: inputs[name] for name in ("attention_mask", "token_type_ids")}
    replaced["input_ids"] = inputs["replaced_ids"]
    masked = {**replaced, "input_ids": inputs["input_ids"]}
    return {
        "hidden/last": model.discriminator.electra(**replaced).last_hidden_state,
        "hidden/generator": model.generator.electra(**masked).last_hidden_state,
        "loss/rtd": model.discriminator(**replaced, labels=inputs["replaced_labels"]).loss,
        "loss/mlm": model.generator(**masked, labels=inputs["labels"]).loss,
    }


def permutation_inputs(generator: np.random.Generator) -> Arrays:
    """Context has the order 0 and sees itself; three tokens of each text follow in a random order."""
    inputs = one_text(generator, pad=0)
    shape = inputs["input_ids"].shape
    order, positions = np.zeros(shape, "int64"), np.zeros((len(LENGTHS), 3), "int64")
    for row, length in enumerate(LENGTHS):
        places = generator.permutation(length)[:3]
        positions[row], order[row, places] = np.sort(places), np.arange(3) + 1
    hides_itself = np.eye(shape[1], dtype=bool) & (order > 0)[:, :, None]
    return {
        **inputs,
        "token_type_ids": (np.arange(shape[1]) >= np.array([[5], [3], [4]])) * inputs["attention_mask"],
        "attention_order": order,
        "positions": positions,
        "perm_mask": ((order[:, None, :] > order[:, :, None]) | hides_itself).astype("float32"),
        "target_mapping": np.eye(shape[1], dtype="float32")[positions],
        "labels": generator.integers(2, VOCABULARY, positions.shape),
    }


def run_permutation(model: transformers.XLNetLMHeadModel, inputs: Tensors) -> Tensors:
    """`hidden/last` without an order; with it `hidden/content` and `hidden/query`, of both streams."""
    ours = ("attention_order", "positions")
    given = {name: value for name, value in inputs.items() if name not in ours}
    answers = model(**given, output_hidden_states=True, use_mems=False)
    content, query = answers.hidden_states[-2:]
    return {
        **last_states(model, inputs),
        "hidden/content": content,
        "hidden/query": query,
        "loss/lm": answers.loss,
    }


def untied_t5(config: transformers.T5Config) -> transformers.T5ForConditionalGeneration:
    """T5 1.1 has an output table of its own; transformers 5 ties the two whatever the configuration says."""
    model = transformers.T5ForConditionalGeneration(config)
    model.lm_head = torch.nn.Linear(config.d_model, config.vocab_size, bias=False)
    return model


@dataclasses.dataclass(frozen=True)
class Family:
    """How to make a model, what it reads, and what of its answers is kept."""

    model: Callable
    config: type[transformers.PretrainedConfig]
    settings: dict
    inputs: Callable[[np.random.Generator], Arrays]
    run: Callable


ENCODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 14,
    "type_vocab_size": 2,
    "layer_norm_eps": EPSILON,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "intermediate_size": 24,
    "rms_norm_eps": EPSILON,
    "tie_word_embeddings": False,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100.0},
    "pad_token_id": 0,
}
# Wavelengths 6, 20, 63 and 199: one is left alone, two lie between and one is slowed down in full.
LLAMA_3_1 = {
    **LLAMA,
    "head_dim": 8,
    "tie_word_embeddings": True,
    "rope_parameters": {
        "rope_type": "llama3",
        "rope_theta": 100.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
}
T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "d_kv": 6,
    "d_ff": 24,
    "num_layers": 2,
    "num_heads": 4,
    "layer_norm_epsilon": EPSILON,
    "dropout_rate": 0.0,
    # Two distances have a bucket of their own; 10 tokens apart share the last with all beyond.
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 9,
    "feed_forward_proj": "relu",
    "tie_word_embeddings": True,
    "decoder_start_token_id": 0,
}
BART = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 14,
    "activation_function": "gelu",
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
}
GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 4,
    "n_inner": 24,
    "n_positions": 14,
    "layer_norm_epsilon": EPSILON,
    "resid_pdrop": 0.0,
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
}
GPT = {key: value for key, value in GPT2.items() if key != "n_inner"}
# Its norms have the epsilon 1e-12, and there are no segments.
DISTILBERT = {
    "vocab_size": VOCABULARY,
    "dim": 16,
    "n_layers": 2,
    "n_heads": 4,
    "hidden_dim": 24,
    "max_position_embeddings": 14,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
# Two distances have a bucket of their own, and 8 tokens apart share the last with all beyond.
DEBERTA_V3 = {
    **ENCODER,
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 4,
    "max_relative_positions": 9,
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
}
XLNET = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "n_layer": 2,
    "n_head": 4,
    "d_inner": 24,
    "ff_activation": "gelu",
    "layer_norm_eps": EPSILON,
    "dropout": 0.0,
}

FAMILIES = {
    "bert": Family(
        transformers.BertForPreTraining,
        transformers.BertConfig,
        ENCODER,
        lambda generator: pair_inputs(generator, "next_sentence_label"),
        masked_and("nsp"),
    ),
    # Positions begin behind the id of padding, 1, and there is a single segment.
    "roberta": Family(
        transformers.RobertaForMaskedLM,
        transformers.RobertaConfig,
        {**ENCODER, "max_position_embeddings": 16, "type_vocab_size": 1, "pad_token_id": 1},
        lambda generator: masked_inputs(generator, pad=1),
        single("mlm"),
    ),
    "distilbert": Family(
        transformers.DistilBertForMaskedLM,
        transformers.DistilBertConfig,
        DISTILBERT,
        masked_inputs,
        single("mlm"),
    ),
    "albert": Family(
        transformers.AlbertForPreTraining,
        transformers.AlbertConfig,
        {**ENCODER, "embedding_size": 8, "hidden_act": "gelu_new"},
        lambda generator: pair_inputs(generator, "sentence_order_label"),
        masked_and("sop"),
    ),
    "electra": Family(
        Electra, transformers.ElectraConfig, {**ENCODER, "embedding_size": 8}, electra_inputs, run_electra
    ),
    "deberta": Family(
        transformers.DebertaV2ForMaskedLM,
        transformers.DebertaV2Config,
        DEBERTA_V3,
        masked_inputs,
        single("mlm"),
    ),
    "xlnet": Family(
        transformers.XLNetLMHeadModel, transformers.XLNetConfig, XLNET, permutation_inputs, run_permutation
    ),
    "gpt2": Family(transformers.GPT2LMHeadModel, transformers.GPT2Config, GPT2, causal_inputs, single("lm")),
    "gpt": Family(
        transformers.OpenAIGPTLMHeadModel, transformers.OpenAIGPTConfig, GPT, causal_inputs, single("lm")
    ),
    "llama": Family(
        transformers.LlamaForCausalLM, transformers.LlamaConfig, LLAMA, causal_inputs, single("lm")
    ),
    "llama_3_1": Family(
        transformers.LlamaForCausalLM, transformers.LlamaConfig, LLAMA_3_1, causal_inputs, single("lm")
    ),
    "t5": Family(
        transformers.T5ForConditionalGeneration,
        transformers.T5Config,
        T5,
        lambda generator: decoder_inputs(generator, pad=0),
        encoder_and_decoder,
    ),
    "t5_1_1": Family(
        untied_t5,
        transformers.T5Config,
        {**T5, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
        lambda generator: decoder_inputs(generator, pad=0),
        encoder_and_decoder,
    ),
    "t5_texts": Family(
        transformers.T5ForConditionalGeneration,
        transformers.T5Config,
        T5,
        lambda generator: text_inputs(generator, pad=0, begin=(), end=1),
        writing((0,)),
    ),
    "bart_texts": Family(
        transformers.BartForConditionalGeneration,
        transformers.BartConfig,
        {**BART, "forced_eos_token_id": None},
        lambda generator: text_inputs(generator, pad=1, begin=(0,), end=2),
        writing((2, 0)),
    ),
    "bert_tags": Family(
        transformers.BertForTokenClassification,
        transformers.BertConfig,
        {**ENCODER, "num_labels": 3},
        tagged_inputs,
        fine_tuned("tag"),
    ),
    "bert_spans": Family(
        transformers.BertForQuestionAnswering,
        transformers.BertConfig,
        ENCODER,
        span_inputs,
        run_spans,
    ),
    "bert_classes": Family(
        transformers.BertForSequenceClassification,
        transformers.BertConfig,
        {**ENCODER, "num_labels": 3, "problem_type": "single_label_classification"},
        lambda generator: labelled_inputs(generator, np.array([2, 0, 1])),
        fine_tuned("label"),
    ),
    "bert_numbers": Family(
        transformers.BertForSequenceClassification,
        transformers.BertConfig,
        {**ENCODER, "num_labels": 1, "problem_type": "regression"},
        lambda generator: labelled_inputs(generator, np.array([0.5, 4.0, 2.25], "float32")),
        fine_tuned("value"),
    ),
    "bert_choices": Family(
        transformers.BertForMultipleChoice,
        transformers.BertConfig,
        ENCODER,
        choice_inputs,
        fine_tuned("choice"),
    ),
    "gpt2_classes": Family(
        transformers.GPT2ForSequenceClassification,
        transformers.GPT2Config,
        {**GPT2, "num_labels": 3, "pad_token_id": 0},
        one_text_labelled,
        fine_tuned("label"),
    ),
    "llama_classes": Family(
        transformers.LlamaForSequenceClassification,
        transformers.LlamaConfig,
        {**LLAMA, "num_labels": 3},
        one_text_labelled,
        fine_tuned("label"),
    ),
    # Its decoder reads the text after the end token, and without the last one.
    "bart_classes": Family(
        transformers.BartForSequenceClassification,
        transformers.BartConfig,
        {**BART, "num_labels": 3, "problem_type": "single_label_classification"},
        lambda generator: ended_inputs(generator, pad=1, end=2),
        fine_tuned("label"),
    ),
    # Its `final_logits_bias` is a buffer of zeros that is never trained, and so no weight here.
    "bart": Family(
        transformers.BartForConditionalGeneration,
        transformers.BartConfig,
        BART,
        lambda generator: decoder_inputs(generator, pad=1),
        encoder_and_decoder,
    ),
}


def randomise(model: torch.nn.Module) -> None:
    """Makes biases and norms random too: fresh ones hide a mistaken copy."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_scale = name.endswith("weight") and any(part in name.lower() for part in ("norm", ".ln_"))
            parameter.copy_(torch.randn(parameter.shape) * 0.3 + is_scale)


def make(name: str, family: Family) -> None:
    model = family.model(family.config(**family.settings)).eval()
    randomise(model)
    inputs = family.inputs(np.random.default_rng(0))
    with torch.no_grad():
        answers = family.run(model, {key: torch.tensor(value) for key, value in inputs.items()})
    made_with = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": f"python tests/models/golden/make_transformers_golden.py {name}",
        "model": family.model.__name__,
        "config": family.settings,
    }
    output = FOLDER / f"{name}.npz"
    np.savez_compressed(
        output,
        made_with=json.dumps(made_with),
        **{f"input/{key}": value for key, value in inputs.items()},
        **{key: value.numpy() for key, value in answers.items()},
        **{f"weight/{key}": value.detach().numpy() for key, value in model.named_parameters()},
    )
    losses = {key: round(float(value), 3) for key, value in answers.items() if key.startswith("loss/")}
    print(f"{output}: {output.stat().st_size} bytes, {losses}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}; all if none"
    )
    for name in parser.parse_args().families or FAMILIES:
        make(name, FAMILIES[name])


if __name__ == "__main__":
    main()
