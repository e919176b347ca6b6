"""Properties of all steps that decide about one document at a time."""

import contextlib
import dataclasses
import pickle
import typing

import pytest
from hypothesis import given, settings, strategies as st

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.steps import DocumentStep, Drop, Keep
from firth.recipes.corpus import cleaning
from firth.recipes.corpus.domains import UrlList, UrlListsStep
from firth.recipes.corpus.filters import BadWordsStep, C4Step, GopherQualityStep, LanguageStep, WordList
from firth.recipes.corpus.normalization import NormalizeStep
from firth.recipes.corpus.privacy import PiiStep
from tests.corpus.helpers import document
from tests.repeating import often


def defaults():
    """Yields each kind of document step that needs no further value, so that a new one is tested too."""
    for each in typing.get_args(typing.get_args(cleaning.Step)[0]):
        (kind,) = typing.get_args(each.model_fields["kind"].annotation)
        required = [name for name, field in each.model_fields.items() if field.is_required()]
        if issubclass(STEPS[kind], DocumentStep) and required == ["kind"]:
            # Some need one of several values.
            with contextlib.suppress(ValueError):
                yield each(kind=kind)


CONFIGS = [
    *defaults(),
    NormalizeStep(kind="normalize", form="NFKC", whitespace="collapse"),
    NormalizeStep(kind="normalize", mojibake=True),
    C4Step(kind="c4", min_sentences=1, terminal_punctuation=False),
    GopherQualityStep(kind="gopher_quality", min_words=5),
    LanguageStep(kind="language", languages=("en", "de"), min_probability=0.5),
    BadWordsStep(kind="bad_words", lists=(WordList(path=""),)),
    UrlListsStep(kind="url_lists", block=(UrlList(path=""),)),
    PiiStep(kind="pii", replacement="surrogate", private_addresses=True, phone_regions=("US", "GB", "DE")),
]
# Another setting of a kind adds few ways through its step.
FEW = [each for each in CONFIGS if each == next(other for other in CONFIGS if other.kind == each.kind)]
FEW += [each for each in CONFIGS if each.kind == "pii" or (each.kind == "normalize" and each.mojibake)]

PIECES = [
    "The whale swam to the sea.", "It was the best of times.", "Home | News | Contact", "• one",
    "and so on...", "See our privacy policy.", "Turn Javascript on.", "[1]", "[edit]", "{", "lorem ipsum",
    "#", "…", "123", "x" * 40, "darn", "Es war die beste und die schlimmste Zeit.", "\n", "\n\n", " ", "\t",
    "\r\n", "\x00", "\ufeff", "é", "e\u0301", "cafÃ©", "\ufb01", "jane.roe@mail.org", "+1 212-736-5000",
    "tel 2127365000", "8.8.4.4", "10.0.0.7", "2606:4700::1111", "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00", "536-90-4399", "AKIA2E0A8F3B244C9986", "password = q8Zx3Lm9Tr2Vw7Kp5",
    "1.2.3.4", "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n", "\nProduced by A\n\n",
    "\nEnd of Project Gutenberg's X\n", "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\n",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).flatmap(
    lambda pieces: st.sampled_from(["", " ", "\n"]).map(lambda between: between.join(pieces))
)


@pytest.fixture(scope="module", params=often(CONFIGS, FEW), ids=lambda config: config.kind)
def step(request, tmp_path_factory) -> DocumentStep:
    config = request.param
    path = tmp_path_factory.mktemp("words") / "list"
    path.write_text("darn\n")
    for key, type_of_list in (("lists", WordList), ("block", UrlList)):
        if hasattr(config, key):
            config = config.model_copy(update={key: (type_of_list(path=str(path)),)})
    return STEPS[config.kind](config)


def test_each_kind_is_there():
    kinds = {kind for kind, factory in STEPS.items() if issubclass(factory, DocumentStep)}
    assert kinds == {config.kind for config in CONFIGS}


@settings(max_examples=12, deadline=None, derandomize=True)
@given(text=TEXTS)
def test_decisions(step, text):
    decision = step.decide(document(text, "a", "docs"))
    elsewhere = document(text, "b", "web", licence="none")
    if isinstance(decision, Drop):
        assert decision.reason in step.reasons
        assert step.decide(elsewhere) == decision
        return
    assert step.decide(elsewhere) == Keep(
        elsewhere.with_text(decision.document.text), decision.counts, decision.metadata
    )
    assert dataclasses.replace(decision.document, text=text) == document(text, "a", "docs")
    if not step.changes_text:
        assert decision == Keep(document(text, "a", "docs"), metadata=decision.metadata)
    assert all(count > 0 for count in decision.counts.values())
    if step.idempotent:
        assert step.decide(decision.document) == Keep(decision.document, metadata=decision.metadata)


def test_a_step_decides_the_same_on_another_worker(step):
    copy = pickle.loads(pickle.dumps(step))
    for piece in PIECES:
        assert copy.decide(document(piece)) == step.decide(document(piece))


def test_the_table_and_the_recipe_types_agree():
    types = typing.get_args(typing.get_args(cleaning.Step)[0])
    kinds = [typing.get_args(each.model_fields["kind"].annotation)[0] for each in types]
    assert sorted(STEPS) == sorted(kinds)
