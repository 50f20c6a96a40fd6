"""The subagents of a deployment: read from files at start."""

from collections.abc import Sequence
from pathlib import Path

import structlog

from talaria.agents.subagent_file import read_subagent
from talaria.core.errors import ConfigurationError, InvalidRequest
from talaria.core.subagents import Subagent

_log = structlog.get_logger(__name__)

BUILTIN = (
    Subagent(
        "general",
        "Works on a task of several steps on its own: looks things up, tries them, and reports what it found.",
        "Work on the task until it is done. Then answer with what was asked for, and with nothing else: what you "
        "found, where, and what you could not find out.",
    ),
)
"""Offered where `subagents.builtin` says so."""


def load_subagents(paths: Sequence[str], *, builtin: bool) -> tuple[Subagent, ...]:
    """Read files, and those of folders, in order of their names; of two with one name the later one counts.

    Raises:
        ConfigurationError: a path is not there, or a file describes no subagent.
    """
    found = {each.name: each for each in (BUILTIN if builtin else ())}
    for path in (file for each in paths for file in _files(Path(each))):
        try:
            subagent, unknown = read_subagent(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"subagents.paths: cannot read '{path}': {error}") from error
        except InvalidRequest as error:
            raise ConfigurationError(f"subagents.paths: '{path}': {error.message}") from error
        if unknown:
            _log.warning("subagent_fields_unknown", path=str(path), fields=list(unknown))
        found[subagent.name] = subagent
    return tuple(found.values())


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(each for each in path.glob("*.md") if each.is_file())
    if not path.exists():
        raise ConfigurationError(f"subagents.paths: there is no '{path}'")
    return [path]
