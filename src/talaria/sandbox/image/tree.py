"""Makes the system as a tree of files with debootstrap and apt. For root on Debian and what comes from it."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.image.recipe import PACKAGES, mark, recipe, script
from talaria.sandbox.image.sources import Source, apt_settings, codename, of_suite, read_sources

CACHE = Path("/var/cache/talaria")
_SYSTEM_PATHS = "/usr/local/sbin:/usr/sbin:/sbin"
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
_CERTIFICATES_SETTING = "Acquire::https::CaInfo"


@dataclass(frozen=True, slots=True)
class Origin:
    """Which system is made: its suite, and the archives of its packages, the suite's own first."""

    suite: str
    sources: tuple[Source, ...]


def origin(suite: str | None = None, mirror: str | None = None) -> Origin:
    """Return what to make: this machine's suite from its own apt sources, or what is named.

    Raises:
        SandboxUnavailable: this machine does not say; `--suite` and `--mirror` do.
    """
    suite = suite or codename()
    if suite is None:
        raise SandboxUnavailable("This system does not say which suite it is; name one: --suite bookworm --mirror URL.")
    if mirror:
        return Origin(suite, (Source(mirror, suite, ("main",)),))
    sources = of_suite(read_sources(), suite)
    if not sources:
        raise SandboxUnavailable(f"No apt source of this machine has {suite} with main; name one: --mirror URL.")
    return Origin(suite, tuple(sources))


def check_tools() -> None:
    """Return if a tree can be made here.

    Raises:
        SandboxUnavailable: it cannot; the message says what is missing.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_PATHS}"
    missing = [name for name in ("debootstrap", "unshare", "apt-get") if not shutil.which(name, path=path)]
    if missing:
        raise SandboxUnavailable(
            f"Making the system needs {', '.join(missing)}: `apt-get install debootstrap util-linux` on Debian or "
            "Ubuntu. Elsewhere: `talaria sandbox build --dockerfile | docker build -t talaria-sandbox -`."
        )
    if os.geteuid() != 0:
        raise SandboxUnavailable("Making the system needs root: `sudo talaria sandbox build`.")


def make_tree(root: Path, what: Origin) -> None:
    """Make the system in a folder, in place of what is there. Takes minutes; says on the terminal what it does.

    Raises:
        SandboxUnavailable: it cannot be made; what was there before still is.
    """
    check_tools()
    root.parent.mkdir(parents=True, exist_ok=True)
    fresh = root.with_name(f".{root.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        _run(fresh, what)
        mark(fresh, recipe(what.suite))
        old = root.with_name(f".{root.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if root.exists():
            root.rename(old)
        fresh.rename(root)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _run(root: Path, what: Origin) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        settings = apt_settings()
        _apt_folder(Path(folder), what, settings)
        first = what.sources[0]
        arguments = [str(root), what.suite, first.uri, folder, str(CACHE / what.suite), *PACKAGES]
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-s", *arguments]
        environment = _environment(first, settings)
        ended = subprocess.run(command, input=script(), text=True, check=False, env=environment)  # noqa: S603 - paths and names of packages
    if ended.returncode:
        raise SandboxUnavailable(
            f"The system could not be made (code {ended.returncode}); what went wrong is said above."
        )


def _apt_folder(folder: Path, what: Origin, settings: dict[str, str]) -> None:
    """What apt inside uses meanwhile: the same archives, keys, proxies, certificates and logins as outside."""
    lines: list[str] = []
    for number, source in enumerate(what.sources):
        if source.key and Path(source.key).is_file():
            copy = folder / "keyrings" / f"talaria-{number}{Path(source.key).suffix}"
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(source.key, copy)
            lines.append(source.line(f"/etc/apt/keyrings/{copy.name}"))
        else:
            lines.append(source.line(None))
    (folder / "sources.list").write_text("\n".join(lines) + "\n", encoding="utf-8")
    certificates = Path(settings.pop(_CERTIFICATES_SETTING, _CERTIFICATES))
    if certificates.is_file():
        shutil.copy(certificates, folder / "certificates")
    told = (f'{name} "{value}";\n' for name, value in settings.items() if "proxy" in name.lower())
    (folder / "apt.conf").write_text("".join(told), encoding="utf-8")
    logins = Path("/etc/apt/auth.conf")
    if logins.is_file():
        shutil.copy(logins, folder / "auth.conf")


def _environment(first: Source, settings: dict[str, str]) -> dict[str, str]:
    """Debootstrap asks in the environment for proxies, not apt."""
    environment = dict(os.environ)
    environment["PATH"] = f"{environment.get('PATH', os.defpath)}:{_SYSTEM_PATHS}"
    for scheme in ("http", "https"):
        if proxy := settings.get(f"Acquire::{scheme}::Proxy"):
            environment.setdefault(f"{scheme}_proxy", proxy)
    if first.key:
        environment["KEYRING"] = first.key
    return environment
