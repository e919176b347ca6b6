"""The same files behave alike on the local disk and on a file system of TensorFlow's that is not local."""

import itertools
import os
import pathlib

import pytest

from firth import storage

_numbers = itertools.count()


@pytest.fixture(params=["local", "ram"])
def root(request, tmp_path):
    return str(tmp_path) if request.param == "local" else f"ram://storage/{os.getpid()}/{next(_numbers)}"


def write(root, path="model"):
    with storage.whole_folder(f"{root}/{path}") as folder:
        pathlib.Path(folder, "a.txt").write_text("é\n", encoding="utf-8")
        pathlib.Path(folder, "deep").mkdir()
        pathlib.Path(folder, "deep", "b").write_bytes(b"\x00\xff")
    return f"{root}/{path}"


def test_a_folder_is_whole_when_it_is_written(root):
    path = write(root)
    storage.check_whole(path + "/")
    assert storage.list_folder(path) == [storage.MARKER, "a.txt", "deep"]
    assert storage.open_file(f"{path}/a.txt", "r").read() == "é\n"
    assert storage.open_file(f"{path}/deep/b").read() == b"\x00\xff"
    assert [os.path.basename(each) for each in storage.glob(f"{path}/*.txt")] == ["a.txt"]


def test_a_block_that_fails_leaves_nothing(root):
    with pytest.raises(KeyError), storage.whole_folder(f"{root}/model") as folder:
        pathlib.Path(folder, "a").write_text("a")
        raise KeyError
    with pytest.raises(KeyError), storage.whole_file(f"{root}/file") as file:
        file.write(b"a")
        raise KeyError
    assert storage.list_folder(root) == []
    with pytest.raises(storage.NotWholeError, match="model"):
        storage.check_whole(f"{root}/model")


def test_a_folder_without_its_marker_is_refused(root):
    path = write(root)
    storage.remove(f"{path}/{storage.MARKER}")
    with pytest.raises(storage.NotWholeError, match="marker"):
        storage.check_whole(path)


def test_nothing_that_is_there_is_replaced(root):
    path = write(root)
    for _ in range(2):
        with pytest.raises(FileExistsError, match="is there already"):
            write(root)
        assert storage.exists(f"{path}/deep/b")
        storage.remove(f"{path}/{storage.MARKER}")
    with storage.whole_file(f"{root}/file") as file:
        file.write(b"mine")
    if storage.is_local(root):
        with pytest.raises(FileExistsError, match="is there already"):
            write(root, "file")
    assert storage.open_file(f"{root}/file").read() == b"mine"


def test_folders_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("empty").mkdir()
    for path in ("new", "empty"):
        with storage.whole_folder(path) as folder:
            pathlib.Path(folder, "a").touch()
        storage.check_whole(path)
    with pytest.raises(FileExistsError), storage.whole_folder("."):
        pass
    assert storage.list_folder(".") == ["empty", "new"]


def test_an_upload_that_is_cut_short_is_begun_anew(monkeypatch):
    import tensorflow as tf

    path, copy = f"ram://storage/{os.getpid()}/cut", tf.io.gfile.copy

    def cut(source, target, overwrite=False):
        if source.endswith("b"):
            raise OSError(28, "No space left on device")
        copy(source, target, overwrite)

    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr(tf.io.gfile, "copy", cut)
        write(path)
    with pytest.raises(storage.NotWholeError, match="cut short"):
        storage.check_whole(f"{path}/model")
    assert storage.list_folder(write(path)) == [storage.MARKER, "a.txt", "deep"]


def test_an_upload_that_is_cut_short_twice_is_begun_anew(monkeypatch):
    """The second is killed while it removes what the first has left."""
    import tensorflow as tf

    path = f"ram://storage/{os.getpid()}/twice"
    copy, remove, removed = tf.io.gfile.copy, tf.io.gfile.remove, []

    def cut(source, target, overwrite=False):
        if source.endswith("b"):
            raise OSError(28, "No space left on device")
        copy(source, target, overwrite)

    def killed(name):
        if removed:
            raise KeyboardInterrupt
        removed.append(name)
        remove(name)

    for name, failing, error in (("copy", cut, OSError), ("remove", killed, KeyboardInterrupt)):
        with monkeypatch.context() as patch, pytest.raises(error):
            patch.setattr(tf.io.gfile, name, failing)
            write(path)
    assert removed
    assert storage.list_folder(write(path)) == [storage.MARKER, "a.txt", "deep"]


def test_a_scheme_that_pathlib_has_spoilt_is_refused():
    with pytest.raises(ValueError, match="pathlib"):
        storage.exists(pathlib.Path("gs://bucket/model"))


def test_a_file_is_replaced_whole(root):
    if not storage.is_local(root):
        pytest.skip("TensorFlow's ram:// appends to a file that is written again")
    for text in ("first", "second"):
        with storage.whole_file(f"{root}/deep/a.txt", "w") as file:
            file.write(text)
    assert storage.open_file(f"{root}/deep/a.txt", "r").read() == "second"
    assert storage.list_folder(f"{root}/deep") == ["a.txt"]


