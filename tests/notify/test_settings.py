"""The configuration of notices: what is wrong is said at the start, and nothing secret is shown."""

from pathlib import Path
from typing import Any

import pytest

from talaria import Runtime
from talaria.core.errors import ConfigurationError
from talaria.runtime.configure import read_settings

GOOD = {"on": ["finish"], "url": "https://h.example/x?key=hidden-key", "secret": "hidden-secret"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "teams"}, r"notify\[0\].format"),
        ({"url": "ftp://hidden-key"}, "http or https"),
        ({"url": "hidden-key"}, "http or https"),
        ({"url": ["hidden-key"]}, r"notify\[0\].url"),
        ({"on": []}, r"notify\[0\].on"),
        ({"on": ["finished"]}, r"notify\[0\].on\[0\]"),
        ({"secret": ""}, "needs a secret"),
        ({"secret": "whsec_hidden!"}, "base64"),
        ({"secret": 123}, r"notify\[0\].secret"),
        ({"format": "slack"}, "signs nothing"),
        ({"format": "wecom"}, "signs nothing"),
        ({"agents": []}, r"notify\[0\].agents"),
        ({"approver": {"roles": ["boss"]}}, r"notify\[0\].approver.user"),
        ({"urls": "x"}, "did you mean"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        read_settings({"notify": [GOOD | change]}, {})
    assert "hidden" not in str(raised.value)
    assert "123" not in str(raised.value)


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com", "https://e.example/?a=1", "https://e.example/#a"])
def test_a_public_address_that_cannot_be_opened_is_none(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"server\.publicUrl"):
        read_settings({"server": {"publicUrl": url}}, {})


def test_a_slash_at_the_end_of_the_public_address_does_not_matter() -> None:
    assert (
        read_settings({"server": {"publicUrl": "https://e.example/a/"}}, {}).server.public_url == "https://e.example/a"
    )


def test_an_agent_that_there_is_not_ends_the_start() -> None:
    config = {"notify": [GOOD | {"agents": ["assistnt"]}], "store": {"url": "memory://"}}
    with pytest.raises(ConfigurationError, match=r"notify\[0\]\.agents\[0\].*'assistant'"):
        Runtime(config)


def test_an_approver_who_has_no_role_that_decides_ends_the_start() -> None:
    config = {"store": {"url": "memory://"}, "approval": {"approvers": ["boss", "lead"]}}
    with pytest.raises(ConfigurationError, match=r"notify\[0\]\.approver\.roles: .* \(boss, lead\)"):
        Runtime({**config, "notify": [GOOD | {"approver": {"user": "ann", "roles": ["led"]}}]})
    Runtime({**config, "notify": [GOOD | {"approver": {"user": "ann", "roles": ["lead"]}}]})


def test_an_address_stands_there_once() -> None:
    config = {"notify": [GOOD, GOOD | {"on": ["error"]}], "store": {"url": "memory://"}}
    with pytest.raises(ConfigurationError, match=r"notify\[1\] has the url of notify\[0\]"):
        Runtime(config)


def test_a_file_may_say_on_without_quotes(tmp_path: Path) -> None:
    file = tmp_path / "talaria.yaml"
    file.write_text("notify:\n  - on: [finish, error]\n    url: https://h.example\n    secret: s\n")
    assert read_settings(file, {}).notify[0].on == ["finish", "error"]


def test_settings_do_not_show_addresses_and_secrets() -> None:
    assert "hidden" not in repr(read_settings({"notify": [GOOD]}, {}))
