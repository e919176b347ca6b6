"""Heads that transformers has classes for: of objectives, and of fine-tuned tasks."""

import dataclasses
import itertools
import types
from collections.abc import Callable, Mapping
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.rules import Rules, linear
from firth.recipes.base.types import configs_in
from firth.recipes.goals.goal import Goal
from firth.recipes.tasks.choice import MultipleChoice
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.span import SpanAnswering
from firth.recipes.tasks.tagging import Tagging
from firth.recipes.tasks.task import Task


@dataclasses.dataclass(frozen=True)
class FamilyHeads:
    """Heads that transformers has a class for.

    Attributes:
        architecture: Name of the class.
        ours: Name of our heads, the `heads` of a goal.
        losses: Losses that a goal with these heads has, among others.
        rules: Function from a model to the rules of the heads' weights.
        compute: Function from a model to whether the class computes what our heads do.
        otherwise: What the class computes where it does not, as the reason why its weights do not come in.
    """

    architecture: str
    ours: str
    losses: tuple[str, ...]
    rules: Callable[[Any], Rules] = lambda model: iter(())
    compute: Callable[[Any], bool] = lambda model: True
    otherwise: str = ""

    def match(self, goal: Goal) -> bool:
        """Returns true if a goal has these heads."""
        # No class of transformers decodes masked tokens again.
        decodes_again = getattr(goal, "mask_decoder", None) is not None
        return goal.heads == self.ours and set(self.losses) <= set(goal.losses) and not decodes_again

    def settings(self, goal: Goal) -> dict[str, Any]:
        """Returns the keys of `config.json` that the class reads next to those of the model: here none."""
        return {}


@dataclasses.dataclass(frozen=True)
class Published:
    """The facts of a fine-tuned head that its files hold.

    Attributes:
        classes: Number of outputs.
        labels: Function to the names of the classes, which heads without classes do not call; without any
            they are `LABEL_0` and so on, as transformers names them.
        model: Recipe's model below the head.
        texts: Number of texts that are read together.
    """

    classes: int
    labels: Callable[[], tuple[str, ...]]
    model: Any
    texts: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.labels() or tuple(f"LABEL_{number}" for number in range(self.classes))


@dataclasses.dataclass(frozen=True)
class TaskHeads(FamilyHeads):
    """Heads of a fine-tuned task that transformers has a class for.

    Attributes:
        fits: Function from a form to whether its texts are read as the class reads them.
        make: Function from the facts of published heads and a form to the task.
        outputs: Name of the tensor that has a row, or a number, for each output.
        forms: Type of task whose forms the texts may have.
        only: Keys of a configuration, with the one value of each that the heads here have.
        problem: Function from a number of outputs to the `problem_type` of heads here; empty for a class that
            does not read it.
        reads_end: True if the head reads the last token, whichever the tokenizer puts there.
        pooling: Way in which the head makes one vector of a text, as `Form.form_for` knows it.
    """

    fits: Callable[[Any], bool] = lambda form: True
    make: Callable[[Published, Any], Any] = lambda published, form: None
    outputs: str = ""
    forms: type[Task] = Task
    only: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    problem: Callable[[int], str] = lambda outputs: ""
    reads_end: bool = False
    pooling: str = "cls"

    def match(self, goal: Goal) -> bool:
        """Returns true if a goal has these heads, on the same states of texts."""
        return super().match(goal) and self.fits(getattr(goal, "form", None))

    def settings(self, goal: Any) -> dict[str, Any]:
        """Returns the keys of `config.json` that name the answers of a task."""
        labels = getattr(goal, "labels", ())
        if not labels and not self.problem(1):
            return {}
        # transformers makes a head of as many outputs as there are names, and of two without any.
        names = dict(enumerate(labels or ("LABEL_0",)))
        return {
            "id2label": {str(number): name for number, name in names.items()},
            "label2id": {name: number for number, name in names.items()},
            **({} if labels else {"problem_type": self.problem(1)}),
        }

    def task(self, published: Published) -> Task:
        """Returns the task of published heads.

        Raises:
            InteropError: if they are not those of a task, such as a class that occurs twice.
        """
        model = published.model
        forms: list[Any] = configs_in(self.forms.model_fields["form"].annotation)
        for each in (each for each in forms if model.architecture in each.architectures):
            form = each.form_for(self.pooling, model.separates_segments, model.separators)
            if self.fits(form):
                try:
                    made: Task = self.make(published, form)
                except ValueError as error:
                    raise InteropError("; ".join(str(error).splitlines())) from None
                return made
        raise InteropError(f"{self.architecture}: texts of {model.kind} are read otherwise here")


