"""Known secrets are masked in every form in which they come back, and nothing else is."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.redaction import MASK, Redactor, too_short

KEY = "sk-LIVE-" + "abc123XYZ"
PASSWORD = "p@ss w0rd/+="
FIELD = Redactor({"token": KEY, "password": PASSWORD})

TEXTS = [
    f"MCP_API_KEY={KEY} rejected",
    "https://u:p%40ss%20w0rd%2F%2B%3D@db.test/x",
    f"GET https://api.test/v1?key={KEY}&x=1 -> 403",
    json.dumps({"headers": {"X-Token": KEY}}),
    "c2stTElWRS1hYmMxMjNYWVo= (base64)",
    "Authorization: Basic dTpwQHNzIHcwcmQvKz0=",
    f"env dump: OPENAI_API_KEY='{KEY}'",
    f"REPR {KEY!r} {PASSWORD!r}",
    quote_plus(PASSWORD),
    quote(PASSWORD),
    "p%40ss%20w0rd%2f%2b%3d",
    base64.urlsafe_b64encode(b"?>~" + PASSWORD.encode()).decode(),
    KEY.encode().hex(),
    KEY.upper(),
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_secret_is_masked_in_every_form(text: str) -> None:
    masked = FIELD.mask(text)
    assert MASK in masked
    for form in (KEY, PASSWORD, "abc123", "p%40ss", "p@ss", "LIVE", "c2stTElWRS1", "QHNzIHcwcmQ"):
        assert form.lower() not in masked.lower()


def test_what_looks_like_a_secret_and_is_none_stays() -> None:
    for text in ("sk-learn and a token count", "p@ss", "LIVE", "abc123", "c2stbGVhcm4="):
        assert FIELD.mask(text) == text


def test_short_values_cannot_be_masked_and_are_named() -> None:
    redactor = Redactor({"pin": "1234", "none": "", "key": "123456"})
    assert too_short({"pin": "1234", "none": "", "key": "123456"}) == ("pin",)
    assert redactor.mask("1234 123456") == f"1234 {MASK}"


def test_nothing_to_mask_changes_nothing() -> None:
    redactor = Redactor({})
    assert not redactor
    assert redactor.mask("anything") == "anything"
    assert redactor.longest == 0


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    assert Redactor({"a": "secret", "b": "secret-and-more"}).mask("x secret-and-more y") == f"x {MASK} y"


secrets = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=6, max_size=20)


@given(secrets, st.binary(max_size=5), st.binary(max_size=5))
def test_any_secret_is_masked_within_other_text(secret: str, before: bytes, after: bytes) -> None:
    redactor = Redactor({"secret": secret})
    assert secret not in redactor.mask(f"> {secret} <")
    encoded = base64.b64encode(before + secret.encode() + after).decode()
    assert MASK in redactor.mask(encoded)
    assert MASK in redactor.mask(quote(secret, safe=""))
    assert MASK in redactor.mask(json.dumps(secret))


@given(st.lists(st.sampled_from(["secret", "-and-", "more", "sec", "ret", "x", "SECRET-and-more", " "]), max_size=12))
def test_a_text_in_pieces_is_masked_like_the_whole(pieces: list[str]) -> None:
    redactor, said, held = Redactor({"a": "secret", "b": "secret-and-more"}), "", ""
    for piece in pieces:
        more, held = redactor.split(held + piece)
        said += more
        assert len(held) < redactor.longest
    assert said + redactor.mask(held) == redactor.mask("".join(pieces))
