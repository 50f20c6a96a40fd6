"""Attachments: files that a turn brings along, checked when it is admitted, and what its model gets of them."""

import base64
import secrets
from collections.abc import Sequence

import msgspec

from talaria.artifacts.artifact import Artifact
from talaria.artifacts.files import Files
from talaria.artifacts.names import distinct, safe_name
from talaria.core.errors import InvalidRequest, NotFound, Overloaded
from talaria.core.messages import File, Image, Message, UserMessage, UserPart
from talaria.core.principal import Principal
from talaria.core.text import valid_text
from talaria.core.untrusted import fenced, marks
from talaria.journal.letters import Attached
from talaria.ports.sandbox import WORKSPACE
from talaria.runtime.request import Attachment

PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
PICTURE_BYTES = 5 * 1024 * 1024
"""Bytes of one picture that a model is shown; providers take no more."""
ALL_PICTURE_BYTES = 15 * 1024 * 1024
"""Bytes of all pictures of one turn: they are sent again with every round."""
CHAR_BYTES = 4


class Handed(msgspec.Struct, frozen=True, gc=False):
    """What becomes of a turn's attachments: parts of its message, and marks of attack that are in their text."""

    parts: tuple[UserPart, ...] = ()
    marks: tuple[str, ...] = ()


class Attachments:
    """The attachments of all turns."""

    def __init__(self, files: Files) -> None:
        self._files = files

    async def admit(self, asked: Sequence[Attachment], owner: Principal, session: str) -> tuple[Attached, ...]:
        """Return what a request attaches; files that belong to no session yet belong to this one from here on.

        Raises:
            InvalidRequest: one of them is not there for this owner; it is named.
        """
        owner, admitted = Principal(owner.tenant, owner.user), list[Attached]()  # one person, also without a login
        for at, each in enumerate(asked):
            try:
                artifact = await self._files.find(owner, each.artifact_id)
            except NotFound as error:
                field = f"attachments[{at}].artifactId"
                raise InvalidRequest(
                    f"{field}: {error.message}", ({"field": field, "message": error.message},)
                ) from None
            await self._files.give(owner, artifact, session)
            admitted.append(Attached(artifact.id, safe_name(each.name or artifact.name)))
        return tuple(admitted)

    async def handed(
        self, attached: Sequence[Attached], owner: Principal, earlier: Sequence[Message], *, placed: bool, limit: int
    ) -> Handed:
        """Return what a turn's message gets of its attachments.

        `placed`: they will lie in the workspace, under names that no attachment of `earlier` has. `limit`: characters
        of a text that the model gets where they do not.
        """
        owner, parts, found = Principal(owner.tenant, owner.user), list[UserPart](), list[str]()
        taken, room = _names(earlier), ALL_PICTURE_BYTES
        for each in attached:
            name = distinct(each.name, taken)
            taken.add(name)
            place = f"{WORKSPACE}/{name}" if placed else ""
            part = await self._part(owner, Attached(each.artifact_id, name), place, room, limit)
            if isinstance(part, Image):
                room -= len(part.data) * 3 // 4
            elif part.text:
                found += [f"{name}: {mark}" for mark in marks(part.text)]
            parts.append(part)
        return Handed(tuple(parts), tuple(found))

    async def _part(self, owner: Principal, each: Attached, place: str, room: int, limit: int) -> Image | File:
        name, blob = each.name, each.artifact_id
        try:
            artifact = await self._files.find(owner, blob)
            kind = artifact.media_type
            if kind in PICTURES and artifact.size <= min(PICTURE_BYTES, room):
                data = base64.b64encode(await self._files.whole(artifact, PICTURE_BYTES)).decode()
                return Image(kind, data, blob, name, place)
            text = await self._text(artifact, name, limit) if artifact.charset and not place else ""
            return File(name, kind, text, blob, place)
        except NotFound:
            return File(
                name, text="[This file has expired. If you need it, ask the user to attach it again.]", blob=blob
            )
        except Overloaded as error:
            return File(name, text=f"[This file cannot be read now: {error.message}.]", blob=blob, place=place)

    async def _text(self, artifact: Artifact, name: str, limit: int) -> str:
        data = await self._files.whole(artifact, limit * CHAR_BYTES)
        text = valid_text(data.decode(artifact.charset, "replace"))
        if len(text) > limit or len(data) < artifact.size:
            text = f"{text[:limit]}\n[… the rest is not shown; the file has {artifact.size} bytes …]"
        return fenced(text, f"the file {name}", secrets.token_hex(8), marks(text))


def _names(messages: Sequence[Message]) -> set[str]:
    """The names that attachments have had so far."""
    said = [part for message in messages if isinstance(message, UserMessage) for part in message.parts]
    return {part.name for part in said if isinstance(part, (Image, File)) and part.name}
