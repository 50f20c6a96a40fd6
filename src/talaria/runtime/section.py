"""What the sections of the configuration have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Role = Annotated[str, Field(min_length=1)]
Identity = Annotated[str, Field(min_length=1, max_length=256)]


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)
