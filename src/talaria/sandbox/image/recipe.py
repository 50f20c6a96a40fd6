"""What goes into the system, and how it is known that one was made by this recipe."""

import hashlib
from importlib.resources import files
from pathlib import Path

ROOT = Path("/var/lib/talaria/sandbox")
"""Where the system for bubblewrap is made, unless another folder is named."""
LABEL = "talaria-recipe"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "MPLCONFIGDIR": "/tmp/.matplotlib"}  # noqa: S108 - inside
"""What commands inside find in their environment; what matplotlib remembers is not for the workspace."""
_MARK = "etc/talaria-recipe"

PACKAGES = (
    "bash",
    "ca-certificates",
    "coreutils",
    "file",
    "fontconfig",
    "fonts-dejavu-core",
    "fonts-wqy-microhei",
    "less",
    "nodejs",
    "patch",
    "procps",
    "python3",
    "python3-matplotlib",
    "python3-numpy",
    "python3-pandas",
    "ripgrep",
    "tzdata",
    "unzip",
    "zip",
)


def script() -> str:
    """Return the source of recipe.sh."""
    return (files("talaria.sandbox.image") / "recipe.sh").read_text(encoding="utf-8")


def recipe(suite: str) -> str:
    """Return the name of what the recipe makes of a suite; another one when anything of it has changed."""
    text = "\n".join((script(), suite, *PACKAGES, *ENVIRONMENT.values()))
    return f"{suite}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def made_by(root: Path) -> str | None:
    """Return which recipe made the system in a folder, or None if none did, or did not finish."""
    mark = root / _MARK
    return mark.read_text(encoding="utf-8").strip() if mark.is_file() else None


def mark(root: Path, made: str) -> None:
    """Say which recipe made a system."""
    (root / _MARK).write_text(made + "\n", encoding="utf-8")


def default_root() -> Path | None:
    """Return the folder of the system that `talaria sandbox build` made, or None if it made none."""
    return ROOT if made_by(ROOT) else None


def dockerfile() -> str:
    """Return a Dockerfile for the same system, for machines that have Docker and its registry."""
    packages = " \\\n      ".join(PACKAGES)
    settings = " ".join(f"{name}={value}" for name, value in ENVIRONMENT.items())
    return f"""\
FROM debian:stable-slim
RUN apt-get update \\
 && apt-get install --yes --no-install-recommends \\
      {packages} \\
 && rm -rf /var/lib/apt/lists/* \\
 && useradd --uid 1000 --user-group --home-dir /workspace --no-create-home --shell /bin/bash sandbox \\
 && install -d -o 1000 -g 1000 /workspace \\
 && printf '%s\\n' 'backend: Agg' 'font.family: DejaVu Sans, WenQuanYi Micro Hei' 'axes.unicode_minus: False' \\
      >/etc/matplotlibrc \\
 && ln -s /usr/bin/python3 /usr/local/bin/python
ENV {settings}
WORKDIR /workspace
USER 1000:1000
"""