def test_a_local_copy_can_be_mapped(root):
    path = write(root)
    with storage.local_copy(path) as folder, storage.local_copy(f"{path}/a.txt") as file:
        assert pathlib.Path(folder, "deep", "b").read_bytes() == b"\x00\xff"
        assert pathlib.Path(file).read_text(encoding="utf-8") == "é\n"
        assert (folder == path) == storage.is_local(root)
    assert pathlib.Path(folder).exists() == storage.is_local(root)


def test_what_is_removed_is_gone(root):
    path = write(root)
    for each in (f"{path}/deep", f"{path}/a.txt", f"{path}/never", path, path):
        storage.remove(each)
        assert not storage.exists(each)


def test_others_may_read_what_is_written(tmp_path):
    write(tmp_path)
    with storage.whole_file(tmp_path / "file") as file:
        file.write(b"a")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o777 & ~mask
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask


def test_writing_through_the_reader_is_refused(root):
    with pytest.raises(ValueError, match="`whole_file`"):
        storage.open_file(f"{root}/a", "w")


def test_a_damaged_file_is_told_by_its_size(root):
    path = write(root)
    assert storage.is_unchanged(path)
    storage.remove(f"{path}/deep/b")
    assert not storage.is_unchanged(path)
    storage.write_text(f"{path}/deep/b", "xxx")
    assert storage.is_whole(path)
    assert not storage.is_unchanged(path)
    assert not storage.is_unchanged(f"{root}/nothing")


def test_folders_are_listed_and_copied(root):
    path = write(root)
    names = [storage.MARKER, "a.txt", "deep/b"]
    assert storage.files_below(path) == names
    storage.copy_folder(path, f"{root}/copy")
    assert storage.files_below(f"{root}/copy") == names
    assert storage.is_unchanged(f"{root}/copy")
    assert storage.is_folder(f"{root}/copy/deep") and not storage.is_folder(f"{root}/copy/a.txt")
    assert storage.size_of(f"{root}/copy/deep/b") == 2
    stamp = storage.stamp_of(f"{root}/copy/deep/b")
    assert stamp[0] == 2 and storage.stamp_of(f"{root}/copy/deep/b") == stamp
    storage.copy_file(f"{path}/a.txt", f"{root}/new/b.txt")
    assert storage.read_text(f"{root}/new/b.txt") == "é\n"
    assert storage.glob(f"{path}/a*", f"{path}/*.txt") == [f"{path}/a.txt"]


def test_json(root):
    assert storage.read_json(f"{root}/a.json") is None
    storage.write_json(f"{root}/deep/a.json", {"é": [1]})
    assert storage.read_json(f"{root}/deep/a.json") == {"é": [1]}
    assert storage.read_json_object(f"{root}/deep/a.json") == {"é": [1]}


@pytest.mark.parametrize("content", [b"[1]", b"null", b'"a"', b"{", b"", b"\xff\xfe", b"[" * 100_000])
def test_a_file_without_a_json_object_is_as_good_as_none(root, content):
    with storage.whole_file(f"{root}/deep/a.json") as file:
        file.write(content)
    assert storage.read_json_object(f"{root}/deep/a.json") == {}
    assert storage.read_json_object(f"{root}/deep/b.json") == {}


def test_what_a_killed_process_left_of_a_folder_is_removed(tmp_path):
    for name in (f".model.{'0' * 32}", f".models.{'0' * 32}"):
        (tmp_path / name).mkdir()
    write(tmp_path)
    assert storage.list_folder(tmp_path) == [f".models.{'0' * 32}", "model"]


def test_a_file_is_written_aside(tmp_path):
    with storage.whole_file(tmp_path / "split" / "a", aside=tmp_path) as file:
        file.write(b"1")
        assert storage.list_folder(tmp_path / "split") == []
    assert storage.files_below(tmp_path) == ["split/a"]


def test_a_growing_text_is_on_disk_at_once(tmp_path):
    lines = storage.GrowingText(tmp_path / "lines", "one\n")
    lines.append("two\n")
    assert storage.read_text(tmp_path / "lines") == "one\ntwo\n"


def test_a_growing_text_is_in_a_bucket_when_it_is_flushed(monkeypatch):
    writes = []
    monkeypatch.setattr("firth.storage.writing.write_text", lambda path, text: writes.append(text))
    lines = storage.GrowingText("ram://storage/lines", "one\n")
    lines.append("two\n")
    assert writes == ["one\n"]
    lines.flush()
    assert writes == ["one\n", "one\ntwo\n"]


def test_what_is_made_anew_has_a_local_folder(root):
    folder = storage.local_folder(root)
    assert storage.is_local(folder) and os.path.isdir(folder)
    assert storage.local_folder(root) == folder
    assert (folder == root) == storage.is_local(root)
