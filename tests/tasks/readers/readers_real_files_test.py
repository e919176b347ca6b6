"""The numbers of records in published files, where the files are there."""

import pytest

from firth.tasks.readers import read_columns, read_file, read_split
from firth.tasks.readers.labels import ClassLabels, NumberLabels
from tests.shared_data import shared_data

# What is read is tested on made-up files; these take their time to read.
pytestmark = pytest.mark.repeated

# GLUE: the numbers of the catalogue of tensorflow_datasets and of the card of nyu-mll/glue.
GLUE = {
    ("cola", "train"): 8551,
    ("cola", "dev"): 1043,
    ("cola", "test"): 1063,
    ("sst2", "train"): 67349,
    ("sst2", "dev"): 872,
    ("sst2", "test"): 1821,
    ("mrpc", "dev"): 408,
    ("mrpc", "test"): 1725,
    ("rte", "train"): 2490,
    ("rte", "dev"): 277,
    ("rte", "test"): 3000,
    ("stsb", "train"): 5749,
    ("stsb", "dev"): 1500,
    ("stsb", "test"): 1379,
    ("wnli", "train"): 635,
    ("wnli", "dev"): 71,
    ("wnli", "test"): 146,
    ("qnli", "dev"): 5463,
    ("qnli", "test"): 5463,
    ("ax", "test"): 1104,
}


@pytest.mark.needs_data("glue", twin="tests/tasks/readers/formats_test.py::test_what_is_written_is_read")
@pytest.mark.parametrize(("name", "split"), GLUE)
def test_glue(name, split):
    found = read_split(name, str(shared_data("glue")), split)
    assert (len(found.records), found.rejected) == (GLUE[name, split], [])
    assert {record.label is None for record in found.records} == {split == "test"}


@pytest.mark.needs_data("glue", twin="tests/tasks/readers/formats_test.py::test_what_is_written_is_read")
def test_mrpc_as_it_was_published():
    """3,668 pairs to train on; two thirds of MRPC are paraphrases (Dolan & Brockett, 2005)."""
    found = read_file("mrpc", str(shared_data("glue/MRPC/train.full.tsv")))
    assert (len(found.records), found.rejected) == (3668, [])
    assert sum(record.label == "1" for record in found.records) == 2474
    test = read_file("mrpc", str(shared_data("glue/MRPC/msr_paraphrase_test.txt")))
    assert (len(test.records), sum(record.label == "1" for record in test.records)) == (1725, 1147)


# Sentences and words. CoNLL-2000: Tjong Kim Sang & Buchholz (2000), section 4. WNUT-17: Derczynski et al.
# (2017), table 1. EWT: sentences as the manifest has them, from the page of the treebank.
CONLL = {
    ("conll2000", "train"): (8936, 211727),
    ("conll2000", "test"): (2012, 47377),
    ("wnut17", "train"): (3394, 62730),
    ("wnut17", "dev"): (1009, 15733),
    ("wnut17", "test"): (1287, 23394),
    ("ud_english_ewt", "dev"): (2001, None),
    ("ud_english_ewt", "test"): (2077, None),
}


@pytest.mark.needs_data(
    "conll2000", "wnut17", "ud_english_ewt", twin="tests/tasks/readers/conll_test.py::test_sentences"
)
@pytest.mark.parametrize(("name", "split"), CONLL)
def test_tagged_words(name, split):
    found = read_split(name, str(shared_data(name)), split)
    sentences, words = CONLL[name, split]
    assert (len(found.records), found.rejected) == (sentences, [])
    assert words in (None, sum(len(record.texts["words"]) for record in found.records))


# The manifest of the data: the first 44 of 442 articles of SQuAD 1.1, and half of the dev file of 2.0.
@pytest.mark.needs_data("squad", twin="tests/tasks/readers/squad_test.py::test_questions")
@pytest.mark.parametrize(
    ("name", "file", "questions", "without"),
    [
        ("squad", "squad_v1.1_44articles.json", 11877, 0),
        ("squad", "squad_v1.1_dev_subset.json", 2910, 0),
        ("squad2", "squad_v2_dev_cs224n.json", 6078, 3168),
    ],
)
def test_squad(name, file, questions, without):
    found = read_file(name, str(shared_data("squad") / file))
    assert (len(found.records), found.rejected) == (questions, [])
    assert sum(record.label == () for record in found.records) == without


INFERENCE = ClassLabels(("neutral", "entailment", "contradiction"))


@pytest.mark.needs_data(
    "nli", "stsb_csv", twin="tests/tasks/readers/row_format_columns_test.py::test_a_csv_of_two_columns"
)
def test_csv():
    texts = {"text": "premise", "pair": "hypothesis"}
    # 9,815 matched and 9,832 mismatched (Williams et al., 2018).
    found = read_columns(str(shared_data("nli/mnli_dev.csv")), texts, labels=INFERENCE)
    assert len(found.records) + len(found.rejected) == 9815 + 9832
    found = read_columns(
        str(shared_data("stsb_csv/stsb-en-dev.csv")),
        {"text": "a", "pair": "b"},
        label="score",
        labels=NumberLabels(0.0, 5.0),
        header=("a", "b", "score"),
    )
    assert (len(found.records), found.rejected) == (1500, [])
