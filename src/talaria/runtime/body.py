"""What the bodies of requests have in common."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Body(BaseModel):
    """A request body: camelCase on the wire, unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, strict=True)
