"""Skills by URL: asked for once, however many want one, and only now and then whether it has changed."""

import asyncio
from dataclasses import dataclass

import msgspec
import structlog

from talaria.core.errors import FetchFailed, FetchRefused, InvalidRequest
from talaria.core.skills import Skill
from talaria.fetch import Fetcher, Page
from talaria.ports.clock import Clock
from talaria.skills.archive import read_zip
from talaria.skills.described import read_skill
from talaria.skills.files import Entries, SkillEntry
from talaria.skills.shelf import Download, Shelf
from talaria.skills.skill_file import FILE

FRESH = 300.0
"""Seconds for which a URL is not asked again."""
_log = structlog.get_logger("talaria.skills")


@dataclass(frozen=True, slots=True)
class Brought:
    """A skill that somebody names by its URL."""

    name: str
    url: str


class Downloads:
    """Downloads onto a shelf. Closing ends those that go on."""

    def __init__(self, fetcher: Fetcher, shelf: Shelf, clock: Clock) -> None:
        self._fetcher = fetcher
        self._shelf = shelf
        self._clock = clock
        self._running: dict[Brought, asyncio.Task[Skill]] = {}

    async def get(self, brought: Brought) -> Skill:
        """Return the skill, whose files are on the shelf then. What was had before serves while the net does not.

        Raises:
            FetchFailed: it cannot be had; the message never has the URL's path, which may be a secret.
            InvalidRequest: what is there is no skill, or not the one that is meant.
        """
        known = await asyncio.to_thread(self._shelf.noted, brought.url)
        if known is not None and 0 <= self._clock.now() - known.checked < FRESH * 1000:
            return _named(known.skill, brought)
        task = self._running.get(brought)
        if task is None:
            task = asyncio.create_task(self._get(brought, known), name="skill")
            self._running[brought] = task
            task.add_done_callback(lambda done: self._ended(brought, done))
        # Whoever asked first may stop waiting: the others go on.
        await asyncio.wait((task,))
        if task.cancelled():
            raise FetchFailed("the server is stopping")
        return task.result()

    async def close(self) -> None:
        """End what goes on."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._fetcher.close()

    def _ended(self, brought: Brought, task: asyncio.Task[Skill]) -> None:
        self._running.pop(brought, None)
        if not task.cancelled():
            task.exception()  # nobody may be left who waits for it

    async def _get(self, brought: Brought, known: Download | None) -> Skill:
        try:
            page = await self._ask(brought.url, known)
        except FetchRefused:
            raise
        except FetchFailed as error:
            if known is None:
                raise
            _log.warning("skill_from_cache", skill=known.skill.name, error=error.message)
            page = None
        return await asyncio.to_thread(self._keep, brought, page, known)

    async def _ask(self, url: str, known: Download | None) -> Page | None:
        """Return what is there; None: still what is known."""
        page = await self._fetcher.fetch(url, headers=_unless_same(known))
        match page.status:
            case 200:
                return page
            case 304 if known is not None:
                return None
            case 429 | 500 | 502 | 503 | 504:
                raise FetchFailed(f"{page.url.origin} answers with status {page.status}")
            case _:
                raise InvalidRequest(f"{page.url.origin} answers with status {page.status}")

    def _keep(self, brought: Brought, page: Page | None, known: Download | None) -> Skill:
        now = self._clock.now()
        if page is None:
            assert known is not None
            noted = msgspec.structs.replace(known, checked=now)
        else:
            skill, said = read_skill(entries := _files(page.body), brought.name)
            if said.unknown:
                _log.warning("skill_fields_unknown", skill=skill.name, fields=list(said.unknown))
            self._shelf.put(skill.digest, entries)
            noted = Download(skill, now, page.header("etag"), page.header("last-modified"))
        self._shelf.note(brought.url, noted)
        return _named(noted.skill, brought)


def _files(body: bytes) -> Entries:
    """A zip, or SKILL.md alone."""
    return read_zip(body) if body.startswith(b"PK") else {FILE: SkillEntry(body)}


def _unless_same(known: Download | None) -> list[tuple[str, str]]:
    if known is None:
        return []
    asked = [("If-None-Match", known.etag), ("If-Modified-Since", known.modified)]
    return [(name, value) for name, value in asked if value]


def _named(skill: Skill, brought: Brought) -> Skill:
    if skill.name != brought.name:
        raise InvalidRequest(f"{FILE} says that its name is '{skill.name}', not '{brought.name[:80]}'")
    return skill
