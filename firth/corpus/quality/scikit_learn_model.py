"""The step that scores documents by a model of scikit-learn."""

from collections.abc import Sequence

from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.scoring import Scoring
from firth.lazy import import_extra
from firth.recipes.corpus.classifiers import ScikitLearnStep
from firth.storage import open_file


class ScikitLearnClassifier:
    """A classifier of scikit-learn that takes texts.

    Attributes:
        labels: Labels of the model, as text.
    """

    def __init__(self, content: bytes, trusted: Sequence[str] = ()) -> None:
        (skops,) = import_extra(CorpusError, "classifiers", "skops.io")
        try:
            found = skops.get_untrusted_types(data=content)
        # skops raises errors of many types for files that are not valid.
        except Exception as error:
            raise CorpusError(f"it is not a file of skops: {error}") from error
        if others := sorted({*found} - {*trusted}):
            raise CorpusError(f"it holds {', '.join(others)}; name what may be loaded under trusted")
        self._model = skops.loads(content, trusted=list(trusted))
        if not hasattr(self._model, "predict_proba"):
            raise CorpusError(f"{type(self._model).__name__} has no predict_proba")
        self.labels = [str(label) for label in self._model.classes_]

    def score(self, text: str, label: str) -> float:
        """Returns the probability of a label, in [0, 1]."""
        # One text at a time, since the last bits of a product may depend on the other rows.
        return float(self._model.predict_proba([text])[0, self.labels.index(label)])


class ScikitLearn(Scoring):
    """Drops documents by the probability of a label of a classifier of scikit-learn."""

    @staticmethod
    def load(config: ScikitLearnStep) -> ScikitLearnClassifier:  # noqa: D102
        with open_file(config.path) as file:
            return ScikitLearnClassifier(file.read(), config.trusted)
