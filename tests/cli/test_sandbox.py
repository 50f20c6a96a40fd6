"""`talaria sandbox build`: its words, and that it does nothing twice."""

import asyncio

import pytest

from talaria.cli.main import main
from talaria.sandbox.docker.load import image_recipe


def test_a_dockerfile_for_the_same_system_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "build", "--dockerfile"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("FROM debian:")
    assert {"      python3-pandas \\", "USER 1000:1000", "WORKDIR /workspace"} <= set(lines)


def test_a_suite_that_no_source_has_ends_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "build", "--suite", "no-such-suite"]) == 1
    assert "--mirror URL" in capsys.readouterr().err


@pytest.mark.service("docker")
def test_an_image_that_is_up_to_date_is_not_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    made = asyncio.run(image_recipe("talaria-sandbox"))
    assert made is not None
    suite = made.rsplit("-", 1)[0]

    arguments = ["sandbox", "build", "--kind", "docker", "--suite", suite, "--mirror", "http://127.0.0.1:9"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "the image talaria-sandbox is up to date\n"
