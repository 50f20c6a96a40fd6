"""Sandboxes as Docker containers, each on a volume that outlives it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiodocker import Docker, DockerError
from aiodocker.containers import DockerContainer
from aiodocker.utils import clean_filters
from aiodocker.volumes import DockerVolume

from talaria.core.errors import SandboxLost, SandboxUnavailable
from talaria.ports.sandbox import WORKSPACE
from talaria.sandbox.agent import source
from talaria.sandbox.docker.container import DEPLOYMENT, NAME, USER, config, labels, labels_given
from talaria.sandbox.docker.engine import CONFLICT, GONE, client, engine_address, refusals
from talaria.sandbox.docker.host import check_host
from talaria.sandbox.docker.link import DockerLink
from talaria.sandbox.launcher import Found, Launch, Link

_PYTHON = ("python3", "-I", "-S", "-c")
_TRIES = 50
_BETWEEN = 0.1


class DockerLauncher:
    """Launches containers of `image` on this machine's engine. `deployment` tells its containers from others'.

    `runtime`: another one of the engine's than its default, such as runsc.
    """

    kind = "docker"

    def __init__(self, *, deployment: str, image: str, runtime: str | None = None) -> None:
        self._deployment = deployment
        self._image = image
        self._runtime = runtime
        self._address = ""
        self._docker: Docker | None = None
        self._links: dict[str, DockerLink] = {}

    async def check(self) -> None:
        """Return if containers can be launched here, within all their limits.

        Raises:
            SandboxUnavailable: they cannot; the message says what to install or allow.
        """
        docker = await self._client()
        with refusals("Docker cannot be asked"):
            check_host(await docker.system.info(), self._runtime)
        await self._user(docker)

    async def launch(self, launch: Launch) -> Link:
        """Start a container on its volume, made if it is not there; one of the same name ends.

        Raises:
            SandboxUnavailable: it cannot be started.
        """
        docker = await self._client()
        user = await self._user(docker)
        name = self._name(launch.name)
        marks = labels(self._deployment, launch)
        options = [f"{key}={value}" for key, value in {"workspace": WORKSPACE, **launch.options}.items()]
        wanted = config(
            launch,
            image=self._image,
            user=user,
            volume=name,
            command=(*_PYTHON, source(), *options),
            runtime=self._runtime,
        )
        with refusals("The sandbox cannot be started"):
            await docker.volumes.create({"Name": name, "Labels": marks})
            container = await self._created(docker, name, {**wanted, "Labels": marks})
            try:
                link = await self._attached(launch.name, container.id)
                await container.start()
            except DockerError:
                await self._end(docker, name)
                raise
        return link

    async def attach(self, name: str) -> Link:
        """Return a new stream to the agent of a container that runs; an older one ends.

        Raises:
            SandboxLost: it does not run; the message says if it ended for want of memory.
        """
        docker = await self._client()
        with refusals("The sandbox cannot be reached"):
            try:
                shown = await docker.containers.container(self._name(name)).show()
            except DockerError as error:
                if error.status != GONE:
                    raise
                raise SandboxLost("The sandbox is gone.") from error
            state: Mapping[str, Any] = shown["State"]
            if not state["Running"]:
                raise SandboxLost("The sandbox ended" + (", out of memory." if state.get("OOMKilled") else "."))
            return await self._attached(name, shown["Id"])

    async def found(self) -> list[Found]:
        """Return the containers and volumes of this deployment."""
        docker = await self._client()
        mine = {"label": [f"{DEPLOYMENT}={self._deployment}"]}
        with refusals("Docker cannot be asked"):
            volumes = (await docker.volumes.list(filters=mine)).get("Volumes") or []
            containers = await docker.containers.list(all=True, filters=clean_filters(mine))
        all_found: dict[str, Found] = {}
        for volume in volumes:
            marks = volume.get("Labels") or {}
            all_found[marks[NAME]] = Found(marks[NAME], labels_given(marks), False)
        for container in containers:
            marks = container["Labels"]
            all_found[marks[NAME]] = Found(marks[NAME], labels_given(marks), container["State"] == "running")
        return list(all_found.values())

    async def remove(self, name: str, *, workspace: bool) -> None:
        """End a container, and delete its volume if asked to."""
        if link := self._links.pop(name, None):
            await link.close()
        docker = await self._client()
        with refusals("The sandbox cannot be removed"):
            await self._end(docker, self._name(name))
            if workspace:
                await _insist(DockerVolume(docker, self._name(name)).delete)

    async def close(self) -> None:
        """Let go of the engine. Containers go on."""
        for link in self._links.values():
            await link.close()
        self._links.clear()
        if self._docker is not None:
            await self._docker.close()
            self._docker = None

    def _name(self, name: str) -> str:
        return f"talaria-{self._deployment}-{name}"

    async def _client(self) -> Docker:
        if self._docker is None:
            self._address = await engine_address()
            self._docker = self._docker or client(self._address)
        return self._docker

    async def _user(self, docker: Docker) -> str:
        """The image's own user, unless that is root."""
        with refusals("Docker cannot be asked"):
            try:
                image = await docker.images.inspect(self._image)
            except DockerError as error:
                if error.status != GONE:
                    raise
                raise SandboxUnavailable(
                    f"There is no image {self._image}: `talaria sandbox build` makes it."
                ) from error
        user: str = (image.get("Config") or {}).get("User") or ""
        return USER if user.split(":")[0] in ("", "0", "root") else user

    async def _created(self, docker: Docker, name: str, wanted: dict[str, Any]) -> DockerContainer:
        """Create a container; one that has its name ends."""
        try:
            return await docker.containers.create(wanted, name=name)
        except DockerError as error:
            if error.status != CONFLICT:
                raise
        await self._end(docker, name)
        return await docker.containers.create(wanted, name=name)

    async def _end(self, docker: Docker, name: str) -> None:
        await _insist(lambda: docker.containers.container(name).delete(force=True))

    async def _attached(self, name: str, container: str) -> DockerLink:
        if before := self._links.pop(name, None):
            await before.close()
        own = client(self._address)
        link = self._links[name] = await DockerLink.attached(own, own.containers.container(container), name)
        return link


async def _insist(delete: Callable[[], Awaitable[None]]) -> None:
    """Delete something until it is gone: the engine refuses while another removal, or what uses it, is not over yet."""
    for _ in range(_TRIES):
        try:
            return await delete()
        except DockerError as error:
            if error.status == GONE:
                return None
            if error.status != CONFLICT:
                raise
        await asyncio.sleep(_BETWEEN)
    raise SandboxUnavailable("Docker does not come to an end with removing a sandbox.")
