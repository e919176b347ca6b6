"""A package that no environment has, to be sent to workers."""

import io
import zipfile

NAME, VERSION = "tiny_words", "1.0"


def write_wheel(folder):
    """Writes a package that nothing else has; returns its path."""
    about = f"{NAME}-{VERSION}.dist-info"
    files = {
        f"{NAME}.py": 'WORD = "from a package that was sent"\n',
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{about}/RECORD"))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    path = folder / f"{NAME}-{VERSION}-py3-none-any.whl"
    path.write_bytes(content.getvalue())
    return path
