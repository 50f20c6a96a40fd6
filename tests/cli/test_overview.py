"""What a server says of its policy and its approvals at its start."""

from typing import Any

import pytest

from talaria import tool
from talaria.cli.overview import overview
from talaria.runtime.catalog import load_catalog
from talaria.runtime.configure import read_settings
from talaria.runtime.sandboxes import Sandboxes, Site
from talaria.stores.memory.store import MemoryStore
from talaria.telemetry.metrics import Metrics
from talaria.testing.clock import FakeClock


@tool
def refund() -> str:
    """Refund an order."""
    return "refunded"


LOGIN = {"kind": "keys", "keys": [{"key": "key-of-bob", "user": "bob", "roles": ["boss"]}]}
RULES = [{"deny": "refund", "roles": ["guest"]}, {"ask": "refund"}, {"ask": "re*", "when": "agent == 'x'"}]


@pytest.mark.parametrize(
    ("config", "policy", "approvals"),
    [
        ({}, "off: policy.rules is empty: tools are allowed as they are declared", "off: no tool asks a person"),
        (
            {"policy": {"rules": RULES}},
            "on: rules: 1 that deny, 2 that ask",
            "on: policy.rules (2 that ask); the run's own user decides, within 300 s",
        ),
        (
            {"approval": {"requiredTools": ["re*"], "approvers": ["boss"], "notRequester": True}, "auth": LOGIN},
            "off: ",
            "on: refund; who has one of the roles boss decides, never about their own runs, within 300 s",
        ),
        (
            {"approval": {"requiredTools": ["refund"], "approvers": ["boss"]}},
            "off: ",
            "on: refund; nobody can decide: approval.approvers names roles, and without a login nobody has one",
        ),
    ],
)
def test_it_says_which_rules_there_are_and_who_decides(config: dict[str, Any], policy: str, approvals: str) -> None:
    lines = said(config, refund)
    assert lines["policy"].startswith(policy)
    assert lines["approvals"].startswith(approvals)


def test_it_says_which_databases_models_read_and_no_password() -> None:
    databases = {"sales": {"url": "sqlite:///x.db", "tables": ["orders", "t"]}, "hr": {"url": "sqlite:///hunter2.db"}}
    lines = said({"databases": databases})
    assert lines["databases"] == "on: read by models: sales: orders, t; hr: all tables"
    assert "query_database" in lines["tools"]
    assert "hunter2" not in "".join(lines.values())


def said(config: dict[str, Any], *tools: object) -> dict[str, str]:
    """What is said, by name."""
    settings = read_settings({"sandbox": {"kind": "none"}} | config, {})
    catalog, metrics, store = load_catalog(settings, [], tools), Metrics(), MemoryStore()
    sandboxes = Sandboxes(Site.of(settings), FakeClock(), metrics, store.journal)
    return {line.name: line.text for line in overview(settings, catalog, sandboxes, "http://x")}
