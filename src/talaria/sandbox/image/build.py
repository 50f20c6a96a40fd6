"""Builds what is out of date: the image of Docker, the tree for bubblewrap, or both from one tree."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from talaria.sandbox.docker.load import image_recipe, load_image
from talaria.sandbox.image.recipe import made_by, recipe
from talaria.sandbox.image.tree import CACHE, Origin, check_tools, make_tree

Say = Callable[[str], None]


def build_root(root: Path, what: Origin, say: Say) -> None:
    """See to it that the tree in a folder is what the recipe makes.

    Raises:
        SandboxUnavailable: it cannot be made.
    """
    if made_by(root) == recipe(what.suite):
        say(f"{root} is up to date")
        return
    make_tree(root, what)
    say(f"{root} is made")


def build_image(image: str, what: Origin, say: Say, root: Path | None) -> None:
    """See to it that the engine's image is what the recipe makes: of the tree in `root` if given, else of a new one.

    Raises:
        SandboxUnavailable: no engine answers, or it cannot be made.
    """
    made = recipe(what.suite)
    if asyncio.run(image_recipe(image)) == made:
        say(f"the image {image} is up to date")
        return
    if root is not None:
        asyncio.run(load_image(root, image, made))
    else:
        check_tools()
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            tree = Path(folder) / "root"
            make_tree(tree, what)
            asyncio.run(load_image(tree, image, made))
    say(f"the image {image} is loaded")
