"""What the commands about recorded runs have in common: where the run is."""

import argparse

from talaria.journal.recorded import RecordedRun, read_run
from talaria.runtime.configure import read_settings
from talaria.runtime.settings import Settings
from talaria.runtime.stores import open_store


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where runs are kept."""
    parser.add_argument("--config", metavar="FILE", help="default: ./talaria.yaml if there is one, else defaults")
    parser.add_argument("--store", metavar="URL", help="instead of store.url")


def settings_of(options: argparse.Namespace) -> Settings:
    """Read the configuration that the options name."""
    settings = read_settings(options.config)
    if options.store is None:
        return settings
    return settings.model_copy(update={"store": settings.store.model_copy(update={"url": options.store})})


async def stored_run(settings: Settings, run_id: str) -> RecordedRun:
    """Read a run out of the store, beside whoever runs on it."""
    store = await open_store(settings.store.url, owner=False)
    try:
        return await read_run(store, run_id)
    finally:
        await store.close()
