"""A state folder for real sandboxes."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, as which sandboxes run; pytest's own may not be."""
    path = Path(tempfile.mkdtemp(prefix="talaria-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)
