"""What the sections of the configuration have in common."""

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Role = Annotated[str, Field(min_length=1)]
Identity = Annotated[str, Field(min_length=1, max_length=256)]
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def _bytes(value: object) -> object:
    """512m, 1g: as Docker writes them."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"([0-9]{1,12})([kmgt]?)b?", value.strip().lower())
    if match is None:
        raise ValueError(f"'{value[:40]}' is no number of bytes; write it like 512m or 1g")
    return int(match[1]) * _UNITS.get(match[2], 1)


Bytes = Annotated[int, Field(ge=1), BeforeValidator(_bytes)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)
