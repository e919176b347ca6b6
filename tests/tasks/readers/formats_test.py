"""Properties of every format of the table, on files that are written by its description."""

import codecs
import gzip
import pathlib

import pytest
from hypothesis import given, settings, strategies as st

from firth.scores import SCORES, collect, compute
from firth.tasks.readers import FORMATS, RefusedFileError, format_of, read_file, read_split
from firth.tasks.readers.labels import ChoiceLabels, ClassLabels, NumberLabels
from firth.tasks.readers.records import ROLES
from firth.tasks.readers.row_format import RowFormat
from firth.tasks.readers.rows import TsvRows
from tests.tasks.readers.written import (
    ROW_FORMATS,
    SPLITS,
    header_of,
    line_of,
    right_labels,
    row_of,
    text_columns,
    write,
)

# Quotation marks stand alone, and other characters that Python splits lines at are in GLUE's texts.
CHARACTERS = st.sampled_from(list("ab ä'\",.\u2028\x85\x0c"))
TEXTS = st.text(CHARACTERS, min_size=1, max_size=8).map(lambda text: f"{text}.")
every_format = pytest.mark.parametrize("name", FORMATS)
every_row_format = pytest.mark.parametrize("name", ROW_FORMATS)


def good_lines(name: str, count: int = 2) -> list[str]:
    described, split = ROW_FORMATS[name], SPLITS[name]
    labels = right_labels(described)
    rows = [row_of(described, split, [f"text {n}"] * 3, labels[n % len(labels)]) for n in range(count)]
    return [line_of(described, row) for row in rows]


def with_lines(name: str, path: pathlib.Path, lines: list[str]):
    described, split = ROW_FORMATS[name], SPLITS[name]
    labelled = split not in described.unlabelled
    return read_file(name, write(path, [*header_of(described, split), *lines]), split, labelled=labelled)


def first_line(name: str) -> int:
    return 1 + len(header_of(ROW_FORMATS[name], SPLITS[name]))


@every_row_format
@settings(max_examples=8, derandomize=True, deadline=None)
@given(data=st.data())
def test_what_is_written_is_read(name, data, tmp_path_factory):
    described, split = ROW_FORMATS[name], SPLITS[name]
    texts = st.lists(TEXTS, min_size=len(text_columns(described)), max_size=len(text_columns(described)))
    examples = data.draw(
        st.lists(st.tuples(texts, st.sampled_from(right_labels(described))), min_size=1, max_size=4)
    )
    lines = [line_of(described, row_of(described, split, *each)) for each in examples]
    found = with_lines(name, tmp_path_factory.mktemp("written") / "a", lines)
    assert found.rejected == []
    assert [record.line for record in found.records] == [first_line(name) + n for n in range(len(lines))]
    for record, (given_, label) in zip(found.records, examples):
        read = [
            each for text in record.texts.values() for each in ((text,) if isinstance(text, str) else text)
        ]
        assert read == given_
        assert record.label == (None if split in described.unlabelled else label)


@every_row_format
def test_byte_order_mark_line_ends_and_gzip_make_no_difference(name, tmp_path):
    described, split = ROW_FORMATS[name], SPLITS[name]
    lines = [*header_of(described, split), *good_lines(name)]
    labelled = split not in described.unlabelled
    plain = write(tmp_path / "plain", lines)
    others = {
        "windows": codecs.BOM_UTF8 + pathlib.Path(write(tmp_path / "crlf", lines, end="\r\n")).read_bytes(),
        "gzip": gzip.compress(pathlib.Path(plain).read_bytes()),
        "without the last line end": pathlib.Path(plain).read_bytes().removesuffix(b"\n"),
    }
    expected = read_file(name, plain, split, labelled=labelled)
    assert len(expected.records) == 2
    for title, content in others.items():
        path = tmp_path / title
        path.write_bytes(content)
        found = read_file(name, str(path), split, labelled=labelled)
        assert [(r.id, r.texts, r.label, r.line) for r in found.records] == [
            (r.id, r.texts, r.label, r.line) for r in expected.records
        ], title


@every_row_format
def test_bad_rows_are_counted_with_their_lines(name, tmp_path):
    described, split = ROW_FORMATS[name], SPLITS[name]
    good, label = good_lines(name), right_labels(described)[0]
    count = len(text_columns(described))
    bad = {
        "empty_text": line_of(described, row_of(described, split, ["x"] * (count - 1) + [" "], label)),
        "not_utf8": line_of(described, row_of(described, split, ["caf\udce9"] * count, label)),
    }
    if described.rows is TsvRows:
        bad["wrong_columns"] = good[0] + "\tone more"
    else:
        bad["not_json"] = good[0][:-1]
        bad["missing_key"] = good[0].replace(text_columns(described)[0].split(".")[-1], "other")
    if split not in described.unlabelled:
        unlabelled = row_of(described, split, ["x"] * count, "")
        bad["no_label"] = line_of(described, unlabelled)
        match described.labels:
            case ClassLabels() | ChoiceLabels():
                bad["unknown_label"] = line_of(described, row_of(described, split, ["x"] * count, "neutrall"))
            case NumberLabels():
                bad["label_out_of_range"] = line_of(described, row_of(described, split, ["x"] * count, 5.01))
                bad["label_not_a_number"] = line_of(described, row_of(described, split, ["x"] * count, "nan"))
    found = with_lines(name, tmp_path / "a", [good[0], *bad.values(), good[1]])
    assert len(found.records) == 2
    start = first_line(name) + 1
    assert [(each.reason, each.line) for each in found.rejected] == [
        (reason, start + n) for n, reason in enumerate(bad)
    ]
    assert found.counts == dict.fromkeys(bad, 1)
    assert all(each.detail and each.file == str(tmp_path / "a") for each in found.rejected)


