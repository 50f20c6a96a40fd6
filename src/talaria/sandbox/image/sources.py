"""Where this machine's apt gets its packages from, as far as they are the distribution's own."""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Source:
    """One archive: where, which suite and components, and the file of its key."""

    uri: str
    suite: str
    components: tuple[str, ...]
    key: str | None = None

    def line(self, key: str | None) -> str:
        """The line of sources.list, with the file of the key where it will be."""
        signed = f"[signed-by={key}] " if key else ""
        return f"deb {signed}{self.uri} {self.suite} {' '.join(self.components)}"


def read_sources(folder: Path = Path("/etc/apt")) -> list[Source]:
    """Return all archives of packages, in the order in which apt reads them; those that are switched off not."""
    found: list[Source] = []
    files = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    for file in files:
        if file.is_file() and file.suffix in (".list", ".sources"):
            text = file.read_text(encoding="utf-8", errors="replace")
            found += _stanzas(text) if file.suffix == ".sources" else _lines(text)
    return found


def of_suite(sources: list[Source], suite: str) -> list[Source]:
    """Return the distribution's own archives of a suite: itself first, then its updates and security updates."""
    base = [each for each in sources if each.suite == suite and MAIN in each.components]
    more = (f"{suite}-updates", f"{suite}-security")
    return [*base[:1], *(each for each in sources if each.suite in more and MAIN in each.components)] if base else []


def codename(release: Path = Path("/etc/os-release")) -> str | None:
    """Return the suite this machine runs, if it says."""
    text = release.read_text(encoding="utf-8") if release.is_file() else ""
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return values.get("VERSION_CODENAME", "").strip('"') or None


def apt_settings() -> dict[str, str]:
    """Return how this machine's apt reaches archives: proxies and certificates among them."""
    command = ["apt-config", "dump", "Acquire"]
    dump = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - our own words
    pairs = (line.rstrip(";").split(" ", 1) for line in dump.splitlines() if " " in line)
    return {name: value.strip('"') for name, value in pairs if value != '""'}


def _lines(text: str) -> Iterator[Source]:
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words[:1] != ["deb"]:
            continue
        options: dict[str, str] = {}
        if words[1:2] and words[1].startswith("["):
            end = next((at for at, word in enumerate(words) if word.endswith("]")), len(words) - 1)
            given = " ".join(words[1 : end + 1]).strip("[] ").split()
            options = dict(option.split("=", 1) for option in given if "=" in option)
            words = [words[0], *words[end + 1 :]]
        if len(words) > 3:
            yield Source(words[1], words[2], tuple(words[3:]), _key(options.get("signed-by", "")))


def _stanzas(text: str) -> Iterator[Source]:
    for stanza in text.split("\n\n"):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false"):
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                components = tuple(fields.get("components", "").split())
                yield Source(uri, suite, components, _key(fields.get("signed-by", "")))


def _fields(stanza: str) -> Mapping[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t"):
            fields[name] = f"{fields.get(name, '')}\n{line.strip()}"
        elif ":" in line:
            name, value = line.split(":", 1)
            name = name.lower()
            fields[name] = value.strip()
    return fields


def _key(signed: str) -> str | None:
    """Only a key in a file is used; another one (a fingerprint, or written out) falls back to apt's trusted keys."""
    return signed if signed.startswith("/") else None
