"""Sandboxes as Docker containers, each on a volume that outlives it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from talaria.core.errors import SandboxUnavailable
from talaria.ports.sandbox import WORKSPACE
from talaria.sandbox.agent import source
from talaria.sandbox.docker.container import DEPLOYMENT, NAME, config, labels, labels_given, user_of
from talaria.sandbox.docker.engine import Engine
from talaria.sandbox.docker.host import check_host
from talaria.sandbox.docker.link import DockerLink
from talaria.sandbox.launcher import Found, Launch, Link

_PYTHON = ("python3", "-I", "-S", "-c")


class DockerLauncher:
    """Launches containers of `image` on this machine's engine. `deployment` tells its containers from others'.

    `runtime`: another one of the engine's than its default, such as runsc.
    """

    kind = "docker"

    def __init__(self, *, deployment: str, image: str, runtime: str | None = None) -> None:
        self._deployment = deployment
        self._image = image
        self._runtime = runtime
        self._known: Engine | None = None
        self._links: dict[str, DockerLink] = {}

    async def check(self) -> None:
        """Return if containers can be launched here, within all their limits.

        Raises:
            SandboxUnavailable: they cannot; the message says what to install or allow.
        """
        engine = await self._engine()
        check_host(await engine.info(), self._runtime)
        await self._user(engine)

    async def launch(self, launch: Launch) -> Link:
        """Start a container on its volume, made if it is not there; one of the same name ends.

        Raises:
            SandboxUnavailable: it cannot be started.
        """
        engine = await self._engine()
        name = self._name(launch.name)
        marks = labels(self._deployment, launch)
        options = [f"{key}={value}" for key, value in {"workspace": WORKSPACE, **launch.options}.items()]
        command = [*_PYTHON, await asyncio.to_thread(source), *options]
        what = config(launch, user=await self._user(engine), volume=name, command=command, runtime=self._runtime)
        await engine.make_volume(name, marks)
        container = await _to_its_end(engine.create(name, {**what, "Image": self._image, "Labels": marks}))
        try:
            link = await self._attached(engine, launch.name, container)
            await engine.start(container)
        except SandboxUnavailable:
            await engine.remove(name)
            raise
        return link

    async def attach(self, name: str) -> Link:
        """Return a new stream to the agent of a container that runs; an older one ends.

        Raises:
            SandboxLost: it does not run; the message says if it ended for want of memory.
        """
        engine = await self._engine()
        return await self._attached(engine, name, await engine.running(self._name(name)))

    async def found(self) -> list[Found]:
        """Return the containers and volumes of this deployment."""
        engine = await self._engine()
        mine = f"{DEPLOYMENT}={self._deployment}"
        found = {each[NAME]: Found(each[NAME], labels_given(each), False) for each in await engine.volumes(mine)}
        for each, runs in await engine.containers(mine):
            found[each[NAME]] = Found(each[NAME], labels_given(each), runs)
        return list(found.values())

    async def remove(self, name: str, *, workspace: bool) -> None:
        """End a container, and delete its volume if asked to."""
        if link := self._links.pop(name, None):
            await link.close()
        engine = await self._engine()
        await (engine.remove_with_volume if workspace else engine.remove)(self._name(name))

    async def close(self) -> None:
        """Let go of the engine. Containers go on."""
        while self._links:
            await self._links.popitem()[1].close()
        if self._known is not None:
            await self._known.close()
            self._known = None

    def _name(self, name: str) -> str:
        return f"talaria-{self._deployment}-{name}"

    async def _engine(self) -> Engine:
        if self._known is None:
            engine = await Engine.of_this_machine()
            if self._known is None:
                self._known = engine
            else:
                await engine.close()
        return self._known

    async def _user(self, engine: Engine) -> str:
        image = await engine.image(self._image)
        if image is None:
            raise SandboxUnavailable(f"There is no image {self._image}: `talaria sandbox build` makes it.")
        return user_of(image)

    async def _attached(self, engine: Engine, name: str, container: str) -> DockerLink:
        if before := self._links.pop(name, None):
            await before.close()
        link = self._links[name] = await DockerLink.attached(engine.another(), container, name)
        return link


async def _to_its_end(create: Coroutine[Any, Any, str]) -> str:
    """Wait for what the engine does not give up when nobody waits any more: cancelled, be so when it is done."""
    creating = asyncio.create_task(create)
    try:
        return await asyncio.shield(creating)
    except asyncio.CancelledError:
        await asyncio.wait([creating])
        raise
