import subprocess
import sys


def test_the_package_loads_neither_beam_nor_tfx_until_a_name_is_asked_for():
    code = "import sys, firth.corpus; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split())
    assert "firth.corpus" in loaded
    assert not {"apache_beam", "tensorflow", "tfx"} & loaded


def test_all_names_load_without_tfx():
    code = (
        "import sys, firth.corpus as c; [getattr(c, name) for name in c.__all__]; print('tfx' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "False", run.stderr
