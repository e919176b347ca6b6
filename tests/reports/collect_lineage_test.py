from firth.reports.collect import directory_digest


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory_digest(root)


def test_a_digest_is_of_names_and_contents(tmp_path):
    files = {"a": "1", "b/c": "2"}
    digest = tree(tmp_path / "first", files)
    assert digest == tree(tmp_path / "second", dict(reversed(files.items())))
    assert digest.startswith("sha256:")
    changed = [{"a": "1", "b/c": "3"}, {"a": "1", "b/d": "2"}, {"a": "1"}, {"a": "12", "b/c": ""}]
    others = {tree(tmp_path / str(number), files) for number, files in enumerate(changed)}
    assert len(others) == 4 and digest not in others
