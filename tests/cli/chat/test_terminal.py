"""The chat in a real terminal: turns, approvals, Ctrl-C, commands, old sessions."""

import re
import stat
from pathlib import Path

import pytest

from talaria.testing.steps import Step
from tests.cli.chat.shop import COLOUR, DONE, REFUND, shop
from tests.cli.chat.terminal import Terminal, chat

pytestmark = pytest.mark.service("tmux")
MARKDOWN = "# Order 42\n\nIt is **open**:\n\n| item | price |\n| --- | --- |\n| 茶壶 | 40 |\n\n- one\n- two\n"
ENDLESS = Step(text="word " * 400, chunk=5, pace=0.05)
LONG = Step(text="\n\n".join(f"Paragraph {number}." for number in range(60)), chunk=40, pace=0.01)


def asked(terminal: Terminal) -> None:
    terminal.type("Refund order 42")
    terminal.shows("Run it? [y]es")


def ended_turn(terminal: Terminal) -> str:
    """Wait for the end of a turn: its figures, and a new prompt."""
    terminal.shows(" out\n›\n")
    return terminal.screen()


def test_markdown_is_drawn_and_reasoning_folded(tmp_path: Path) -> None:
    said = Step(text=MARKDOWN, reasoning="What is order 42?", pace=0.01)
    with shop(tmp_path, said), chat(tmp_path) as terminal:
        terminal.type("What about order 42?")
        screen = ended_turn(terminal)
        terminal.type("/reasoning")
        terminal.shows("What is order 42?")
    assert "**" not in screen
    assert "| --- |" not in screen
    assert re.search(r"茶壶 +40", screen)
    assert " • one\n • two\n" in screen
    assert re.search(r"▸ thought.* · 17 characters", screen)
    assert "What is order 42?" not in screen
    assert screen.count("It is open") == 1


def test_a_yes_runs_the_call(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE), chat(tmp_path) as terminal:
        asked(terminal)
        assert '"amount": 40' in terminal.screen()
        terminal.keys("y")
        screen = ended_turn(terminal)
    assert '● refund order_id="42", amount=40\n  approved\n' in screen
    assert "refunded 40 of 42" in screen
    assert "All done." in screen
    assert "Run it?" not in screen


def test_a_no_and_its_reason_are_told_to_the_model(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE), chat(tmp_path) as terminal:
        asked(terminal)
        terminal.keys("n")
        terminal.shows("Why not?")
        terminal.type("too much")
        screen = ended_turn(terminal)
    assert "  declined\n" in screen
    assert "They said: too much" in screen


def test_arguments_are_edited_in_the_persons_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/40/10/' \"$1\"\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    with shop(tmp_path, REFUND, DONE), chat(tmp_path, EDITOR=str(editor)) as terminal:
        asked(terminal)
        terminal.keys("e")
        screen = ended_turn(terminal)
    assert "approved, with other arguments" in screen
    assert "refunded 10 of 42" in screen


def test_without_an_editor_arguments_are_edited_in_place_until_they_fit(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE), chat(tmp_path) as terminal:
        asked(terminal)
        terminal.keys("e")
        terminal.shows("arguments: {")
        terminal.keys("C-u")
        terminal.type('{"order_id": "42", "amount": "many"}')
        terminal.shows("(422)")
        terminal.shows("Run it? [y]es")
        terminal.keys("e")
        terminal.shows('arguments: {   "order_id": "42",   "amount": 40 }')
        terminal.keys("C-u")
        terminal.type('{"order_id": "42", "amount": 5}')
        screen = ended_turn(terminal)
    assert "refunded 5 of 42" in screen


def test_a_yes_for_the_session_is_not_asked_again(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE), chat(tmp_path) as terminal:
        asked(terminal)
        terminal.keys("s")
        ended_turn(terminal)
        terminal.type("And again")
        terminal.shows("And again")
        ended_turn(terminal)
        screen = terminal.screen()
    assert screen.count("refunded 40 of 42") == 2
    assert "wants to run" in screen.split("And again")[0]
    assert "wants to run" not in screen.split("And again")[1]


def test_ctrl_c_cancels_a_turn_and_the_chat_goes_on(tmp_path: Path) -> None:
    with shop(tmp_path, ENDLESS), chat(tmp_path) as terminal:
        terminal.type("Talk")
        terminal.shows("word word")
        terminal.keys("C-c")
        terminal.shows("■ cancelled")
        terminal.shows("\n›\n")
        terminal.type("/quit")
        assert "ended with 0" in terminal.shows("ended with")
        assert terminal.errors == ""


def test_ctrl_c_at_a_question_cancels_the_turn(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE), chat(tmp_path) as terminal:
        asked(terminal)
        terminal.keys("C-c")
        screen = terminal.shows("■ cancelled")
    assert "refunded" not in screen


def test_ctrl_c_at_the_prompt_leaves_when_it_is_pressed_again(tmp_path: Path) -> None:
    with shop(tmp_path, DONE), chat(tmp_path) as terminal:
        terminal.keys("C-c")
        terminal.shows("Ctrl-C again leaves")
        terminal.shows("leaves\n›\n")
        terminal.keys("C-c")
        terminal.shows("ended with 0")


