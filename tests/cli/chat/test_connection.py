"""The chat on a running server: connections that break, servers that die or do not answer."""

import re
import signal
from pathlib import Path

import pytest

from talaria.testing.steps import Step
from tests.cli.chat.shop import COLOUR, DONE, REFUND, shop
from tests.cli.chat.terminal import Terminal, chat
from tests.cli.process import ask, talaria

pytestmark = pytest.mark.service("tmux")
SLOW = Step(text=" ".join(f"word{number}" for number in range(40)), chunk=6, pace=0.05)


def test_a_turn_goes_on_after_its_server_was_killed_and_started_again(tmp_path: Path) -> None:
    with shop(tmp_path, SLOW) as config, talaria(tmp_path, config) as server:
        url = server.url()
        port = int(url.rpartition(":")[2])
        with chat(tmp_path, "--url", url) as terminal:
            terminal.type("Count")
            terminal.shows("word5")
            server.signal(signal.SIGKILL)
            server.wait()
            terminal.shows("connecting again")
            with talaria(tmp_path, config | {"server": {"port": port}}, "--port", str(port)):
                terminal.shows(" out\n›\n")
                screen = terminal.screen(whole=True)
    assert re.findall(r"word(\d+)", screen) == [str(number) for number in range(40)]


def test_a_second_ctrl_c_leaves_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with shop(tmp_path, SLOW) as config, talaria(tmp_path, config) as server:
        with chat(tmp_path, "--url", server.url()) as terminal:
            terminal.type("Count")
            terminal.shows("word5")
            server.signal(signal.SIGSTOP)
            terminal.keys("C-c")
            terminal.shows("Ctrl-C again leaves")
            terminal.keys("C-c")
            terminal.shows("ended with 0")
            assert terminal.errors == ""
        server.signal(signal.SIGCONT)


def test_a_question_that_somebody_else_answers_goes_away(tmp_path: Path) -> None:
    with (
        shop(tmp_path, REFUND, DONE) as config,
        talaria(tmp_path, config) as server,
        chat(tmp_path, "--url", server.url()) as terminal,
    ):
        terminal.type("Refund order 42")
        terminal.shows("Run it? [y]es")
        (question,) = ask(server.url(), "/ai-api/approvals").json["approvals"]
        ask(server.url(), "/ai-api/chat/approval", {"requestId": question["requestId"], "decision": "APPROVE"})
        screen = terminal.shows(" out\n›\n")
    assert "this question is settled" in screen
    assert "refunded 40 of 42" in screen


def test_a_server_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, 80, 20)
    terminal.start("--url", "http://127.0.0.1:1", environment={})
    try:
        terminal.shows("ended with 1")
        assert terminal.errors.startswith("talaria: no answer from http://127.0.0.1:1")
    finally:
        terminal.close()


def test_a_question_on_a_server_with_keys_is_answered_by_who_has_the_key(tmp_path: Path) -> None:
    auth = {"kind": "keys", "keys": [{"key": "alice-0123456789", "user": "alice"}]}
    with (
        shop(tmp_path, COLOUR, DONE, auth=auth) as config,
        talaria(tmp_path, config) as server,
        chat(tmp_path, "--url", server.url(), "--key", "alice-0123456789") as terminal,
    ):
        terminal.type("Paint it")
        terminal.shows("A number, or your own words")
        assert ask(server.url(), "/ai-api/approvals").status == 401
        terminal.type("1")
        screen = terminal.shows(" out\n›\n")
    assert "The user answered:\n    red\n" in screen
