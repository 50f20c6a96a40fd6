"""A real server of S3's protocol, on loopback: it checks signatures, and keeps parts apart until they are joined."""

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tests.polling import wait_until

ACCESS, SECRET = "AKIATALARIATESTS", "only-for-these-tests-1234"
BUCKET = "talaria"


@contextmanager
def s3_server(folder: Path) -> Generator[int]:
    """Start a server that keeps its buckets in a folder; give its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    (folder / BUCKET).mkdir(parents=True)
    command = [sys.executable, "-m", "nanio", "serve", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--data-dir", str(folder), "--log-level", "error", "--no-access-log"]
    env = os.environ | {"NANIO_ACCESS_KEY": ACCESS, "NANIO_SECRET_KEY": SECRET}
    with subprocess.Popen(command, env=env, cwd=folder, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: _answers(port), "the S3 server listening")
            yield port
        finally:
            server.kill()


def url(port: int, *, bucket: str = BUCKET, prefix: str = "/files") -> str:
    """The setting `artifacts.url` for it."""
    return f"s3://{bucket}{prefix}?endpoint=http://127.0.0.1:{port}&region=us-east-1"


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=1):
            return True
    except URLError as error:
        return hasattr(error, "code")  # it refuses who does not sign
