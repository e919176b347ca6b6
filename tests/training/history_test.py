import glob
import json
import os

import tensorflow as tf

from firth.training.history import History, read_history

LINE = {
    "mlm_loss": 1.0,
    "nsp_loss": 0.5,
    "gradient_norm": 2.0,
    "learning_rate": 0.1,
    "tokens_per_second": 9.0,
}


def line(step, loss=1.5):
    return {"step": step, "loss": loss, **LINE, "tokens": 10 * step, "seconds": 0.1}


def scalars(directory):
    """All (tag, step) of the event files in a directory."""
    found = []
    for path in glob.glob(os.path.join(directory, "events.out.tfevents.*")):
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            found += [(value.tag, event.step) for value in event.summary.value]
    return sorted(found)


def write(kept, run, step, steps):
    history = History(str(kept), str(run), step)
    for each in steps:
        history.append(line(each))
    history.close()


def test_lines_are_kept_and_written_to_the_run(tmp_path):
    write(tmp_path, tmp_path / "run", 0, range(1, 4))
    assert read_history(tmp_path) == read_history(tmp_path / "run") == [line(step) for step in (1, 2, 3)]
    tags = ("gradient_norm", "learning_rate", "loss", "mlm_loss", "nsp_loss", "tokens_per_second")
    assert scalars(tmp_path / "run") == [(tag, step) for tag in tags for step in (1, 2, 3)]


def test_after_a_resume_each_step_stands_once_in_old_and_new_run(tmp_path):
    write(tmp_path, tmp_path / "one", 0, range(1, 8))
    write(tmp_path, tmp_path / "two", 4, range(5, 7))
    write(tmp_path, tmp_path / "two", 5, range(6, 10))
    for directory in (tmp_path, tmp_path / "two"):
        assert [each["step"] for each in read_history(directory)] == list(range(1, 10))
    assert [step for tag, step in scalars(tmp_path / "two") if tag == "loss"] == list(range(1, 10))


def test_a_line_that_a_kill_cut_is_dropped(tmp_path):
    write(tmp_path, tmp_path / "run", 0, [1, 2])
    with open(tmp_path / "history.jsonl", "a", encoding="utf-8") as file:
        file.write('{"step": 3, "lo')
    assert [each["step"] for each in read_history(tmp_path)] == [1, 2]
    write(tmp_path, tmp_path / "run", 2, [3])
    assert [each["step"] for each in read_history(tmp_path)] == [1, 2, 3]


def test_no_history(tmp_path):
    assert read_history(tmp_path) == []


def test_lines_are_in_a_bucket_when_a_checkpoint_is_saved(tmp_path, monkeypatch):
    # TensorFlow's ram:// appends to a file that is written again, which no bucket does.
    uploads = {}
    monkeypatch.setattr("firth.storage.writing.write_text", lambda path, text: uploads.update({path: text}))
    history = History("ram://kept", str(tmp_path / "run"), 0)
    history.append(line(1))
    assert uploads["ram://kept/history.jsonl"] == ""
    history.flush()
    assert json.loads(uploads["ram://kept/history.jsonl"]) == line(1)
    history.close()