@pytest.mark.parametrize("name", [each for each in ROW_FORMATS if ROW_FORMATS[each].rows is TsvRows])
def test_a_missing_column_is_named_with_the_nearest(name, tmp_path):
    described, split = ROW_FORMATS[name], SPLITS[name]
    wanted = text_columns(described)[-1]
    if split in described.headers:
        return
    header = header_of(described, split)[0].replace(wanted, f"{wanted}_")
    with pytest.raises(RefusedFileError, match=f"'{wanted}' .*line 1; .*{wanted}_"):
        read_file(name, write(tmp_path / "a", [header, "x"]), split)


@every_row_format
def test_ids_that_occur_twice_are_counted(name, tmp_path):
    described, split = ROW_FORMATS[name], SPLITS[name]
    if split in described.headers:
        return
    column = described.id_columns[0]
    rows = [
        {column: "7", **row_of(described, split, ["x"] * 3, right_labels(described)[0])} for _ in range(2)
    ]
    lines = ["\t".join(rows[0])] if described.rows is TsvRows else []
    path = write(tmp_path / "a", [*lines, *(line_of(described, row) for row in rows)])
    found = read_file(name, path, split, labelled=split not in described.unlabelled)
    assert [record.id for record in found.records] == ["7"]
    assert [(each.reason, each.line) for each in found.rejected] == [("duplicate_id", 2 + len(lines))]
    assert f"line {1 + len(lines)} too" in found.rejected[0].detail


@every_format
def test_a_file_of_which_nothing_is_left_is_refused(name, tmp_path):
    described = FORMATS[name]
    split = next(iter(described.files))
    for content in ("", "x\n\nx\n", "{}\n"):
        (tmp_path / "a").write_text(content)
        with pytest.raises(RefusedFileError, match="a: "):
            read_file(name, str(tmp_path / "a"), split)
    (tmp_path / "utf16").write_text("index\tsentence", encoding="utf-16")
    with pytest.raises(RefusedFileError, match="UTF-16"):
        read_file(name, str(tmp_path / "utf16"), split)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"index\tsentence" * 99)[:-9])
    with pytest.raises(RefusedFileError, match="gzip"):
        read_file(name, str(tmp_path / "cut.gz"), split)


@every_format
def test_the_descriptions_name_scores_and_roles_that_there_are(name):
    described = FORMATS[name]
    assert set(described.scores) <= set(SCORES) and described.scores
    assert described.title and all(described.files.values())
    if isinstance(described, RowFormat):
        assert set(described.texts) <= set(ROLES)
        positive = getattr(described.labels, "positive", None)
        assert ("f1" in described.scores) == (positive is not None)


def test_splits_are_found_in_a_folder_and_in_that_of_glue(tmp_path):
    (tmp_path / "RTE").mkdir()
    header = "index\tsentence1\tsentence2"
    write(tmp_path / "RTE" / "dev.tsv", [f"{header}\tlabel", "0\ta\tb\tentailment"])
    write(tmp_path / "RTE" / "test.tsv", [header, "0\ta\tb"])
    content = gzip.compress((tmp_path / "RTE" / "dev.tsv").read_bytes())
    (tmp_path / "RTE" / "train.tsv.gz").write_bytes(content)
    for folder in (tmp_path, tmp_path / "RTE"):
        assert read_split("rte", str(folder), "train").records[0].label == "entailment"
        assert read_split("rte", str(folder), "dev").labels == ("not_entailment", "entailment")
        assert read_split("rte", str(folder), "test").records[0].label is None


def test_what_there_is_not_is_said_with_the_nearest(tmp_path):
    with pytest.raises(ValueError, match=r"'sst-2'; .*sst2"):
        format_of("sst-2")
    with pytest.raises(ValueError, match=r"'dev_matched'; .*dev_mismatched"):
        read_split("mnli", str(tmp_path), "dev_matched")
    write(tmp_path / "train.csv", ["a"])
    with pytest.raises(RefusedFileError, match=r"train\.tsv .*GLUE SST-2; .*train\.csv"):
        read_split("sst2", str(tmp_path), "train")
    (tmp_path / "SST-2").mkdir()
    with pytest.raises(RefusedFileError, match=r"; .*/SST-2\?"):
        read_split("sst2", str(tmp_path / "SST2"), "train")
    with pytest.raises(RefusedFileError, match="there is no such file"):
        read_file("sst2", str(tmp_path / "none.tsv"))


def test_hidden_labels_are_read_as_none_and_never_scored(tmp_path):
    """Some copies of GLUE have -1 for the labels of test data."""
    write(tmp_path / "test.tsv", ["index\tsentence\tlabel", "0\ta\t-1", "1\tb\t-1"])
    records = read_split("sst2", str(tmp_path), "test").records
    assert [record.label for record in records] == [None, None]
    predictions = {record.id: "1" for record in records}
    with pytest.raises(ValueError, match="test data without labels cannot be scored"):
        compute("accuracy", collect({record.id: record.label for record in records}, predictions))
    found = read_file("sst2", write(tmp_path / "dev.tsv", ["sentence\tlabel", "a\t-1", "b\t1"]), "dev")
    assert (len(found.records), found.counts) == (1, {"unknown_label": 1})
