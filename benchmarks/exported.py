"""Models that were exported, next to the same model in TensorFlow: sizes, seconds of the export, latencies.

    python -m benchmarks.exported                                  # bert_tiny and gpt2_tiny
    python -m benchmarks.exported bert_mini --rounds 50 --json figures.json

Random weights, rows of 128 ids without padding in batches of 1 and of 32, each library on two threads.
Encoders make hidden states, in onnxruntime logits too, since their file has them; decoders make logits.
`tensorflow` is the traced function of a SavedModel, after its tokenizer. Libraries take turns in each
round, and figures are medians.
"""

import argparse
import json
import pathlib
import statistics
import string
import tempfile
import time

import numpy as np

THREADS, LENGTH, BATCHES = 2, 128, (1, 32)


def write_bundle(name, root):
    """Writes a bundle of random weights, and returns its model and its folder."""
    from firth.models import build_model, save_model
    from firth.recipes import load_recipe
    from firth.tokenizers import WordPieceTokenizer, save_tokenizer

    recipe = load_recipe(name, ["training.precision=float32"])
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.ascii_lowercase]
    save_tokenizer(WordPieceTokenizer(pieces), f"{root}/tokenizer")
    model = build_model(recipe)
    save_model(model, recipe, f"{root}/tokenizer", f"{root}/bundle")
    return model, f"{root}/bundle"


def export(bundle, root):
    """Returns the seconds and the megabytes of the export to each format, by its name."""
    from firth.interop.formats import FORMATS

    figures = {}
    for name in ("onnx", "ctranslate2"):
        begin = time.perf_counter()
        FORMATS[name].export_model(bundle, f"{root}/{name}")
        seconds = time.perf_counter() - begin
        files = [*pathlib.Path(root, name).glob("*.onnx"), *pathlib.Path(root, name).glob("model.bin")]
        figures[name] = {
            "seconds": seconds,
            "megabytes": {each.name: each.stat().st_size / 1e6 for each in files},
        }
    return figures


def runners(model, root):
    """Returns the function of each library on ids, int32 [batch, LENGTH], by its name."""
    import ctranslate2
    import onnxruntime
    import tensorflow as tf

    is_decoder = not model.backbone.config.has_encoder
    file = pathlib.Path(root, "onnx", "decoder.onnx" if is_decoder else "encoder.onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    session = onnxruntime.InferenceSession(str(file), options)
    inputs = {each.name for each in session.get_inputs()}
    kind = ctranslate2.Generator if is_decoder else ctranslate2.Encoder
    there = kind(f"{root}/ctranslate2", intra_threads=THREADS)

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)], autograph=False)
    def function(ids):
        places = tf.broadcast_to(tf.range(tf.shape(ids)[1])[tf.newaxis], tf.shape(ids))
        ones, zeros = tf.ones_like(ids), tf.zeros_like(ids)
        features = {"token_ids": ids, "position_ids": places, "document_ids": ones, "segment_ids": zeros}
        return model.logits(features)["lm"] if is_decoder else model.backbone(features)

    def run_onnx(ids):
        given = {"token_ids": ids, "attention_mask": np.ones_like(ids), "segment_ids": np.zeros_like(ids)}
        outputs = ["lm_logits"] if is_decoder else ["last_hidden_state"]
        return session.run(outputs, {name: given[name] for name in inputs})[0]

    def run_there(ids):
        made = there.forward_batch(ids.tolist())
        return np.asarray(made if is_decoder else made.last_hidden_state)

    return {
        "tensorflow": lambda ids: function(ids).numpy(),
        "onnxruntime": run_onnx,
        "ctranslate2": run_there,
    }


def measure(model, root, rounds):
    """Returns the median milliseconds of each library, by the batch's rows."""
    ways, figures = runners(model, root), {}
    for batch in BATCHES:
        ids = np.random.default_rng(0).integers(5, 31, (batch, LENGTH)).astype("int32")
        times = {name: [] for name in ways}
        expected = ways["tensorflow"](ids)
        for name, way in ways.items():
            np.testing.assert_allclose(way(ids), expected, rtol=0, atol=1e-3, err_msg=name)
        for _ in range(rounds):
            for name, way in ways.items():
                begin = time.perf_counter()
                way(ids)
                times[name].append(1e3 * (time.perf_counter() - begin))
        figures[batch] = {name: statistics.median(each) for name, each in times.items()}
    return figures


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("presets", nargs="*", default=["bert_tiny", "gpt2_tiny"], help="of BERT or GPT-2")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    figures = {}
    for name in arguments.presets:
        with tempfile.TemporaryDirectory() as root:
            model, bundle = write_bundle(name, root)
            figures[name] = {
                "export": export(bundle, root),
                "milliseconds": measure(model, root, arguments.rounds),
            }
        for said, each in figures[name]["export"].items():
            sizes = ", ".join(f"{file} {size:.1f} MB" for file, size in sorted(each["megabytes"].items()))
            print(f"{name} to {said}: {each['seconds']:.1f} s; {sizes}")
        for batch, each in figures[name]["milliseconds"].items():
            row = ", ".join(f"{library} {value:.1f} ms" for library, value in each.items())
            print(f"{name}, batch {batch}: {row}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
