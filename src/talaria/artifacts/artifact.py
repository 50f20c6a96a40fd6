"""An artifact: a file that somebody may download."""

import os

import msgspec

from talaria.core.ids import new_id
from talaria.journal.entries import ArtifactSaved
from talaria.ports.journal import Put

ARTIFACT = "artifact"
"""The kind of index rows. They hang on no session: their bytes must go before they do."""
NEVER = 2**53
"""`at` of the row of an artifact that does not expire."""


class Artifact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A file: `size` in bytes, times in ms, `digest` the SHA-256 of its bytes. `expires` 0: never.

    `charset` is that of text. `session` is the path of the session that it belongs to, if any.
    """

    id: str
    name: str
    media_type: str
    size: int
    created: int
    digest: str
    expires: int = 0
    charset: str = ""
    session: str = ""

    def handed_over(self, run: str, at: int, call_id: str) -> ArtifactSaved:
        """The entry of a call that handed it to the user."""
        return ArtifactSaved(
            run=run,
            at=at,
            call_id=call_id,
            artifact_id=self.id,
            name=self.name,
            media_type=self.media_type,
            size=self.size,
            url=self.url,
        )

    @property
    def url(self) -> str:
        """Where the server offers it."""
        return download_url(self.id)


def download_url(artifact_id: str) -> str:
    """Where the server offers an artifact."""
    return f"/ai-api/download/{artifact_id}"


def new_artifact_id() -> str:
    """An id with 128 random bits."""
    return f"{new_id('art')}{os.urandom(8).hex()}"


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Artifact).decode


def row_of(artifact: Artifact, scope: str) -> Put:
    """The index row of an artifact of this owner."""
    return Put(ARTIFACT, artifact.id, "", scope, artifact.expires or NEVER, _encode(artifact))


def artifact_of(row: Put) -> Artifact:
    """The inverse of `row_of`."""
    return _decode(row.data)
