"""Types for the parameters of tools: what they take, what they refuse, and what the model is told."""

import pytest

from talaria import tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.arguments import bind, parse_arguments
from talaria.tools.errors import ArgumentsInvalid
from talaria.types import PublicUrl, WorkspacePath
from tests.runtime.world import told, world


@tool
def fetch(url: PublicUrl, into: WorkspacePath = "page.html") -> str:
    """Fetch a page."""
    return f"{url} in {into}"


def taken(**arguments: str) -> bool:
    try:
        bind(fetch, arguments)
    except ArgumentsInvalid:
        return False
    return True


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a?b=c#d",
        "http://8.8.8.8:8080/",
        "https://[2606:4700:4700::1111]/",
        "https://xn--bcher-kva.example.org",
        "https://example.com./",
        "http://[::ffff:8.8.8.8]/",
        "http://[64:ff9b::808:808]/",
    ],
)
def test_public_addresses_are_taken(url: str) -> None:
    assert taken(url=url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com",
        "file:///etc/passwd",
        "example.com",
        "https://",
        "https://user:pass@example.com",
        "https://@example.com",
        "http://localhost/",
        "http://a.localhost./",
        "http://printer/",
        "http://db.internal",
        "http://127.0.0.1",
        "http://127.1",
        "http://2130706433",
        "http://0177.0.0.1",
        "http://0x7f.0.0.1",
        "http://0x7f000001",
        "http://127.0.0.1.",
        "http://10.0.0.8",
        "http://192.168.1.1",
        "http://172.16.0.1",
        "http://169.254.169.254/latest/meta-data",
        "http://100.64.0.1",
        "http://0.0.0.0",
        "http://224.0.0.1",
        "http://255.255.255.255",
        "http://[::1]",
        "http://[::]",
        "http://[fe80::1%25eth0]",
        "http://[fe80::1%eth0]",
        "http://[fc00::1]",
        "http://[ff02::1]",
        "http://[::ffff:127.0.0.1]",
        "http://[::127.0.0.1]",
        "http://[64:ff9b::7f00:1]",
        "http://[64:ff9b:1::a00:1]",
        "http://[2002:7f00:1::]",
        "http://１２７.0.0.1",
        "http://127。0。0。1",
        "http://%31%32%37.0.0.1",
        "http://example.com\\@127.0.0.1",
        "http://exa mple.com",
        "http://example.com\r\nHost: x",
        "http://example.com:99999",
        "http://a..example.com",
    ],
)
def test_private_and_odd_addresses_are_refused(url: str) -> None:
    assert not taken(url=url)


@pytest.mark.parametrize(
    "path", ["a.txt", "src/a b/ü.py", ".hidden", "a/./b", "console.log", "..a", "a/...", "com.txt"]
)
def test_paths_inside_are_taken(path: str) -> None:
    assert taken(url="https://example.com", into=path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "~/x",
        "C:/x",
        "c:x",
        "\\\\host\\x",
        "a\\..\\b",
        "..",
        "../x",
        "a/../../x",
        "a/.. /x",
        "a\0b",
        "a\nb",
        "nul",
        "NUL.txt",
        "a/COM1",
        "aux .c",
        "file:stream",
    ],
)
def test_paths_that_lead_out_are_refused(path: str) -> None:
    assert not taken(url="https://example.com", into=path)


def test_the_model_sees_what_is_wanted_and_is_told_what_is_wrong() -> None:
    url = fetch.parameters["properties"]["url"]
    assert (url["type"], url["format"], url["description"][:8]) == ("string", "uri", "A public")
    with pytest.raises(ArgumentsInvalid, match=r"url: .*private, local or reserved address"):
        bind(fetch, parse_arguments(fetch, '{"url": "http://127.0.0.1"}'))


async def test_a_call_with_a_private_address_does_not_run() -> None:
    model = ScriptedModel(Say(calls=(Call("fetch", {"url": "http://[::1]/"}),)), Say("Sorry."))
    async with world(model, tools=[fetch]) as here:
        events = await here.ask()
        assert "ToolStarted" not in await here.tales()
    assert any("only public ones are allowed" in line for line in told(events))