def _classes(published: Published, form: Any) -> Task:
    """Returns the task of a head with an output for each class, or with one for a number."""
    pair = published.texts > 1
    if published.classes == 1:
        return Regression(pair=pair, form=form)
    return Classification(labels=published.names, pair=pair, form=form)


def _problem(outputs: int) -> str:
    return "regression" if outputs == 1 else "single_label_classification"


def _pooled(pooler: str, output: str) -> Callable[[Any], Rules]:
    return lambda model: itertools.chain(linear(pooler, "heads/pooler/dense"), linear(output, "heads/dense"))


def pooled_classifier(
    architecture: str, pooler: str, output: str, only: Mapping[str, Any] = types.MappingProxyType({})
) -> TaskHeads:
    """Returns the heads of a class for each text, whose state goes through a layer with tanh."""
    return TaskHeads(
        architecture,
        "pooled",
        (),
        _pooled(pooler, output),
        fits=lambda form: form.has_pooler,
        make=_classes,
        outputs=f"{output}.weight",
        forms=Classification,
        only=only,
        problem=_problem,
    )


def state_classifier(architecture: str, output: str) -> TaskHeads:
    """Returns the heads of a class for each text, whose first state is read as it is."""
    return TaskHeads(
        architecture,
        "pooled",
        (),
        lambda model: linear(output, "heads/dense"),
        fits=lambda form: getattr(form, "pooling", "") == "first_state",
        make=_classes,
        outputs=f"{output}.bias",
        forms=Classification,
        pooling="first_state",
    )


def last_token_classifier(architecture: str, output: str = "score") -> TaskHeads:
    """Returns the heads of a class for each text that a decoder reads, at its last token, without biases."""
    return TaskHeads(
        architecture,
        "pooled",
        (),
        lambda model: linear(output, "heads/dense", biases=False),
        fits=lambda form: not form.has_bias,
        make=_classes,
        outputs=f"{output}.weight",
        forms=Classification,
        problem=_problem,
        reads_end=True,
    )


def chooser(architecture: str, pooler: str, output: str = "classifier") -> TaskHeads:
    """Returns the heads of one of several choices, each read after a question."""
    return TaskHeads(
        architecture,
        "choices",
        (),
        _pooled(pooler, output),
        fits=lambda form: form.has_pooler,
        make=lambda published, form: MultipleChoice(form=form),
        outputs=f"{output}.weight",
        forms=MultipleChoice,
    )


def not_ours(architecture: str, otherwise: str) -> TaskHeads:
    """Returns heads that no heads here compute, with the reason."""
    return TaskHeads(architecture, "", (), compute=lambda model: False, otherwise=otherwise)


def tagger(architecture: str, output: str = "classifier") -> TaskHeads:
    """Returns the heads of a tag for each token."""
    return TaskHeads(
        architecture,
        "tokens",
        (),
        lambda model: linear(output, "heads/dense"),
        fits=lambda form: not form.of_words and not form.encoder_alone,
        make=lambda published, form: Tagging(labels=published.names, form=form),
        outputs=f"{output}.weight",
        forms=Tagging,
    )


def answerer(architecture: str, output: str = "qa_outputs") -> TaskHeads:
    """Returns the heads of the first and the last token of an answer."""
    return TaskHeads(
        architecture,
        "spans",
        (),
        lambda model: linear(output, "heads/dense"),
        make=lambda published, form: SpanAnswering(form=form),
        outputs=f"{output}.weight",
        forms=SpanAnswering,
    )
