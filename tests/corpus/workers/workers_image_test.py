"""The image of Beam's workers has the Beam of the lock."""

import re

from tests.corpus.workers.processes import CHECKOUT


def test_the_image_has_the_lock_s_beam():
    text = (CHECKOUT / "docker" / "Dockerfile").read_text()
    defaults = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    stated = re.search(r"--build-arg PYTHON=(\S+) --build-arg BEAM=([\d.]+[\d])", text)
    for python, beam in ((defaults["PYTHON"], defaults["BEAM"]), stated.groups()):
        lock = (CHECKOUT / "requirements" / f"py{python.replace('.', '')}.txt").read_text()
        assert f"apache-beam=={beam}\n" in lock
