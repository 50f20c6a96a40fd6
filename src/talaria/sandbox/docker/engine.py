"""What is asked of a Docker engine, in its API."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiodocker import Docker, DockerError
from aiodocker.stream import Stream
from aiodocker.volumes import DockerVolume

from talaria.core.errors import SandboxLost, SandboxUnavailable
from talaria.sandbox.docker.address import INSTALL, engine_address

_GONE = 404
_CONFLICT = 409
_NO_CONNECTION = 900
_LIMITS = aiohttp.ClientTimeout(total=60, sock_connect=10)
_TRIES = 100
_BETWEEN = 0.1

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Image:
    """An image: the user it runs as, "" for root, and its labels."""

    user: str
    labels: Labels


class Engine:
    """A client. Every method raises SandboxUnavailable where the engine refuses, or does not answer."""

    def __init__(self, address: str) -> None:
        self._address = address
        try:
            self._docker: Any = Docker(url=address, timeout=_LIMITS)
        except (ValueError, OSError, ImportError) as error:
            raise SandboxUnavailable(f"Docker's address {address} cannot be used: {error}") from error

    @classmethod
    async def of_this_machine(cls) -> "Engine":
        """Return a client that has not asked anything yet; to be closed."""
        return cls(await engine_address())

    def another(self) -> "Engine":
        """Return one more client for the same engine, with connections of its own."""
        return Engine(self._address)

    async def info(self) -> Mapping[str, Any]:
        """Return what the engine says of itself."""
        with _refusals("Docker cannot be asked"):
            return await self._docker.system.info()

    async def image(self, name: str) -> Image | None:
        """Return an image, or None if there is none of this name."""
        with _refusals("Docker cannot be asked"):
            try:
                found = await self._docker.images.inspect(name)
            except DockerError as error:
                if error.status != _GONE:
                    raise
                return None
        config: dict[str, Any] = found.get("Config") or {}
        return Image(config.get("User") or "", config.get("Labels") or {})

    async def load(self, archive: AsyncIterator[bytes]) -> None:
        """Load what `docker save` writes."""
        with _refusals("The image cannot be loaded"):
            await self._docker.images.import_image(archive)

    async def make_volume(self, name: str, labels: Labels) -> None:
        """Make a volume, unless it is there."""
        with _refusals("The workspace cannot be made"):
            await self._docker.volumes.create({"Name": name, "Labels": dict(labels)})

    async def create(self, name: str, config: Mapping[str, Any]) -> str:
        """Create a container and return its id; one that has its name ends."""
        with _refusals("The sandbox cannot be started"):
            try:
                return (await self._docker.containers.create(config, name=name)).id
            except DockerError as error:
                if error.status != _CONFLICT:
                    raise
            await self.remove(name)
            return (await self._docker.containers.create(config, name=name)).id

    async def start(self, container: str) -> None:
        """Start a container."""
        with _refusals("The sandbox cannot be started"):
            await self._docker.containers.container(container).start()

    async def attach(self, container: str) -> Stream:
        """Return the streams of a container, open already: before its start, or while it runs."""
        with _refusals("The sandbox cannot be reached"):
            stream: Stream = self._docker.containers.container(container).attach(stdin=True, stdout=True, stderr=True)
            return await stream.__aenter__()

    async def running(self, name: str) -> str:
        """Return the id of a container that runs.

        Raises:
            SandboxLost: it does not run; the message says if it ended for want of memory.
        """
        with _refusals("Docker cannot be asked"):
            try:
                shown = await self._docker.containers.container(name).show()
            except DockerError as error:
                if error.status != _GONE:
                    raise
                raise SandboxLost("The sandbox is gone.") from error
        if not shown["State"]["Running"]:
            raise SandboxLost("The sandbox ended" + (", out of memory." if shown["State"].get("OOMKilled") else "."))
        return shown["Id"]

    async def containers(self, label: str) -> list[tuple[Labels, bool]]:
        """Return the labels of all containers that have this one, and whether they run."""
        with _refusals("Docker cannot be asked"):
            found = await self._docker.containers.list(all=True, filters=f'{{"label": ["{label}"]}}')
        return [(each["Labels"], each["State"] == "running") for each in found]

    async def volumes(self, label: str) -> list[Labels]:
        """Return the labels of all volumes that have this one."""
        with _refusals("Docker cannot be asked"):
            found = await self._docker.volumes.list(filters={"label": [label]})
        volumes: list[dict[str, Any]] = found.get("Volumes") or []
        return [each["Labels"] for each in volumes]

    async def remove(self, name: str) -> None:
        """Kill and delete a container; none is fine."""
        with _refusals("The sandbox cannot be removed"):
            await _insist(lambda: self._delete(name))

    async def remove_with_volume(self, name: str) -> None:
        """Kill and delete a container and its volume, both of this name; none is fine."""
        with _refusals("The sandbox cannot be removed"):
            await _insist(lambda: self._delete(name), lambda: DockerVolume(self._docker, name).delete())

    def _delete(self, name: str) -> Awaitable[object]:
        return self._docker.containers.container(name).delete(force=True)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._docker.close()


async def _insist(*deletes: Callable[[], Awaitable[object]]) -> None:
    """Delete things, in order: the engine refuses while another removal, or what uses them, has not come to its end."""
    for _ in range(_TRIES):
        if all([await _is_gone(delete) for delete in deletes]):
            return
        await asyncio.sleep(_BETWEEN)
    raise SandboxUnavailable("Docker does not come to an end with removing a sandbox.")


async def _is_gone(delete: Callable[[], Awaitable[object]]) -> bool:
    try:
        await delete()
    except DockerError as error:
        if error.status not in (_GONE, _CONFLICT):
            raise
        return error.status == _GONE
    return True


@contextmanager
def _refusals(what: str) -> Generator[None]:
    try:
        yield
    except DockerError as error:
        hint = f" {INSTALL}" if error.status == _NO_CONNECTION else ""
        raise SandboxUnavailable(f"{what}: {error.message}{hint}") from error
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise SandboxUnavailable(f"{what}: Docker does not answer ({error!r}). {INSTALL}") from error
