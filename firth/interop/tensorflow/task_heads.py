"""Heads of fine-tuned tasks, under the names that the code of the papers gives them."""

import dataclasses
import re
import shlex
from collections.abc import Iterator, Mapping

from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.heads import (
    TaskHeads,
    chooser,
    pooled_classifier,
    state_classifier,
    tagger,
)
from firth.interop.hugging_face.rules import joined
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.names import Name, dense
from firth.recipes.goals.goal import Goal
from firth.recipes.tasks.span import SpanAnswering

# Heads of run_classifier.py and of run_squad.py of BERT and ALBERT, [outputs, width] on both sides.
BERT_NAMES = (
    Name("output_weights", "classifier.weight"),
    Name("output_bias", "classifier.bias"),
    Name("cls/squad/output_weights", "qa_outputs.weight"),
    Name("cls/squad/output_bias", "qa_outputs.bias"),
)
# Names of the rules have these where files have the name of a task.
_CLASSES, _TAGS, _SPANS = "<classes>", "<tags>", "<spans>"
_MARK = re.compile(r"<\w+>")
# The task of ELECTRA's code that gives each word a tag. Its tensors have the names of a classifier's.
_TAGGER = "chunk"
_IN_TASK = re.compile(r"task_specific/([^/]+)/(.+)")
_ONE = frozenset({"dense/kernel", "dense/bias"})
_TWO = _ONE | {"dense_1/kernel", "dense_1/bias"}
ELECTRA_NAMES = (
    *dense(f"task_specific/{_CLASSES}/dense", "classifier"),
    *dense(f"task_specific/{_TAGS}/dense", "tagger"),
    *dense(f"task_specific/{_SPANS}/dense", "qa_start"),
    *dense(f"task_specific/{_SPANS}/dense_1", "qa_end"),
)
ELECTRA_HEADS = (
    state_classifier("ELECTRA", "classifier"),
    dataclasses.replace(tagger("ELECTRA", "tagger"), outputs="tagger.bias"),
    TaskHeads(
        "ELECTRA",
        "spans",
        (),
        lambda model: joined(("qa_start", "qa_end"), "heads/dense", (1, 1), biases=True),
        make=lambda published, form: SpanAnswering(form=form),
        outputs="qa_start.weight",
        forms=SpanAnswering,
    ),
)
# XLNet's code spells it so.
_SUMMARY = "model/sequnece_summary/"
_LOGIT = re.compile(r"model/(classification|regression)_([^/]+)/logit/(kernel|bias)")
# RACE's head has no name of a task. The rules have the mark for one whose summary comes in.
_CHOICE = "<choice>"
_LOGITS = "logits/dense/"
XLNET_NAMES = (
    *dense(f"{_SUMMARY}summary", "sequence_summary.summary"),
    *dense(f"model/classification_{_CLASSES}/logit", "logits_proj"),
    *dense(f"model/regression_{_CLASSES}/logit", "value_proj"),
    *dense(f"{_CHOICE}logits/dense", "choice_proj"),
)
_POOLER = "sequence_summary.summary"


def _classifier(output: str, loss: str) -> TaskHeads:
    """Returns the heads of one loss of XLNet, whose kernels are [width, outputs]."""
    heads = pooled_classifier("XLNet", _POOLER, output)
    return dataclasses.replace(heads, losses=(loss,), outputs=f"{output}.bias")


XLNET_HEADS = (
    _classifier("logits_proj", "label"),
    _classifier("value_proj", "value"),
    chooser("XLNet", _POOLER, "choice_proj"),
)


def with_bert_tasks(family: Family, fixed: Family) -> Family:
    """Returns a family with the heads of tasks that google-research's BERT has.

    Args:
        family: Family in Hugging Face's format.
        fixed: The same family without heads of tasks.
    """
    heads: dict[str, TaskHeads] = {}
    for each in family.task_heads:
        # Files name no class: a tagger would come back as the classifier, which has a tensor of that name.
        heads.setdefault(each.outputs, each)
    return dataclasses.replace(fixed, task_heads=tuple(heads.values()))


def electra_task(checkpoint: Checkpoint) -> Mapping[str, str]:
    """Returns the names of the rules for the head of a fine-tuned ELECTRA; none for a head that is not here.

    One layer is a classifier's, or the tagger's of chunks; two are the ends of an answer. Answers whose end
    depends on their start, which the code makes by default, have further layers.
    """
    found = [each for name in checkpoint.names if (each := _IN_TASK.fullmatch(name))]
    tasks = {each[1] for each in found}
    classes = _TAGS if tasks == {_TAGGER} else _CLASSES
    mark = {_ONE: classes, _TWO: _SPANS}.get(frozenset(each[2] for each in found))
    if len(tasks) != 1 or mark is None:
        return {}
    return {each[0]: f"task_specific/{mark}/{each[2]}" for each in found}


def xlnet_task(checkpoint: Checkpoint) -> Mapping[str, str]:
    """Returns the names of the rules for the head of a fine-tuned XLNet; none for a head that is not here.

    A summary by attention has further tensors, and heads on other summaries than the last state have none.
    """
    names = checkpoint.names
    found = [each for name in names if (each := _LOGIT.fullmatch(name))]
    summary = {name.removeprefix(_SUMMARY) for name in names if name.startswith(_SUMMARY)}
    is_ours = summary == {"summary/kernel", "summary/bias"}
    if not is_ours:
        return {}
    if not found:
        return {name: f"{_CHOICE}{name}" for name in names if name.startswith(_LOGITS)}
    if len({each[2] for each in found}) != 1 or len({each[1] for each in found}) != 1:
        return {}
    return {each[0]: f"model/{each[1]}_{_CLASSES}/logit/{each[3]}" for each in found}


def written_name(name: str, model: str) -> str:
    """Returns the name of a tensor in files, where a head has the name of the model for that of its task."""
    task = re.sub(r"[^A-Za-z0-9_.-]", "_", model)
    return _MARK.sub(f"{task}_texts" if task == _TAGGER else task, name.replace(_TAGS, _TAGGER))


def xlnet_name(name: str, model: str) -> str:
    """Returns the name of a tensor in XLNet's files, whose code has a task's name in small letters."""
    return written_name(name.replace(_CHOICE, ""), model.lower())


def about_classes(goal: Goal) -> Iterator[str]:
    """Yields a note about the names of classes."""
    if labels := getattr(goal, "labels", ()):
        names = ",".join(labels)
        about = f"firth import takes them as --labels {shlex.quote(names)}"
        if [each.strip() for each in names.split(",")] != list(labels):
            about = f"--labels of firth import cannot give those with a comma: {', '.join(map(repr, labels))}"
        yield f"the original's files have no names of classes; {about}"
