"""Tools that a request brings: what is on record of them. Their keys are secrets, and kept apart."""

from typing import Any, Literal

import msgspec

SECRETS = "externalTools."
"""Begins the names of their secrets among those of a run."""


class ExternalTool(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A tool whose calls are run elsewhere: by a Dify app, by an HTTP endpoint, or by the caller (`client`).

    `parameters` is a JSON Schema. `url`: Dify's base URL, or the endpoint. `headers` are those that anybody may see,
    `secret_headers` the names of the others. `app` and `streaming` are Dify's.
    """

    platform: Literal["dify", "http", "client"]
    name: str
    description: str
    parameters: dict[str, Any]
    url: str = ""
    method: str = ""
    headers: dict[str, str] = {}
    secret_headers: tuple[str, ...] = ()
    app: Literal["workflow", "chat"] = "workflow"
    streaming: bool = True

    def secret(self, name: str) -> str:
        """The name of one of its secrets among those of the run."""
        return f"{SECRETS}{self.name}.{name}"


def split_secrets(secrets: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Part a run's secrets: those that its tools are handed, and those that belong to a tool which was brought."""
    kept = {name: value for name, value in secrets.items() if name.startswith(SECRETS)}
    return {name: value for name, value in secrets.items() if name not in kept}, kept
