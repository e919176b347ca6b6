"""Writes logits of the heads of fine-tuned tasks that the code of ELECTRA and XLNet makes, on random weights.

The classes of tasks, the losses and the layers are those of the papers' code, run as `make_originals_golden`
runs it, with the same packages and folders:

    TF_USE_LEGACY_KERAS=1 python -m tests.interop.tensorflow.golden.make_heads_golden FOLDER

RACE's head is inside a function that reads flags, so its one layer is written here.
"""

import argparse
import json
import pathlib
import sys
import types

import numpy as np
import tensorflow

from tests.interop.tensorflow.golden import make_originals_golden as originals

tf = tensorflow.compat.v1
CLASSES = 3
POSITIONS = np.tile(np.arange(originals.LENGTH, dtype="int32"), (2, 1))


class _Unread(types.ModuleType):
    """A module of the papers' code that the heads do not use, with its modules and classes."""

    def __getattr__(self, name):
        return _Unread(name) if name.islower() else object


def _task(task_class, **values):
    """Returns a task of ELECTRA's code without its data."""
    made = object.__new__(task_class)
    vars(made).update(values)
    return made


def make_electra(folder: pathlib.Path) -> dict[str, np.ndarray]:
    """Returns the weights and logits of ELECTRA's tasks, each in its scope."""
    modeling = originals.load(folder / "model" / "modeling.py")
    names = ("configure_finetuning", "configure_pretraining", "finetune", "model", "pretrain", "util")
    unread = {name: _Unread(name) for name in names}
    unread["model"].modeling = modeling
    sys.modules.update(unread)
    helpers = originals.load(folder / "pretrain" / "pretrain_helpers.py")
    unread["pretrain"].pretrain_helpers = helpers
    for kind in ("classification", "qa", "tagging"):
        sys.modules[f"finetune.{kind}"] = _Unread(kind)
    places = folder / "finetune"
    texts = originals.load(places / "classification" / "classification_tasks.py")
    answers = originals.load(places / "qa" / "qa_tasks.py")
    tags = originals.load(places / "tagging" / "tagging_tasks.py")
    plain = types.SimpleNamespace(beam_size=2, joint_prediction=False, answerable_classifier=False)
    by_default = types.SimpleNamespace(
        beam_size=2,
        joint_prediction=True,
        answerable_classifier=True,
        answerable_uses_start_logits=True,
        answerable_weight=0.5,
    )
    tasks = {
        "mnli": _task(texts.MNLI, name="mnli", _label_list=["a", "b", "c"]),
        "sts": _task(texts.STS, name="sts"),
        "chunk": _task(tags.Chunking, name="chunk", _label_mapping={"a": 0, "b": 1, "c": 2}),
        "squadv1": _task(answers.SQuADv1, name="squadv1", config=plain),
        "squad": _task(answers.SQuAD, name="squad", config=by_default),
    }
    config = modeling.BertConfig.from_dict(originals.BERT)

    def build(ids, mask, segments):
        model = modeling.BertModel(config, False, ids, mask, segments, embedding_size=8, scope="electra")
        nothing = tf.zeros([2], tf.int32)
        features = {"input_mask": mask, "segment_ids": segments, "chunk_labels": tf.zeros_like(ids)}
        features |= {"chunk_labels_mask": tf.cast(mask, tf.float32), "chunk_labeled_positions": POSITIONS}
        for name in tasks:
            features |= {f"{name}_{key}": nothing for key in ("eid", "label_ids", "is_impossible")}
            features |= {f"{name}_{key}": nothing for key in ("start_positions", "end_positions")}
            features[f"{name}_targets"] = tf.zeros([2])
        found = {}
        for name, task in tasks.items():
            # As run_finetuning.py does.
            with tf.variable_scope(f"task_specific/{name}"):
                outputs = task.get_prediction_module(model, features, False, 0.0)[1]
            for key in ("logits", "predictions", "start_logits", "end_logits"):
                if key in outputs:
                    found[f"{name}/{key}"] = outputs[key]
        return found

    return originals.evaluate(build, **originals.inputs())


def make_xlnet(folder: pathlib.Path) -> dict[str, np.ndarray]:
    """Returns the weights and logits of XLNet's tasks, each in its scope."""
    modeling = originals.load(folder / "modeling.py")
    width, heads, head = (originals.XLNET[key] for key in ("d_model", "n_head", "d_head"))

    def build(ids, mask, segments):
        zeros = tf.zeros_initializer()
        with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
            states, *_ = modeling.transformer_xl(
                inp_k=tf.transpose(ids),
                dropout=0.0,
                dropatt=0.0,
                attn_type="bi",
                bi_data=False,
                initializer=zeros,
                is_training=False,
                input_mask=tf.transpose(1.0 - tf.cast(mask, tf.float32)),
                seg_id=tf.transpose(segments),
                use_tpu=False,
                **originals.XLNET,
            )
            summary = modeling.summarize_sequence(
                "last", states, width, heads, head, 0.0, 0.0, None, False, zeros
            )
            given = {"initializer": zeros, "return_logits": True}
            labels = tf.zeros([2], tf.int32)
            of_classes = modeling.classification_loss(
                summary, labels, CLASSES, scope="classification_sst-2", **given
            )
            of_number = modeling.regression_loss(summary, 0.0, scope="regression_sts-b", **given)
        with tf.variable_scope("logits"):
            choice = tf.layers.dense(summary, 1)
        return {"classification": of_classes[1], "regression": of_number[1], "choice": choice}

    # The summary is of the last state, where XLNet's data have padding in front.
    given = originals.inputs()
    given = {name: np.concatenate([each[:1], each[:1][:, ::-1]]) for name, each in given.items()}
    return originals.evaluate(build, **given)


def main() -> None:
    """Writes the files of both systems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    electra = {**originals.BERT, "embedding_size": 8}
    for name, make, config in (
        ("electra", make_electra, electra),
        ("xlnet", make_xlnet, originals.XLNET),
    ):
        made_with = json.dumps({"tensorflow": tensorflow.__version__, "config": config})
        np.savez_compressed(originals.HERE / f"{name}_heads.npz", made_with=made_with, **make(folder / name))


if __name__ == "__main__":
    main()
