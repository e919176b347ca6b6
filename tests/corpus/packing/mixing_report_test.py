import json

import pytest

from firth.corpus.documents.errors import MixtureError
from firth.corpus.packing.mixing import build_mixture_report, check_mixture
from firth.corpus.packing.mixture_plan import Cut, Share
from firth.storage import write_json
from tests.corpus.packing.mixtures import TWO, weighted


def report_of(amount: int, largest: int) -> dict:
    shares = [
        (Share("web", 100, 0.5, 0.5, 50, False), Cut(0, 5, 1)),
        (Share("books", 100, 0.5, 0.5, 50, False), Cut(0, 5, largest)),
    ]
    return build_mixture_report({("web", "tokens"): 50, ("books", "tokens"): amount}, shares, weighted(TWO))


def test_a_deviation_is_an_error_unless_documents_are_too_large(tmp_path):
    check_mixture(report_of(50, 1))
    row = report_of(60, 10)["sources"][1]
    assert (row["within_tolerance"], row["too_coarse"]) == (False, True)
    assert row["measured"] == 60 / 110 and row["deviation"] == pytest.approx(0.0909, abs=1e-4)
    check_mixture(report_of(60, 10))
    with pytest.raises(MixtureError, match=r"'books' .*0\.5455 .*0\.5000"):
        check_mixture(report_of(60, 9))
    write_json(str(tmp_path / "report.json"), report_of(60, 10))
    assert json.loads((tmp_path / "report.json").read_text()) == report_of(60, 10)
