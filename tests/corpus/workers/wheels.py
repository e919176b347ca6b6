"""Packages that no environment has, to be sent to workers."""

import io
import zipfile

VERSION = "1.0"


def write_wheel(folder, name="tiny_words"):
    """Writes a package that nothing else has; returns its path."""
    about = f"{name}-{VERSION}.dist-info"
    files = {
        f"{name}.py": 'WORD = "from a package that was sent"\n',
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSION}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{each},,\n" for each in (*files, f"{about}/RECORD"))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        for each, text in files.items():
            wheel.writestr(each, text)
    path = folder / f"{name}-{VERSION}-py3-none-any.whl"
    path.write_bytes(content.getvalue())
    return path


def write_setup_file(folder, name):
    """Writes the sources of a package that nothing else has; returns the path of its setup.py."""
    folder.mkdir()
    (folder / f"{name}.py").write_text('WORD = "from sources that were sent"\n')
    setup = folder / "setup.py"
    setup.write_text(
        f"import setuptools\n\nsetuptools.setup(name={name!r}, version='1.0', py_modules=[{name!r}])\n"
    )
    return setup
