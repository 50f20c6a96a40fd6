"""The recorder: a run that happened becomes a test, as the source of a Python module."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from talaria.core.errors import InvalidRequest
from talaria.journal.entries import ApprovalResolved, RunFinished
from talaria.journal.recorded import RecordedRun, read_run
from talaria.runtime.configure import read_settings
from talaria.runtime.runtime import Runtime
from talaria.runtime.settings import Settings
from talaria.runtime.stores import open_store
from talaria.testing.recording.masks import Masks
from talaria.testing.recording.module import module_of
from talaria.testing.recording.setting import with_fakes, with_real_tools

_FROM_OUTSIDE = ("cancelled", "timeout", "quotaExceeded")
_UNDECIDED = ("expired", "cancelled", "superseded")


async def record(
    source: Runtime | str,
    run_id: str,
    *,
    config: Mapping[str, Any] | str | os.PathLike[str] | Settings | None = None,
    fake_tools: bool = False,
    secrets: Mapping[str, str] | None = None,
) -> str:
    """Return the source of a test that plays a run again: what the model said, and what must come of it.

    `source` is a runtime, or the URL of a store, on which another process may run. The run's tools and its agent are
    those of the plugins in `config` (default: the runtime's own); with `fake_tools` they give again what was recorded.
    `secrets` are masked in the source, and so are the keys of models and what looks like one.

    Raises:
        NotFound: the store has no such run.
        InvalidRequest: it cannot be played again; the message says why, and what to do.
    """
    given = source.settings if config is None and isinstance(source, Runtime) else config
    run = await _read(source, run_id)

    def write() -> str:
        return source_of(run, read_settings(given), fake_tools=fake_tools, secrets=secrets)

    return await asyncio.to_thread(write)  # it reads files and imports plugins


async def _read(source: Runtime | str, run_id: str) -> RecordedRun:
    if isinstance(source, Runtime):
        return await read_run(source.parts.kit.store, run_id)
    store = await open_store(source, owner=False)
    try:
        return await read_run(store, run_id)
    finally:
        await store.close()


def source_of(
    run: RecordedRun, settings: Settings, *, fake_tools: bool = False, secrets: Mapping[str, str] | None = None
) -> str:
    """Return the source of a test for a run that was read; see `record`."""
    known = [value for model in settings.models for value in (model.api_key, *model.api_keys, *model.headers.values())]
    keys = {f"key {at}": key for at, key in enumerate((*known, *settings.secrets.keys))}
    masks = Masks({**keys, **(secrets or {})}, os.environ)
    _check(run)
    setting = with_fakes(run) if fake_tools else with_real_tools(run, settings)
    return module_of(run, setting, masks)


def _check(run: RecordedRun) -> None:
    """Refuse runs whose end no script can bring about."""
    end = next((entry for entry in run.entries if isinstance(entry, RunFinished)), None)
    if end is None:
        raise InvalidRequest("the run is not over; record it when it is")
    if end.reason in _FROM_OUTSIDE:
        raise InvalidRequest(f"the run ended from outside ({end.reason}); such a run cannot be played again")
    odd = [
        entry.outcome for entry in run.entries if isinstance(entry, ApprovalResolved) and entry.outcome in _UNDECIDED
    ]
    if odd:
        raise InvalidRequest(f"a question of the run was never decided ({odd[0]}); such a run cannot be played again")
