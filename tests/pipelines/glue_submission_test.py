import math

import pytest

from firth.pipelines.glue import SUBMISSION, submission_text, write_submission
from firth.tasks.readers import FORMATS, read_split
from tests.shared_data import shared_data


def predictions(file, value):
    return {str(id): value for id in range(SUBMISSION[file].records)}


def test_files_have_the_lines_that_the_site_reads(tmp_path):
    made = {
        "STS-B.tsv": predictions("STS-B.tsv", 5.25) | {"1": -0.5, "2": 2.34567},
        "RTE.tsv": predictions("RTE.tsv", "not_entailment") | {"2": "entailment"},
    }
    written = write_submission(str(tmp_path), made)
    assert written.written == ("STS-B.tsv", "RTE.tsv")
    assert written.missing == tuple(file for file in SUBMISSION if file not in made)
    similarity = (tmp_path / "STS-B.tsv").read_text().split("\n")
    assert similarity[:5] == ["index\tprediction", "0\t5.000", "1\t0.000", "2\t2.346", "3\t5.000"]
    assert len(similarity) == 1379 + 2 and similarity[-1] == ""
    assert (tmp_path / "RTE.tsv").read_text().split("\n")[2:4] == ["1\tnot_entailment", "2\tentailment"]


WRONG = {
    "MRPC.tsv is not a file": ("mrpc.tsv", {}),
    "CoLA.tsv: 1 of 1063 records have no prediction, the first is '7'": (
        "CoLA.tsv",
        {id: value for id, value in predictions("CoLA.tsv", "1").items() if id != "7"},
    ),
    "CoLA.tsv: 1 predictions are of no record, the first is '1063'": (
        "CoLA.tsv",
        predictions("CoLA.tsv", "1") | {"1063": "0"},
    ),
    "the prediction of '3' is 'neutral', not one of not_entailment, entailment": (
        "QNLI.tsv",
        predictions("QNLI.tsv", "entailment") | {"3": "neutral"},
    ),
    "the prediction of '0' is nan, not a finite number": ("STS-B.tsv", predictions("STS-B.tsv", math.nan)),
    "the prediction of '0' is 1, not one of 0, 1": ("WNLI.tsv", predictions("WNLI.tsv", 1)),
}


@pytest.mark.parametrize("message", WRONG)
def test_nothing_is_written_of_predictions_that_do_not_fit(message, tmp_path):
    file, wrong = WRONG[message]
    expected = "did you mean MRPC.tsv" if file == "mrpc.tsv" else message
    with pytest.raises(ValueError, match=expected):
        write_submission(str(tmp_path), {"WNLI.tsv": predictions("WNLI.tsv", "1"), file: wrong})
    assert not list(tmp_path.iterdir())


def test_each_file_is_of_a_split_without_labels():
    for described in SUBMISSION.values():
        assert described.split in FORMATS[described.task].unlabelled


@pytest.mark.needs_data("glue", twin="test_files_have_the_lines_that_the_site_reads")
@pytest.mark.parametrize("file", ["CoLA.tsv", "SST-2.tsv", "WNLI.tsv"])
def test_the_ids_are_those_of_the_records(file):
    described = SUBMISSION[file]
    records = read_split(described.task, str(shared_data("glue")), described.split).records
    labels = FORMATS[described.task].labels.names
    assert submission_text(file, {record.id: labels[0] for record in records})
