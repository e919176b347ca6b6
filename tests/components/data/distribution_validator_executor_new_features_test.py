"""Features that the last run did not have, such as those of a source that was added since."""

import logging

import pytest
from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, standard_artifacts
from tfx.utils import io_utils

from firth.components.data.distribution_validator import DistributionError
from firth.corpus.io.records import write_records
from firth.corpus.readers.record_profiles import profile
from firth.recipes.corpus.sources import TextSource
from tests.components.data.distribution_validator_executor_test import distances, statistics_of, validate
from tests.corpus.helpers import document


def statistics(folder, words_by_source):
    """Statistics of 20 documents of each source, all of about as many words."""
    examples = standard_artifacts.Examples()
    examples.uri = str(folder / "examples")
    examples.split_names = artifact_utils.encode_split_names(["corpus"])
    examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
    profiles = [
        profile(
            TextSource(kind="text", name=name, paths=("*",)), "a", document("word " * (words + number % 3))
        )
        for name, words in words_by_source.items()
        for number in range(20)
    ]
    write_records(artifact_utils.get_split_uri([examples], "corpus"), 0, 1, profiles)
    return statistics_of(folder / "statistics", examples)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    import tensorflow_data_validation as tfdv

    folder = tmp_path_factory.mktemp("statistics")
    made = {
        "books": statistics(folder / "books", {"books": 5}),
        "both": statistics(folder / "both", {"books": 5, "web": 9}),
        "moved": statistics(folder / "moved", {"books": 50, "web": 9}),
        "schema": standard_artifacts.Schema(),
    }
    (path,) = (folder / "both" / "statistics").rglob("FeatureStats.pb")
    io_utils.write_pbtxt_file(
        f"{folder}/schema/schema.pbtxt", tfdv.infer_schema(tfdv.load_stats_binary(str(path)))
    )
    made["schema"].uri = f"{folder}/schema"
    return made


DRIFT = {"drift": {"books/words": 0.1, "web/words": 0.1, "web/outcome": 0.1}}


def test_a_source_that_is_new_has_nothing_to_be_compared_with(tmp_path, made, caplog):
    with caplog.at_level(logging.WARNING):
        found = validate(tmp_path, made, "both", DRIFT, previous_statistics="books")
    assert [each["feature"] for each in distances(found)] == ["books/words"]
    assert "nothing to compare with of web/outcome, web/words" in caplog.text
    found = validate(tmp_path / "later", made, "both", DRIFT, previous_statistics="both")
    assert {each["feature"] for each in distances(found)} == set(DRIFT["drift"])


def test_the_others_are_compared_all_the_same(tmp_path, made):
    with pytest.raises(DistributionError, match=r": books/words: [^;]*$"):
        validate(tmp_path, made, "moved", DRIFT, previous_statistics="books")


def test_data_with_a_new_source_that_were_taken_before_pass(tmp_path, made):
    validate(tmp_path, made, "moved", DRIFT, previous_statistics="books", taken_statistics="moved")
