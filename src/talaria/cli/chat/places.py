"""Where the chat keeps its files: the history of what was typed, and the log of its own server."""

import os
from pathlib import Path


def state_folder() -> Path:
    """The folder, made if need be (https://specifications.freedesktop.org/basedir-spec/latest/)."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(base) / "talaria"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def history_file() -> Path:
    """What was typed, newest last."""
    path = state_folder() / "chat_history"
    path.touch(0o600)
    return path


def log_file() -> Path:
    """The log of the chat's own server."""
    return state_folder() / "chat.log"
