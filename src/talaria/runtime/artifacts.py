"""Opens what keeps the bytes of files, by the URL in `artifacts.url`."""

from pathlib import Path
from urllib.parse import unquote

from talaria.artifacts.files import Files
from talaria.core.errors import ConfigurationError
from talaria.core.ids import new_id
from talaria.ports.artifacts import Bytes
from talaria.ports.clock import Clock
from talaria.ports.journal import Index, Put
from talaria.ports.store import Store
from talaria.runtime.expiry import milliseconds
from talaria.runtime.settings import ArtifactSettings

KNOWN = "file:./folder, s3://bucket/prefix?endpoint=https://…"
DEPLOYMENT = "deployment"
"""The kind of the index row that says which deployment this store is of: bytes of others are left alone."""


async def open_files(settings: ArtifactSettings, store: Store, clock: Clock) -> Files:
    """Return the files of this deployment.

    Raises:
        ConfigurationError: there is nothing to keep them in at this URL.
    """
    kept = open_bytes(settings.url, await _deployment(store.index, clock))
    return Files(kept, store.index, clock, settings.max_bytes, milliseconds(settings.ttl))


def open_bytes(url: str, folder: str) -> Bytes:
    """Return what keeps bytes at `url`, in a folder of their own there.

    Raises:
        ConfigurationError: no such kind, or its library is missing.
    """
    scheme, _, rest = url.partition(":")
    match scheme:
        case "file" if path := unquote(rest.removeprefix("//")):
            from talaria.artifacts.folder.folder import Folder  # noqa: PLC0415 - only the one in use is loaded

            return Folder(Path(path) / folder)
        case "s3":
            return _open_bucket(url, folder)
        case _:
            raise ConfigurationError(f"artifacts.url: nothing to keep files in at {url!r}; there are {KNOWN}")


def _open_bucket(url: str, folder: str) -> Bytes:
    from talaria.artifacts.s3.address import Address  # noqa: PLC0415 - see above

    address = Address.parse(url)
    try:
        from talaria.artifacts.s3.bucket import Bucket  # noqa: PLC0415 - its library is an extra
    except ImportError as error:
        raise ConfigurationError("artifacts.url: s3:// needs the extra: pip install 'talaria-agent[s3]'") from error
    return Bucket(address, folder)


async def _deployment(index: Index, clock: Clock) -> str:
    row = await index.get(DEPLOYMENT, "")
    if row is None:
        row = Put(DEPLOYMENT, "", "", "", clock.now(), new_id("dep").encode())
        await index.put([row])
    return row.data.decode()
