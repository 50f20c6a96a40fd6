"""What `talaria demo` may be told, and which model it uses."""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

QUERY: Final = "Generate yesterday's operations report."
REPORT: Final = "report.md"
_SCRIPTED_MODEL: Final = "scripted-analyst"
_REAL_MODEL: Final = "gpt-5-mini"


class ModelChoice(msgspec.Struct, frozen=True, gc=False):
    """The model: its name, and where it is; no `base_url` means the scripted one, which the demo starts itself."""

    name: str
    base_url: str = ""

    @property
    def is_scripted(self) -> bool:
        """Whether it is Talaria's scripted model."""
        return not self.base_url


class Options(msgspec.Struct, frozen=True, gc=False):
    """How to run. `lost_page`: which page the services lose, 0 for none. `limit`: seconds for all of it."""

    out: Path
    zone: ZoneInfo
    seed: int
    query: str
    lost_page: int
    model: ModelChoice

    @property
    def limit(self) -> float:
        """How many seconds it all may take."""
        return 60 if self.model.is_scripted else 300


def read_options(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> Options:
    """Read the command line and the environment."""
    given = _parser().parse_args(arguments)
    out: Path = given.out
    return Options(
        out=out / REPORT if out.is_dir() else out,
        zone=given.timezone,
        seed=given.seed,
        query=given.query,
        lost_page=given.lose_page,
        model=ModelChoice(_SCRIPTED_MODEL) if given.scripted else _model(environ),
    )


def _model(environ: Mapping[str, str]) -> ModelChoice:
    if not environ.get("OPENAI_API_KEY"):
        return ModelChoice(_SCRIPTED_MODEL)
    base_url = environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    return ModelChoice(environ.get("TALARIA_DEMO_MODEL") or _REAL_MODEL, base_url)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="talaria demo",
        description="An agent writes yesterday's operations report from two services, and the report is checked.",
        epilog="With OPENAI_API_KEY (and OPENAI_BASE_URL, TALARIA_DEMO_MODEL) it uses that model, else a scripted one.",
    )
    parser.add_argument("--out", type=Path, default=Path(REPORT), help="the file for the report, or a folder for it")
    parser.add_argument("--timezone", type=ZoneInfo, default=ZoneInfo("Asia/Shanghai"), help="default: Asia/Shanghai")
    parser.add_argument("--seed", type=int, default=7, help="of the day's data")
    parser.add_argument("--query", default=QUERY, help=f"what is asked; default: {QUERY}")
    parser.add_argument("--scripted", action="store_true", help="use the scripted model although there is a key")
    parser.add_argument(
        "--lose-page", type=int, default=0, metavar="N", help="let the services lose page N, to see the checks fail"
    )
    return parser
