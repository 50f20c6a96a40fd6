"""The gateway: every model behind one port. Routing, retries and accounting around dialects without I/O."""

import logging
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from talaria.core.errors import ConfigurationError, ModelError
from talaria.core.messages import AssistantMessage
from talaria.core.usage import Usage
from talaria.models.accounting import estimate, priced
from talaria.models.attempt import Attempt
from talaria.models.openai import OpenAiDialect
from talaria.models.profile import Profile
from talaria.models.retry import Retries, reason
from talaria.models.routes import Route, find_route
from talaria.ports.clock import Clock
from talaria.ports.model import Answer, Dialect, ModelItem, ModelRequest, Restart, Transport

DIALECTS: Mapping[str, Callable[[str], Dialect]] = {"openai": OpenAiDialect}

_log = logging.getLogger(__name__)


class Gateway:
    """A `Model` that asks the provider whose route has the longest prefix of the model's name.

    Args:
        routes: the connections there are.
        transport: sends the requests.
        clock: tells the time and waits between attempts.
        dialects: makes a dialect of an issuer's name, by the name that routes give it.
        jitter: a random number in [0, 1).
    """

    def __init__(
        self,
        routes: Sequence[Route],
        transport: Transport,
        clock: Clock,
        *,
        dialects: Mapping[str, Callable[[str], Dialect]] = DIALECTS,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._routes = tuple(routes)
        self._transport = transport
        self._clock = clock
        self._jitter = jitter
        self._dialects = {route.prefix: _dialect(route, dialects) for route in self._routes}

    def route(self, model: str) -> Route:
        """Return the route of a model's name.

        Raises:
            InvalidRequest: there is none.
        """
        return find_route(self._routes, model)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        """Yield what came in each network read, and the answer last; see the port."""
        route = self.route(request.model)
        dialect = self._dialects[route.prefix]
        retries = Retries(route.retries, self._jitter)
        while True:
            attempt = Attempt(route, dialect, self._transport, self._clock)
            try:
                await attempt.send(request)
                while (deltas := await attempt.read()) is not None:
                    yield deltas
                for note in attempt.notes:
                    _log.warning("model %s: %s", request.model, note)
                yield [_accounted(attempt.answer, request.model, attempt.sent, route.profile)]
                return
            except ModelError as error:
                wait = retries.next_wait(error)
                if wait is None:
                    raise
                why = reason(error)
            finally:
                await attempt.close()
            yield [Restart(why, wait)]
            await self._clock.sleep(wait)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()


def _dialect(route: Route, dialects: Mapping[str, Callable[[str], Dialect]]) -> Dialect:
    factory = dialects.get(route.dialect)
    if factory is None:
        known = ", ".join(sorted(dialects))
        raise ConfigurationError(
            f"models: the route '{route.prefix}' has the dialect '{route.dialect}'; there are {known}"
        )
    return factory(route.issuer)


def _accounted(answer: Answer, model: str, sent: int, profile: Profile) -> Answer:
    message = AssistantMessage(answer.message.parts, model, answer.message.incomplete)
    usage = answer.usage
    if usage == Usage():
        said = len(message.text) + len(message.reasoning)
        usage = estimate(sent, said + sum(len(call.name) + len(call.arguments) for call in message.calls))
    return Answer(message, answer.finish, priced(usage, profile.price), answer.cut_calls)
