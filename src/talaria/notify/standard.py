"""Format `json`: for programs, signed as Standard Webhooks 1.0.0 says.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: the content to be signed is
`{id}.{timestamp}.{body}`; the id is the same at every try, the timestamp (seconds) is that of the try; a secret is
base64 behind `whsec_`. A secret without that prefix is taken as it is.
"""

import base64
import hmac
from typing import Any

import msgspec

from talaria.journal.views import iso_time
from talaria.notify.notice import LONGEST, Notice, cut
from talaria.notify.post import JSON, Format, Post
from talaria.notify.target import Target

PREFIX = "whsec_"


def make(target: Target, notice: Notice, now: int) -> Post:
    """The request."""
    document = {"type": notice.row.event, "timestamp": iso_time(notice.row.at), "data": _data(notice)}
    body, seconds = msgspec.json.encode(document), str(now // 1000)
    content = b".".join((notice.id.encode(), seconds.encode(), body))
    signature = base64.b64encode(hmac.digest(secret_key(target.secret), content, "sha256")).decode()
    signed = (("webhook-id", notice.id), ("webhook-timestamp", seconds), ("webhook-signature", f"v1,{signature}"))
    return Post(target.url, (JSON, *signed), body)


def secret_key(secret: str) -> bytes:
    """The key of a secret.

    Raises:
        ValueError: what stands behind `whsec_` is not base64.
    """
    if not secret.startswith(PREFIX):
        return secret.encode()
    return base64.b64decode(secret[len(PREFIX) :], validate=True)


def _data(notice: Notice) -> dict[str, Any]:
    row, key = notice.row, notice.key
    data: dict[str, Any] = {"runId": row.run, "sessionId": key.session, "userId": key.user, "tenant": key.tenant}
    data["agent"] = row.agent
    if notice.asked is None:
        usage = {"inputTokens": row.usage.input_tokens, "outputTokens": row.usage.output_tokens}
        return data | {"reason": row.reason, "usage": usage} | ({"message": row.message} if row.message else {})
    asked = notice.asked
    call = {"id": asked.call_id, "name": asked.tool, "arguments": cut(asked.arguments, LONGEST)}
    data |= {"requestId": row.request_id, "toolCalls": [call], "expiresAt": iso_time(asked.expires_at)}
    return data | ({"url": notice.link} if notice.link else {})


FORMAT = Format(make)
