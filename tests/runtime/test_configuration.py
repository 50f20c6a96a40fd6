"""What the configuration says, where it comes from, and what is told about a wrong one."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from talaria import Agent, Runtime, tool
from talaria.core.errors import ConfigurationError, InvalidRequest
from talaria.runtime.catalog import Catalog, load_catalog
from talaria.runtime.clock import SystemClock
from talaria.runtime.configure import read_settings
from talaria.runtime.plan import make_plan
from talaria.runtime.routes import make_routes
from talaria.runtime.settings import Settings
from talaria.testing.clock import FakeClock

MODEL: dict[str, Any] = {
    "prefix": "gpt",
    "baseUrl": "https://x.test/v1/",
    "apiKey": "${KEY:-none}",
    "price": {"input": 1},
}


def read(text: str, tmp_path: Path, **environ: str) -> Settings:
    path = tmp_path / "talaria.yaml"
    path.write_text(text)
    return read_settings(path, environ)


def test_without_a_file_everything_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = read_settings(None, {})
    assert settings == Settings()
    assert (settings.server.port, settings.limits.max_rounds, settings.approval.timeout) == (8000, 25, 300)
    assert read_settings(settings) is settings


def test_the_environment_fills_in_and_lays_over(tmp_path: Path) -> None:
    text = "server: {port: 9000}\ndefaultModel: ${MODEL}\nprompt: {file: '${FILE:-p.txt}'}\n"
    settings = read(
        text,
        tmp_path,
        MODEL="gpt-x",
        TALARIA_SERVER__MAX_RUNS="7",
        TALARIA_LIMITS__TOOLTIMEOUT="1.5",
        TALARIA_CONFIG_DIR="x",
    )
    assert (settings.server.port, settings.server.max_runs) == (9000, 7)
    assert (settings.default_model, settings.prompt.file, settings.limits.tool_timeout) == ("gpt-x", "p.txt", 1.5)


@pytest.mark.parametrize(
    ("text", "environ", "message"),
    [
        ("server: {prot: 1}", {}, "server.prot: there is no such key; did you mean 'port'?"),
        ("models: [{prefix: a, base: b}]", {}, r"models\[0\]\.base: there is no such key"),
        ("server: {port: many}", {}, "server.port: .*many"),
        ("server: {port: 99999}", {}, "server.port"),
        (
            "x: ${NOWHERE}",
            {},
            r"x: the environment variable NOWHERE is not set; set it, or write \$\{NOWHERE:-\} for none",
        ),
        ("models: ['${NOWHERE}']", {}, r"models\[0\]: the environment variable NOWHERE"),
        ("- a list", {}, "must hold keys and values"),
        ("a: [", {}, "is not valid YAML"),
        ("", {"TALARIA_SERVER__PROT": "1"}, "TALARIA_SERVER__PROT: there is no key 'PROT'; did you mean 'port'?"),
        ("models: []", {"TALARIA_MODELS__0": "x"}, "TALARIA_MODELS__0: "),
        ("", {"TALARIA_SERVER__HOST": "[::1"}, "TALARIA_SERVER__HOST: its value is not valid YAML"),
    ],
)
def test_a_wrong_key_or_value_is_named(text: str, environ: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(text, tmp_path, **environ)
    assert re.search(message, refused.value.message), refused.value.message


def test_a_key_is_never_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read("models: [{prefix: a, baseUrl: b, apiKey: [s3cret-value]}]", tmp_path)
    assert "s3cret" not in refused.value.message
    assert "s3cret" not in repr(read_settings({"models": [MODEL | {"apiKey": "s3cret-value"}]}, {}))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere\.yaml"):
        read_settings("nowhere.yaml", {})


def test_a_time_zone_that_is_not_known_is_named() -> None:
    assert SystemClock("Asia/Shanghai").now() > 1_700_000_000_000
    with pytest.raises(ConfigurationError, match="Mars/Olympus"):
        SystemClock("Mars/Olympus")


def test_routes_come_from_the_settings() -> None:
    (route,) = make_routes(read_settings({"models": [MODEL]}, {}).models)
    assert (route.prefix, route.base_url, route.api_keys) == ("gpt", "https://x.test/v1", ("none",))


@tool
def look() -> str:
    """Look."""
    return "seen"


def test_agents_and_tools_come_from_plugins_and_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("some_plugin")
    module.__dict__.update(look=look, clerk=Agent("clerk", tools=[look]))
    monkeypatch.setitem(sys.modules, "some_plugin", module)
    settings = read_settings({"plugins": ["some_plugin"], "agents": [{"name": "first", "tools": ["look"]}]}, {})
    catalog = load_catalog(settings, [], [])
    assert [agent.name for agent in catalog.agents] == ["first", "clerk"]
    assert catalog.agent(None).name == "first"
    assert [each.name for each in catalog.tools(catalog.agent("clerk"), None)] == ["look"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"plugins": ["no.such.plugin"]}, "plugins: cannot import 'no.such.plugin'"),
        ({"agents": [{"name": "a", "tools": ["lok"]}]}, "agents.a.tools: .*'lok'"),
        ({"approval": {"requiredTools": ["lok"]}}, "approval.requiredTools: no tool named 'lok'; did you mean 'look'?"),
        ({"approval": {"requiredTools": ["zzz"]}}, "no tool named 'zzz'; there are 'look"),
        ({"approval": {"requiredTools": ["lo*", "x*"]}}, r"approval.requiredTools: no tool named 'x\*'"),
        ({"approval": {"requiredTools": ["group:files"]}}, "no tool named 'group:files'"),
        ({"policy": {"rules": [{"ask": "look"}, {"deny": "look, lok"}]}}, r"policy.rules\[1\].deny: no tool .*'lok'"),
        ({"policy": {"rules": [{"deny": "source:mpc"}]}}, "named 'source:mpc'; did you mean 'source:mcp'?"),
        (
            {"policy": {"rules": [{"deny": "look", "when": "args."}]}},
            r"policy.rules\[0\].when: 'args.' is no condition",
        ),
        (
            {"policy": {"rules": [{"deny": "look", "when": "arg.x == 1"}]}},
            "'arg.x'.*; a condition is CEL and knows args",
        ),
        ({"policy": {"rules": [{"deny": "look", "when": "size(args)"}]}}, "it gives INT, and must say true or false"),
        ({"policy": {"rules": [{"deny": "look", "when": "agent == 1"}]}}, "no matching overload"),
    ],
)
def test_a_name_that_matches_nothing_is_an_error_at_the_start(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        make_plan(read_settings(config, {}), None, None, [], [look], [])
    assert re.search(message, refused.value.message), refused.value.message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "from talaria import tool\n@tool\ndef mute() -> str: ...\n",
            "plugins: 'faulty': mute has no description; write a docstring",
        ),
        ("def f(:\n", "plugins: cannot import 'faulty': SyntaxError: invalid syntax (faulty.py, line 1)"),
        ("A = 1\nB = {}['nope']\n", "plugins: cannot import 'faulty': KeyError: 'nope' (FOLDER/faulty.py, line 2)"),
    ],
)
def test_what_is_wrong_in_a_plugin_is_said_with_its_name_and_place(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty.py").write_text(source)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ConfigurationError) as refused:
        load_catalog(read_settings({"plugins": ["faulty"]}, {}), [], [])
    assert refused.value.message.removesuffix(", its first paragraph is what the model reads") == message.replace(
        "FOLDER", str(tmp_path)
    )
    assert "faulty" not in sys.modules


def test_an_agent_that_is_not_there_is_named() -> None:
    catalog = Catalog()
    assert catalog.agent(None).name == catalog.agent("assistant").name == "assistant"
    with pytest.raises(InvalidRequest, match="no agent named 'x'; there are none"):
        catalog.agent("x")
    catalog.add_agent(Agent("clerk"))
    with pytest.raises(InvalidRequest, match="did you mean 'clerk'"):
        catalog.agent("clark")


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"models": [MODEL], "defaultModel": "claude"}, "defaultModel: no route for model 'claude'; there are 'gpt"),
        (
            {"models": [MODEL], "agents": [{"name": "a", "model": "claude"}]},
            "agents.a.model: no route for model 'claude'",
        ),
        ({"models": [MODEL, MODEL]}, "two routes have the prefix 'gpt'"),
        ({"models": [MODEL | {"baseUrl": "x"}]}, "models[0].baseUrl: 'x' is no http or https address"),
        ({"agents": [{"name": "a"}, {"name": "a"}]}, "two agents named 'a'"),
    ],
)
def test_what_would_fail_with_the_first_request_fails_at_the_start(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(named)):
        Runtime(config)


async def test_transcripts_that_cannot_be_written_are_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    telemetry = {"transcripts": str(tmp_path / "file" / "t")}
    with pytest.raises(ConfigurationError, match=r"telemetry\.transcripts: cannot write"):
        async with Runtime({"telemetry": telemetry, "store": {"url": "memory://"}}, clock=FakeClock()):
            pass


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the key 'server' stands there twice"):
        read("server: {port: 1}\nstore: {url: 'memory://'}\nserver: {port: 2}\n", tmp_path)


def test_a_plugin_beside_the_place_of_the_start_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugin_of_this_test.py").write_text("from talaria import Agent\n\nagent = Agent('found')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    catalog = load_catalog(Settings(plugins=["plugin_of_this_test"]), (), ())
    assert [each.name for each in catalog.agents] == ["found"]


def test_a_function_that_is_no_tool_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match="decorate the function with @tool"):
        Agent("a", tools=[len])