def test_a_model_is_chosen_with_completion(tmp_path: Path) -> None:
    agents = [{"name": "shop", "model": "model-of-the-shop"}]
    with shop(tmp_path, DONE, agents=agents), chat(tmp_path) as terminal:
        terminal.keys("/mod")
        terminal.shows("show the models, or choose one")
        terminal.keys("Tab", "Space", "model-o")
        terminal.shows("   model-of-the-shop")
        terminal.keys("Tab", "Enter")
        terminal.shows("model: model-of-the-shop")
        terminal.type("/model none-such")
        terminal.type("/model")
        screen = terminal.shows("model: none-such\n›\n")
        terminal.type("/think on")
        terminal.shows("thinking: enabled")
        terminal.type("/tools look_up")
        terminal.shows("turns may use: look_up")
        terminal.type("/tols")
        terminal.shows("did you mean /tools?")
        terminal.type("/help")
        terminal.shows("go on with an old session")
    assert "model-of-the-shop" in screen


def test_an_old_session_is_resumed_in_a_new_process(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE):
        with chat(tmp_path, "--session", "monday") as terminal:
            terminal.shows("a new session, monday")
            asked(terminal)
            terminal.keys("y")
            ended_turn(terminal)
            terminal.keys("C-d")
            terminal.shows("ended with 0")
        with chat(tmp_path) as terminal:
            terminal.type("/sessions")
            terminal.shows("Refund order 42 · 1 turn")
            terminal.keys("/resume mon")
            terminal.shows("   monday")
            terminal.keys("Tab", "Enter")
            screen = terminal.shows("session monday\n›\n")
            terminal.keys("Up", "Up", "Up")
            terminal.shows("\n› Refund order 42")
    past = screen.split("/resume monday")[1]
    assert "› Refund order 42" in past
    assert "● refund" in past
    assert "refunded 40 of 42" in past
    assert "All done." in past


def test_a_question_that_was_left_open_is_asked_when_its_session_is_resumed(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE):
        with chat(tmp_path, "--session", "s") as terminal:
            asked(terminal)
        with chat(tmp_path) as terminal:
            terminal.type("/resume")
            terminal.shows("Run it? [y]es")
            terminal.keys("y")
            screen = ended_turn(terminal)
    assert "refunded 40 of 42" in screen


def test_a_long_answer_is_whole_and_once_in_the_scrollback(tmp_path: Path) -> None:
    with shop(tmp_path, LONG), chat(tmp_path, height=15) as terminal:
        terminal.type("Tell me all")
        ended_turn(terminal)
        screen = terminal.screen(whole=True)
    assert [int(number) for number in re.findall(r"Paragraph (\d+)\.", screen)] == list(range(60))


def test_a_window_may_be_resized_while_text_streams(tmp_path: Path) -> None:
    said = Step(text="这是一个很长的句子，里面有很多中文字符。" * 12, chunk=4, pace=0.03)
    with shop(tmp_path, said), chat(tmp_path, width=100, height=30) as terminal:
        terminal.type("Say something long")
        terminal.shows("很长的句子")
        terminal.resize(50, 30)
        terminal.shows("Ctrl-C cancels")
        terminal.resize(90, 30)
        ended_turn(terminal)
        screen = terminal.screen(whole=True)
    assert "".join(screen.split()).count("这是一个很长的句子") == 12
    assert "Ctrl-C cancels" not in screen


def test_nothing_that_is_said_can_steer_the_terminal(tmp_path: Path) -> None:
    said = Step(text="before\x1b]0;owned\x07\x1b[2J\x1b[31mafter")
    with shop(tmp_path, said), chat(tmp_path) as terminal:
        terminal.type("Go")
        screen = ended_turn(terminal)
    assert "before]0;owned[2J[31mafter" in screen


def test_colours_are_left_out_where_they_are_not_wanted(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE), chat(tmp_path, NO_COLOR="1") as terminal:
        asked(terminal)
        terminal.keys("y")
        ended_turn(terminal)
        screen = terminal.screen(colours=True)
    assert re.findall(r"\x1b\[(?:\d+;)*(?:[34][0-8]|9\d)(?:;|m)", screen) == []


@pytest.mark.parametrize(("typed", "result"), [("2", "blue"), ("green, please", "green, please")])
def test_a_question_of_the_model_is_answered_with_a_choice_or_in_own_words(
    tmp_path: Path, typed: str, result: str
) -> None:
    with shop(tmp_path, COLOUR, DONE), chat(tmp_path) as terminal:
        terminal.type("Paint it")
        terminal.shows("A number, or your own words (Enter: no answer)")
        assert "? Which colour?\n  1  red\n  2  blue\n" in terminal.screen()
        terminal.type(typed)
        screen = ended_turn(terminal)
    assert f"The user answered:\n    {result}\n" in screen
    assert "All done." in screen


def test_an_empty_line_says_that_there_is_no_answer(tmp_path: Path) -> None:
    with shop(tmp_path, COLOUR, DONE), chat(tmp_path) as terminal:
        terminal.type("Paint it")
        terminal.shows("A number, or your own words")
        terminal.keys("Enter")
        screen = ended_turn(terminal)
    assert "the user does not want to answer" in " ".join(screen.split())
