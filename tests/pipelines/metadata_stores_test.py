"""Stores of metadata in databases: what connects to them, and runs on servers of Debian's on this machine."""

import contextlib
import glob
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pytest

from firth.pipelines.metadata_stores import PASSWORD_VARIABLE, connection_config
from tests.pipelines.metadata import metadata_run

USER, PASSWORD, DATABASE = "firth", "a secret/word", "runs"
QUOTED = "a%20secret%2Fword"


def test_a_path_is_that_of_sqlite(tmp_path):
    assert (
        connection_config(f"{tmp_path}/metadata.sqlite").sqlite.filename_uri == f"{tmp_path}/metadata.sqlite"
    )


def test_urls_name_a_database(monkeypatch):
    found = connection_config(f"postgresql://me:{QUOTED}@there:6543/runs").postgresql
    assert (found.host, found.port, found.user, found.dbname) == ("there", "6543", "me", "runs")
    # As libpq reads it: ML Metadata quotes nothing.
    assert found.password == f"'{PASSWORD}'"
    monkeypatch.setenv(PASSWORD_VARIABLE, "other")
    found = connection_config("mysql://me@there/runs").mysql
    assert (found.host, found.port, found.password) == ("there", 3306, "other")
    # Every part of a URL may be percent-encoded.
    assert connection_config("postgresql://me@there/r%2Dns").postgresql.dbname == "r-ns"
    assert connection_config("mysql://m%65@there/r%2Dns").mysql.database == "r-ns"
    assert connection_config("postgresql://me:%27%5C@there/runs").postgresql.password == r"'\'\\'"


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("postgres://me@there/runs", "did you mean postgresql?"),
        ("mysql://there/runs", "there is no user in the URL"),
        ("mysql://me@there", "there is no database in the URL"),
    ],
)
def test_what_is_wrong_is_said_without_the_password(place, problem):
    with pytest.raises(ValueError) as error:
        connection_config(place.replace("me@", f"me:{QUOTED}@"))
    assert problem in str(error.value) and "secret" not in str(error.value)


class Server:
    """A private server on loopback, with one database and a user who has a password."""

    scheme = programs = ""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def url(self):
        return f"{self.scheme}://{USER}:{QUOTED}@127.0.0.1:{self.port}/{DATABASE}"

    @classmethod
    def find(cls, name):
        return shutil.which(name) or next(iter(glob.glob(f"/usr/lib/postgresql/*/bin/{name}")), None)

    def call(self, *command, **settings):
        # Neither server starts as root.
        user = {"user": self.owner, "group": self.owner} if os.geteuid() == 0 else {}
        return subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **user, **settings)

    def start(self):
        user = {"user": self.owner, "group": self.owner} if os.geteuid() == 0 else {}
        with open(self.folder / "server.txt", "a") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.folder, **user)
        while not self.answers():
            assert self.process.poll() is None, (self.folder / "server.txt").read_text()
            time.sleep(0.1)

    def kill(self):
        self.process.kill()
        self.process.wait()


class PostgreSQL(Server):
    scheme, owner, programs = "postgresql", "postgres", ("initdb", "postgres", "psql")

    def command(self):
        return [
            self.find("postgres"),
            "-D",
            "data",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-k",
            str(self.folder),
        ]

    def make(self):
        (self.folder / "password").write_text(PASSWORD)
        os.chmod(self.folder / "password", 0o644)
        secret = ("-U", USER, "--pwfile=password", "--auth=scram-sha-256")
        self.call(self.find("initdb"), "-D", "data", "-E", "UTF8", "--locale=C", *secret)

    def ask(self, statement):
        connection = ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", "postgres"]
        environment = {**os.environ, "PGPASSWORD": PASSWORD}
        return subprocess.run(
            [self.find("psql"), *connection, "-c", statement], env=environment, capture_output=True, text=True
        )

    def answers(self):
        return self.ask("SELECT 1").returncode == 0

    def fill(self):
        done = self.ask(f"CREATE DATABASE {DATABASE}")
        assert done.returncode == 0, done.stderr


