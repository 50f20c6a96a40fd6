"""The skills of a deployment: configured ones, read at start, and those that requests bring."""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from talaria.core.errors import ConfigurationError, FetchFailed, InvalidRequest
from talaria.core.skills import Skill
from talaria.fetch import Fetcher
from talaria.ports.clock import Clock
from talaria.runtime.fetching import make_fetcher
from talaria.runtime.settings import Settings
from talaria.skills.archive import LARGEST_ZIP, read_zip
from talaria.skills.described import read_skill
from talaria.skills.downloads import Brought, Downloads
from talaria.skills.files import Entries
from talaria.skills.folder import read_folder
from talaria.skills.shelf import Shelf
from talaria.skills.skill_file import FILE

_log = structlog.get_logger("talaria.skills")
Configured = Mapping[str, tuple[Skill, Entries]]
"""By name."""


def load_skills(paths: Sequence[str]) -> Configured:
    """Read skills, in order; of two with one name the later one counts. Blocks.

    In a folder of skills those that break the specification are left out, and the log says why.

    Raises:
        ConfigurationError: a path is not there, or names a skill that breaks the specification.
    """
    found: dict[str, tuple[Skill, Entries]] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise ConfigurationError(f"skills.paths: there is no '{path}'")
        is_one = path.is_file() or (path / FILE).exists()
        for each in [path] if is_one else _skills_in(path):
            try:
                skill, entries = _load(each)
            except (InvalidRequest, OSError) as error:
                why = error.message if isinstance(error, InvalidRequest) else str(error)
                if is_one:
                    raise ConfigurationError(f"skills.paths: '{each}': {why}") from error
                _log.warning("skill_left_out", path=str(each), why=why)
                continue
            found[skill.name] = (skill, entries)
    return found


def _skills_in(folder: Path) -> list[Path]:
    inside = sorted(folder.iterdir())
    return [each for each in inside if (each / FILE).exists() or (each.is_file() and each.suffix == ".zip")]


def _load(path: Path) -> tuple[Skill, Entries]:
    if path.is_dir():
        name, entries = path.resolve().name, read_folder(path)
    else:
        name = path.stem
        with path.open("rb") as file:
            entries = read_zip(file.read(LARGEST_ZIP + 1))
    skill, said = read_skill(entries, name)
    if said.unknown:
        _log.warning("skill_fields_unknown", path=str(path), fields=list(said.unknown))
    return skill, entries


@dataclass(frozen=True, slots=True)
class Gathered:
    """The skills that a request brought, and a notice for each that could not be had: a code and a sentence."""

    skills: tuple[Skill, ...] = ()
    notices: tuple[tuple[str, str], ...] = ()


class Skills:
    """Opened with a runtime. Downloads are kept in `skills.cache`, or beside the store; else as long as it is open."""

    def __init__(self, settings: Settings, configured: Configured, clock: Clock) -> None:
        self._configured = {skill.digest: entries for skill, entries in configured.values()}
        self._settings = settings.fetch
        self._kept = _kept(settings)
        self._clock = clock
        self._temporary: str | None = None
        self._opened: tuple[Shelf, Downloads] | None = None
        self._opening = asyncio.Lock()

    async def gather(self, brought: Sequence[Brought]) -> Gathered:
        """Get what a request brings, side by side; what cannot be had does not stop it."""
        if not brought:
            return Gathered()
        _, downloads = await self._open()
        got = await asyncio.gather(*(self._one(downloads, each) for each in brought))
        skills = tuple(each for each in got if isinstance(each, Skill))
        return Gathered(skills, tuple(("skill_failed", each) for each in got if isinstance(each, str)))

    async def files(self, skill: Skill) -> Entries:
        """Return a skill's files.

        Raises:
            NotFound: they are not kept here any more.
        """
        if skill.digest in self._configured:
            return self._configured[skill.digest]
        shelf, _ = await self._open()
        return await asyncio.to_thread(shelf.get, skill.digest)

    async def close(self) -> None:
        """End downloads."""
        if self._opened is not None:
            await self._opened[1].close()
        if self._temporary is not None:
            await asyncio.to_thread(shutil.rmtree, self._temporary, ignore_errors=True)

    async def _one(self, downloads: Downloads, brought: Brought) -> Skill | str:
        try:
            return await downloads.get(brought)
        except (FetchFailed, InvalidRequest) as error:
            _log.warning("skill_failed", skill=brought.name, error=error.message)
            return f"skill '{brought.name}' is left out: {error.message}"

    async def _open(self) -> tuple[Shelf, Downloads]:
        async with self._opening:
            if self._opened is None:
                if self._kept is None:
                    self._temporary = await asyncio.to_thread(tempfile.mkdtemp, prefix="talaria-skills-")
                shelf = Shelf(self._kept or Path(str(self._temporary)))
                self._opened = shelf, Downloads(self._fetcher(), shelf, self._clock)
        return self._opened

    def _fetcher(self) -> Fetcher:
        return make_fetcher(self._settings, self._settings.timeout, LARGEST_ZIP)


def _kept(settings: Settings) -> Path | None:
    """The folder for downloads, or None where they need not last, as the sessions do not."""
    if settings.skills.cache is not None:
        return Path(settings.skills.cache).absolute()
    scheme, _, rest = settings.store.url.partition("://")
    return Path(f"{rest.removeprefix('/')}.skills").absolute() if scheme == "sqlite" else None
