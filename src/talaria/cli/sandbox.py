"""`talaria sandbox build`: the system that code runs in, made without any registry of images."""

import argparse
import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.runtime.settings import SandboxSettings
from talaria.sandbox.image.recipe import ROOT, dockerfile


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the commands and their options."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    text = "Make the system that is seen inside sandboxes, unless it is up to date. Needs root, debootstrap and apt."
    build = commands.add_parser("build", help="make the system that is seen inside sandboxes", description=text)
    kinds = ("auto", "docker", "bubblewrap")
    build.add_argument("--kind", choices=kinds, default="auto", help="default: for all that is installed here")
    image = SandboxSettings().image
    build.add_argument("--image", metavar="NAME", default=image, help=f"Docker's image; default: {image}")
    build.add_argument("--root", metavar="DIR", type=Path, default=ROOT, help=f"for bubblewrap; default: {ROOT}")
    build.add_argument("--suite", metavar="S", help="of Debian or Ubuntu; default: this machine's")
    build.add_argument("--mirror", metavar="URL", help="default: this machine's apt sources")
    build.add_argument("--dockerfile", action="store_true", help="print one for the same system, and make nothing")
    build.set_defaults(act=_build)


def _build(options: argparse.Namespace) -> int:
    if options.dockerfile:
        print(dockerfile(), end="")
        return 0
    from talaria.sandbox.image.build import build_image, build_root  # noqa: PLC0415 - only here a client is needed
    from talaria.sandbox.image.tree import origin  # noqa: PLC0415 - the same

    what = origin(options.suite, options.mirror)
    kinds = [options.kind] if options.kind != "auto" else asyncio.run(_kinds())
    root = options.root if "bubblewrap" in kinds else None
    if root is not None:
        build_root(root, what, print)
    if "docker" in kinds:
        build_image(options.image, what, print, root)
    return 0


async def _kinds() -> list[str]:
    """The kinds of sandbox that are installed here."""
    from talaria.sandbox.docker.engine import Engine  # noqa: PLC0415 - only here a client is needed

    kinds = ["bubblewrap"] if shutil.which("bwrap") else []
    with suppress(SandboxUnavailable):
        engine = await Engine.of_this_machine()
        try:
            await engine.info()
            kinds.append("docker")
        finally:
            await engine.close()
    if not kinds:
        raise SandboxUnavailable("Neither Docker nor bubblewrap is installed here: `apt-get install bubblewrap`.")
    return kinds
