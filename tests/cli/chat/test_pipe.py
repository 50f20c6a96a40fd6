"""The chat without a terminal: text in, text out, an exit code."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from talaria.testing.steps import Step
from tests.cli.chat.shop import COLOUR, DONE, REFUND, shop
from tests.cli.process import talaria

MARKDOWN = "# Order 42\n\nIt is **open**: 茶壶\n"


def pipe(folder: Path, text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", "talaria", "chat", *arguments)
    environment = os.environ | {"XDG_STATE_HOME": str(folder / "state"), "PYTHONUTF8": "1"}
    return subprocess.run(
        command, cwd=folder, input=text, capture_output=True, text=True, check=False, timeout=50, env=environment
    )


def test_the_answer_is_written_as_the_model_wrote_it(tmp_path: Path) -> None:
    with shop(tmp_path, Step(text=MARKDOWN, reasoning="Hm.")):
        result = pipe(tmp_path, "What about order 42?\n")
    assert (result.returncode, result.stdout, result.stderr) == (0, MARKDOWN, "")


def test_calls_that_need_a_person_are_declined(tmp_path: Path) -> None:
    with shop(tmp_path, REFUND, DONE):
        result = pipe(tmp_path, "Refund order 42")
    assert (result.returncode, result.stdout) == (0, "I refund it.\nAll **done**.\n")
    assert result.stderr == "talaria: declined refund: nobody is at a terminal to ask\n"


def test_a_broken_model_stream_is_said_once(tmp_path: Path) -> None:
    half = Step(text="The answer is forty-two.", chunk=4, cut_after=4)
    with shop(tmp_path, half):
        result = pipe(tmp_path, "What is the answer?")
    assert result.returncode == 1
    assert result.stdout.count("The") <= 1


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step(text="Too lon", finish="length"), "the model's limit"),
        (Step(status=400, body={"error": {"message": "no"}}), "talaria: "),
    ],
    ids=["length", "error"],
)
def test_an_end_that_is_no_answer_is_an_exit_code_of_1(tmp_path: Path, step: Step, said: str) -> None:
    with shop(tmp_path, step):
        result = pipe(tmp_path, "Go")
    assert result.returncode == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_bad_request_and_a_bad_configuration_are_told_apart(tmp_path: Path) -> None:
    with shop(tmp_path, DONE):
        unknown = pipe(tmp_path, "Go", "--agent", "nobody")
        (tmp_path / "bad.yaml").write_text("sever: {}")
        bad = pipe(tmp_path, "Go", "--config", "bad.yaml")
    assert (unknown.returncode, bad.returncode) == (1, 2)
    assert "nobody" in unknown.stderr
    assert "did you mean 'server'" in bad.stderr


def test_the_server_does_not_load_what_only_the_chat_draws_with() -> None:
    drawn_with = {"rich.markdown", "markdown_it", "prompt_toolkit"}
    code = f"import sys, talaria.cli.main, talaria.cli.serve; print({drawn_with} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
    assert result.stdout == "set()\n"


def test_a_question_of_the_model_is_declined(tmp_path: Path) -> None:
    with shop(tmp_path, COLOUR, DONE):
        result = pipe(tmp_path, "Paint it")
    assert (result.returncode, result.stdout) == (0, "Let me ask.\nAll **done**.\n")
    assert result.stderr == "talaria: declined a question: nobody is at a terminal to ask\n"


@pytest.mark.parametrize("own", [True, False], ids=["its own server", "a running server"])
def test_a_server_with_keys_takes_the_key_that_is_given_and_nothing_else(tmp_path: Path, own: bool) -> None:
    auth = {"kind": "keys", "keys": [{"key": "alice-0123456789", "user": "alice"}]}
    with shop(tmp_path, DONE, auth=auth) as config, ExitStack() as stack:
        server = () if own else ("--url", stack.enter_context(talaria(tmp_path, config)).url())
        known = pipe(tmp_path, "Go", *server, "--key", "alice-0123456789")
        wrong, none = pipe(tmp_path, "Go", *server, "--key", "bob-0123456789"), pipe(tmp_path, "Go", *server)
    assert (known.returncode, known.stdout, known.stderr) == (0, "All **done**.\n", "")
    for each in (wrong, none):
        assert (each.returncode, each.stdout) == (1, "")
        assert "(401)" in each.stderr
        assert "0123456789" not in each.stderr
