"""The setting of a recorded test: its configuration, its agent, and where its tools come from."""

from typing import Any

import msgspec

from talaria.agents.own import OwnSpec
from talaria.core.errors import InvalidRequest
from talaria.journal.entries import ApprovalRequested, StepFinished, StopRaised, ToolFinished
from talaria.journal.recorded import RecordedRun
from talaria.journal.turn import RunLimits
from talaria.runtime.catalog import Catalog, load_catalog
from talaria.runtime.settings import Settings
from talaria.testing.replay import Fake, value_of
from talaria.tools.ask_user import ASK_USER
from talaria.tools.recall import RECALL

ADVICE = "name the modules that they are in under plugins, or take the recorded results instead (fake tools)"
_CUT_OFF = ("cancelled", "unknown")
_LIMITS = {
    "max_calls": "maxToolCalls",
    "max_calls_per_tool": "maxCallsPerTool",
    "max_rounds": "maxRounds",
    "result_limit": "toolResultLimit",
    "output_repairs": "outputRepairs",
}


class Setting(msgspec.Struct, frozen=True):
    """`config` as in talaria.yaml. `tools`: names for an agent made for the test; None where the agent is registered.

    `is_own`: an agent of one's own, whose models are asked aside. `fakes` stand for the tools.
    """

    config: dict[str, Any]
    tools: tuple[str, ...] | None = None
    is_own: bool = False
    fakes: tuple[Fake, ...] | None = None


def with_real_tools(run: RecordedRun, settings: Settings) -> Setting:
    """Return the setting in which the tools of the plugins run.

    Raises:
        InvalidRequest: they do not have all that the run called, or a call had no outcome to expect.
    """
    catalog = load_catalog(settings, (), ())
    names = [spec.name for spec in run.context.tools if spec.name not in (RECALL, _answers_by(run))]
    called = {entry.name for entry in run.entries if isinstance(entry, ToolFinished)} & set(names)
    missing = sorted(called - set(catalog.registry.names))
    if missing:
        raise InvalidRequest(f"the run called tools that are not known here ({', '.join(missing)}): {ADVICE}")
    lost = next((each for each in run.entries if isinstance(each, ToolFinished) and each.outcome in _CUT_OFF), None)
    if lost is not None:
        raise InvalidRequest(
            f"a call of '{lost.name}' was cut off ({lost.outcome}), and would not be again: take fake tools"
        )
    known = _agent(catalog, run.turn.agent)
    if _asks_aside(run) and not isinstance(known, OwnSpec):
        raise InvalidRequest(f"the run's own agent '{run.turn.agent}' is not known here: name its module under plugins")
    config = _config(run) | {"plugins": list(settings.plugins)}
    mine = [each for each in settings.agents if each.name == run.turn.agent]
    if mine:
        config["agents"] = [each.model_dump(include={"name", "tools"}, exclude_none=True) for each in mine]
    asked = sorted({each.name for each in _questions(run) if each.reason == "configured"})
    if asked:
        config["approval"] = {"requiredTools": asked}
    return Setting(config, None if known is not None else tuple(names), isinstance(known, OwnSpec))


def with_fakes(run: RecordedRun) -> Setting:
    """Return the setting in which recorded results stand for the tools.

    Raises:
        InvalidRequest: the agent is one's own, and must be there to be played.
    """
    if _asks_aside(run):
        raise InvalidRequest("an agent of one's own is played with its real tools; leave fake tools out")
    called = {entry.name for entry in run.entries if isinstance(entry, ToolFinished)}
    specs = [spec for spec in run.context.tools if spec.name in called and spec.name != _answers_by(run)]
    names = tuple(spec.name for spec in specs)
    fakes = tuple(
        _fake(run, spec.name, spec.description, spec.parameters) for spec in specs if spec.name != ASK_USER.name
    )
    return Setting(_config(run), names, fakes=fakes)


def _asks_aside(run: RecordedRun) -> bool:
    return any(isinstance(entry, StepFinished) for entry in run.entries)


def _answers_by(run: RecordedRun) -> str:
    return run.turn.output.tool if run.turn.output is not None else ""


def _agent(catalog: Catalog, name: str) -> object:
    try:
        return catalog.agent(name)
    except InvalidRequest:
        return None


def _config(run: RecordedRun) -> dict[str, Any]:
    config: dict[str, Any] = {"store": {"url": "memory://"}}
    usual = RunLimits()
    limits = {
        key: value for name, key in _LIMITS.items() if (value := getattr(run.turn.limits, name)) != getattr(usual, name)
    }
    if limits:
        config["limits"] = limits
    if run.turn.output is not None and not run.turn.output.tool:  # the model kept to the schema by itself
        config["models"] = [{"prefix": "", "baseUrl": "http://127.0.0.1:9", "capabilities": {"jsonSchema": True}}]
    return config


def _questions(run: RecordedRun) -> list[ApprovalRequested]:
    return [entry for entry in run.entries if isinstance(entry, ApprovalRequested)]


def _fake(run: RecordedRun, name: str, description: str, parameters: dict[str, Any]) -> Fake:
    stops = {entry.call_id: entry.message for entry in run.entries if isinstance(entry, StopRaised)}
    ended = [entry for entry in run.entries if isinstance(entry, ToolFinished) and entry.name == name]
    return Fake(
        name=name,
        description=description,
        parameters=parameters,
        results={each.call_id: each.text for each in ended if each.outcome == "ok"},
        failures={each.call_id: each.text for each in ended if each.outcome != "ok" and each.call_id not in stops},
        stops={each.call_id: stops[each.call_id] for each in ended if each.call_id in stops},
        asked=tuple(value_of(each.arguments) for each in _questions(run) if each.name == name),
    )
