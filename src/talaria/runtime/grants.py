"""What a run is granted: the prompt it works under, its tools, its secrets."""

from talaria.agents.open_run import Granted
from talaria.agents.own import OwnSpec
from talaria.agents.prompt import system_prompt
from talaria.core.errors import SecretsLost
from talaria.core.principal import Principal
from talaria.journal.entries import TurnStarted
from talaria.journal.letters import TurnBody
from talaria.ports.model import ToolSpec
from talaria.runtime.catalog import Catalog
from talaria.runtime.secrets import Secrets


class CatalogGrants:
    """Grants out of the catalog; `harness` is the harness's system prompt, `asks_for` names tools that need consent."""

    def __init__(self, catalog: Catalog, secrets: Secrets, harness: str, asks_for: frozenset[str]) -> None:
        self._catalog = catalog
        self._secrets = secrets
        self._harness = harness
        self._asks_for = asks_for
        self._specs: dict[tuple[str, ...], tuple[ToolSpec, ...]] = {}

    def context(self, turn: TurnBody) -> tuple[str, tuple[ToolSpec, ...]]:
        """The system prompt and the tools that the model sees in this turn.

        Raises:
            InvalidRequest: the agent or a tool is not registered (any more).
        """
        agent = self._catalog.agent(turn.agent)
        specs = tuple(tool.spec for tool in self._catalog.tools(agent, turn.tools))
        return system_prompt(self._harness, agent.instructions, turn.system), specs

    def granted(self, turn: TurnStarted, principal: Principal) -> Granted:
        """What the run may use.

        Raises:
            InvalidRequest: the agent or a tool is not registered (any more).
            SecretsLost: the run came with secrets, and they died with an earlier process.
        """
        agent = self._catalog.agent(turn.agent)
        secrets = self._secrets.get(turn.run)
        if turn.secrets and secrets is None:
            names = ", ".join(turn.secrets)
            raise SecretsLost(f"the secrets of this run ({names}) were lost in a restart; send the request again")
        return Granted(
            self._catalog.tools(agent, turn.tools),
            secrets=secrets,
            principal=principal,
            deps=agent.deps,
            asks_for=self._asks_for,
            own_agent=agent if isinstance(agent, OwnSpec) else None,
        )
