"""What the demo's server is given: a talaria.yaml in a folder of its own, and an environment."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import msgspec

from talaria.demo.options import Options

CONFIGURATION = "talaria.yaml"
_LOG = "processes.log"


class Workspace(msgspec.Struct, frozen=True, gc=False):
    """A folder that is gone after the demo; `log` is where all processes say what goes wrong."""

    folder: Path
    log: BinaryIO
    environ: dict[str, str]

    def last_words(self, lines: int = 12) -> str:
        """What the processes said last."""
        return "\n".join((self.folder / _LOG).read_text("utf-8", "replace").splitlines()[-lines:])


@contextmanager
def workspace(configuration: dict[str, object]) -> Generator[Workspace]:
    """Make a folder with a configuration, for as long as this block lasts."""
    with TemporaryDirectory(prefix="talaria-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / CONFIGURATION).write_bytes(msgspec.yaml.encode(configuration))
        with (folder / _LOG).open("wb") as log:
            yield Workspace(folder, log, child_environ(os.environ))


def child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what would override the configuration of the demo's own server."""
    kept = {name: value for name, value in environ.items() if not name.startswith("TALARIA_")}
    return {**kept, "PYTHONUTF8": "1"}


def configuration(options: Options) -> dict[str, object]:
    """The key and the model's address stay in the environment: nothing secret is written to the disk."""
    model = options.model
    route: dict[str, object] = {"prefix": "", "dialect": "openai", "baseUrl": "${DEMO_MODEL_URL}"}
    if not model.is_scripted:
        route["apiKey"] = "${OPENAI_API_KEY}"
    return {
        "server": {"timezone": str(options.zone), "heartbeat": 5, "grace": 2},
        "store": {"url": "sqlite:///./talaria.db"},
        "models": [route],
        "defaultModel": model.name,
        "plugins": ["talaria.demo.agent"],
    }