class MariaDB(Server):
    scheme, owner, programs = "mysql", "mysql", ("mariadb-install-db", "mariadbd", "mariadb")

    def command(self):
        places = [f"--datadir={self.folder}/data", f"--socket={self.folder}/socket"]
        address = ["--bind-address=127.0.0.1", f"--port={self.port}", "--skip-name-resolve"]
        return [self.find("mariadbd"), "--no-defaults", *address, *places]

    def make(self):
        options = ("--auth-root-authentication-method=normal", f"--datadir={self.folder}/data")
        self.call(self.find("mariadb-install-db"), "--no-defaults", *options)

    def ask(self, statement):
        socket_of = f"--socket={self.folder}/socket"
        command = [self.find("mariadb"), "--no-defaults", socket_of, "-uroot", "-e", statement]
        return subprocess.run(command, capture_output=True, text=True)

    def answers(self):
        return self.ask("SELECT 1").returncode == 0

    def fill(self):
        done = self.ask(
            f"CREATE DATABASE {DATABASE}; CREATE USER {USER}@127.0.0.1 IDENTIFIED BY '{PASSWORD}'; "
            f"GRANT ALL ON {DATABASE}.* TO {USER}@127.0.0.1"
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture(params=[PostgreSQL, MariaDB])
def server(request):
    if missing := [name for name in request.param.programs if request.param.find(name) is None]:
        pytest.skip(f"Debian's {request.param.__name__} is not installed: there is no {missing[0]}")
    # The server is of another user, who may not look into the folders of this one.
    folder = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    made = request.param(folder)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, made.owner, made.owner)
        made.make()
        made.start()
        made.fill()
        yield made
    finally:
        with contextlib.suppress(AttributeError):
            made.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Run:
    """A process that runs the pipeline of a folder."""

    def __init__(self, folder, url):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.printed = folder / "printed.txt"
        with open(self.printed, "w") as printed, open(folder / "log.txt", "w") as log:
            # Imported, as in the test's own process: cached outputs are found by the component's module.
            program = f"from {metadata_run.__name__} import main; main({str(folder)!r}, {url!r})"
            command = [sys.executable, "-c", program]
            self.process = subprocess.Popen(command, stdout=printed, stderr=log)

    def wait_until_it_waits(self):
        while not (self.folder / "waiting").exists():
            assert self.process.poll() is None, (self.folder / "log.txt").read_text()[-3000:]
            time.sleep(0.1)

    def ended(self):
        code = self.process.wait(600)
        return code, self.printed.read_text().split()


@pytest.mark.repeated
def test_two_pipelines_at_once_and_a_server_that_is_killed_in_the_middle_of_a_run(tmp_path, server, capsys):
    """Runs that need not be processes of their own, since nothing ends them, are of this one."""

    def run_here(name, url=server.url):
        capsys.readouterr()
        metadata_run.main(str(tmp_path / name), url)
        return capsys.readouterr().out.split()

    with contextlib.ExitStack() as stack:

        def start(name):
            run = Run(tmp_path / name, server.url)
            stack.callback(run.process.kill)
            return run

        first, second = start("first"), start("second")
        for run in (first, second):
            run.wait_until_it_waits()
        (tmp_path / "first" / "go").touch()
        assert first.ended() == (0, ["Make", "finished", "Wait", "finished"])
        with pytest.raises(RuntimeError, match="Failed to establish connection to Metadata storage"):
            run_here("refused", server.url.replace(QUOTED, "wrong"))
        assert not (tmp_path / "refused" / "waiting").exists()
        server.kill()
        (tmp_path / "second" / "go").touch()
        code, printed = second.ended()
        assert code != 0 and printed == ["Make", "finished", "Wait"]
    server.start()
    assert run_here("second") == ["Make", "cached", "Wait", "finished"]
    assert run_here("first") == ["Make", "cached", "Wait", "cached"]


def curate(root, name, *given, password=PASSWORD):
    """Runs the command on a few short texts; returns its status, what it printed and the folder."""
    sources = f"sources=[{{kind: text, paths: [{root}/a.txt], documents: blank_line}}]"
    changes = ("--set", sources, "--set", "cleaning={steps: [], split: {eval_fraction: 0.5}}")
    command = [sys.executable, "-m", "firth", "curate", "demo", "--name", name, "--root", str(root / "runs")]
    done = subprocess.run(
        [*command, *changes, *given],
        env={**os.environ, PASSWORD_VARIABLE: password},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr, root / "runs" / name


@pytest.mark.repeated
@pytest.mark.parametrize("server", [PostgreSQL], indirect=True)
def test_runs_of_the_command_share_a_database(tmp_path, server):
    (tmp_path / "a.txt").write_text("\n\n".join(f"Word number {each} of a text." for each in range(40)))
    place = server.url.replace(f":{QUOTED}", "")
    code, said, _ = curate(tmp_path, "refused", "--metadata", place, password="wrong")
    assert code == 2 and f"metadata: {place} does not answer: " in said, said
    for name, given in (("first", ["--metadata", place]), ("second", ["--set", f"metadata={place}"])):
        code, said, folder = curate(tmp_path, name, *given)
        # The second run has the first one's recipe and sources, and takes nothing of it.
        assert code == 0 and str(folder / "pipeline" / "Curator") in said and "cached" not in said, said
        assert not (folder / "metadata.sqlite").exists()
    # The folder knows its store, and the database what the run has made.
    code, said, _ = curate(tmp_path, "first")
    assert code == 0, said
    cached = {line.split()[1] for line in said.splitlines() if line.startswith("cached")}
    assert cached >= {"CorpusExampleGen", "StatisticsGen", "Curator", "CorpusReporter"}, said
