"""Log lines for people and for machines."""

import json

import pytest
import structlog

from talaria.telemetry.logs import set_up_logs


def test_json_lines_are_one_object_each_with_what_is_bound(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("json")
    with structlog.contextvars.bound_contextvars(run="run_1"):
        structlog.get_logger("a").info("happened", number=1)
        try:
            raise ValueError("no")
        except ValueError:
            structlog.get_logger("b").exception("failed")
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (first["event"], first["number"], first["run"], first["level"]) == ("happened", 1, "run_1", "info")
    assert "ValueError: no" in second["exception"]


def test_console_lines_show_no_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("console")
    try:
        local = "s3cret-value"
        raise ValueError(len(local))
    except ValueError:
        structlog.get_logger("c").exception("failed")
    shown = capsys.readouterr().err
    assert "ValueError: 12" in shown
    assert "s3cret-value = " not in shown
    assert "local = 's3cret" not in shown
