"""Real servers of PostgreSQL and MariaDB for tests: on loopback, in a folder of their own, by an unprivileged user."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.polling import wait_until
from tests.services import require

PASSWORD = "p@ss w0rd/+="
"""Of the user who may only read, as a URL must quote it: p%40ss%20w0rd%2F%2B%3D."""
_QUOTED = "p%40ss%20w0rd%2F%2B%3D"


class Server:
    """A running server: statements as its owner, and the URL that talaria is given."""

    def __init__(self, url: str, port: int, run: Sequence[str]) -> None:
        self.url = url
        self.port = port
        self._run = run

    def script(self, text: str) -> str:
        """Run statements as the server's owner; return what they print."""
        done = subprocess.run([*self._run], input=text, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def postgres() -> Generator[Server]:
    """PostgreSQL with a database `shop` and a role `reader`."""
    programs = Path(require("postgresql")).resolve().parent
    with _folder() as folder:
        data = folder / "data"
        _as_nobody([programs / "initdb", "-D", data, "-A", "trust", "-U", "owner", "--no-sync", "-E", "UTF8"], folder)
        port = _free_port()
        options = ("listen_addresses=127.0.0.1", f"port={port}", "unix_socket_directories=", "fsync=off")
        settings = [each for option in options for each in ("-c", option)]
        with _running([programs / "postgres", "-D", data, *settings], folder):
            url = f"postgresql://reader:{_QUOTED}@127.0.0.1:{port}/shop"
            psql = (str(programs / "psql"), "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(port), "-U")
            command = [*psql, "owner", "-d", "postgres"]
            wait_until(lambda: _answers(command), "PostgreSQL", 30)
            server = Server(url, port, [*psql, "owner", "-d", "shop"])
            Server(url, port, command).script(
                f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'; CREATE ROLE boss SUPERUSER LOGIN;"
                "CREATE ROLE files LOGIN; GRANT pg_read_server_files TO files;\nCREATE DATABASE shop;"
            )
            yield server


@contextmanager
def mariadb() -> Generator[Server]:
    """MariaDB with a database `shop` and a user `reader`."""
    program = Path(require("mariadb-server"))
    with _folder() as folder:
        data, port = folder / "data", _free_port()
        install = shutil.which("mariadb-install-db") or "mariadb-install-db"
        user = () if os.geteuid() else ("--user=nobody",)
        made = [install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", *user]
        subprocess.run([*made, "--skip-test-db"], check=True, capture_output=True, timeout=50, cwd=folder)
        command = [
            *(program, "--no-defaults", f"--datadir={data}", f"--port={port}", "--bind-address=127.0.0.1"),
            *(f"--socket={folder}/s", f"--pid-file={folder}/pid", "--innodb-flush-log-at-trx-commit=0"),
            *("--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M", "--secure-file-priv="),
        ]
        with _running(command, folder):
            client = [shutil.which("mariadb") or "mariadb", "--no-defaults", "-N", f"--socket={folder}/s", "-uroot"]
            client += ["--default-character-set=utf8mb4"]
            wait_until(lambda: _answers(client), "MariaDB", 30)
            url = f"mysql://reader:{_QUOTED}@127.0.0.1:{port}/shop"
            Server(url, port, client).script(
                "CREATE DATABASE shop CHARACTER SET utf8mb4; CREATE DATABASE other;"
                f"CREATE USER reader@'%' IDENTIFIED BY '{PASSWORD}';"
                "CREATE USER boss@'%'; GRANT FILE ON *.* TO boss@'%'; GRANT SELECT ON shop.* TO boss@'%';"
                "CREATE USER files@'%'; GRANT ALL ON *.* TO files@'%';"
            )
            yield Server(url, port, [*client, "shop"])


def _answers(command: Sequence[str]) -> bool:
    return (
        subprocess.run(
            [*command], input="SELECT 1;", text=True, capture_output=True, timeout=10, check=False
        ).returncode
        == 0
    )


@contextmanager
def _folder() -> Generator[Path]:
    """A folder that the unprivileged user may enter and write."""
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as name:
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(name, nobody.pw_uid, nobody.pw_gid)
        yield Path(name)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _as_nobody(command: Sequence[str | Path], folder: Path) -> None:
    user = "nobody" if os.geteuid() == 0 else None
    subprocess.run([str(each) for each in command], check=True, capture_output=True, timeout=50, cwd=folder, user=user)


@contextmanager
def _running(command: Sequence[str | Path], folder: Path) -> Generator[None]:
    user = "nobody" if os.geteuid() == 0 else None
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([str(each) for each in command], cwd=folder, user=user, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait(10)
