"""The address of a web page in the files that others read."""

import pytest

from firth.corpus.curation.outputs import output_row
from tests.corpus.helpers import document


@pytest.mark.parametrize(
    ("uri", "is_address"),
    [
        ("HTTPS://Example.org/a", True),
        ("//example.org/a", True),
        ("a.txt#L1", False),
        ("s3://b/a.txt", False),
    ],
)
def test_an_address_by_which_lists_and_rules_decide_is_given_out(uri, is_address):
    row = output_row(document("Text.", uri), "train")
    assert (row["url"], row["provenance"]) == (uri if is_address else None, uri)
