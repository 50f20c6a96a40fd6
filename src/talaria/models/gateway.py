"""The gateway: every model behind one port. Routing, pace, retries and accounting around dialects without I/O."""

import logging
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import lru_cache

import msgspec

from talaria.core.errors import ModelError
from talaria.core.messages import AssistantMessage
from talaria.core.usage import Usage
from talaria.models.accounting import CHARACTERS_PER_TOKEN, estimate, priced
from talaria.models.attempt import Attempt
from talaria.models.call_limits import CallLimits
from talaria.models.course import Choice, Course
from talaria.models.dialects import make_dialect
from talaria.models.negotiation import missing, negotiate
from talaria.models.provider import Provider
from talaria.models.routes import Route, find_route
from talaria.ports.clock import Clock
from talaria.ports.model import Answer, Dialect, Downgraded, ModelItem, ModelRequest, Transport

_log = logging.getLogger(__name__)
REMEMBERED = 256
"""Names of models whose routes need not be looked for again."""


class Gateway:
    """A `Model` that asks the provider whose route has the longest prefix of the model's name.

    Args:
        routes: the connections there are.
        transport: sends the requests.
        clock: tells the time and waits between attempts.
        limits: how many calls there may be over all routes.
        dialects: the routes' dialects, by prefix; those that are not there are made.
        jitter: a random number in [0, 1).

    Raises:
        ConfigurationError: a route's dialect is not known.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        transport: Transport,
        clock: Clock,
        *,
        limits: CallLimits | None = None,
        dialects: Mapping[str, Dialect] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._routes = tuple(routes)
        self._transport = transport
        self._clock = clock
        self._limits = limits or CallLimits(clock)
        self._jitter = jitter
        made = dialects or {}
        self._providers = {
            route.prefix: Provider(route, made.get(route.prefix) or make_dialect(route), clock)
            for route in self._routes
        }
        self._choices = lru_cache(REMEMBERED)(self._find_choices)

    def route(self, model: str) -> Route:
        """Return the route of a model's name.

        Raises:
            InvalidRequest: there is none.
        """
        return find_route(self._routes, model)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        """Yield what came in each network read, and the answer last; see the port."""
        self._limits.enter(request.run_id)
        try:
            course = Course(self._able(request), self._clock, self._jitter)
            while True:
                connection, provider = course.connection, course.provider
                asked, downgraded = negotiate(_of(request, course), connection.profile)
                attempt = Attempt(provider.route, provider.dialect, connection, self._transport, self._clock)
                for sentence in downgraded:
                    yield [Downgraded(sentence)]
                try:
                    attempt.write(asked)
                    tokens = attempt.sent // CHARACTERS_PER_TOKEN + (asked.max_tokens or 0)
                    patience = provider.route.first_token_timeout
                    ticket = await provider.turnstile.enter(asked.user, tokens, patience)
                    await attempt.send()
                    while (deltas := await attempt.read()) is not None:
                        yield deltas
                    for note in attempt.notes:
                        _log.warning("model %s: %s", connection.model, note)
                    answer = _accounted(attempt, course)
                    provider.turnstile.settle(ticket, answer.usage.input_tokens + answer.usage.output_tokens)
                    yield [answer]
                    return
                except ModelError as error:
                    restart = course.after(error)
                    if restart is None:
                        raise
                finally:
                    await attempt.close()
                yield [restart]
                if restart.wait:
                    await self._clock.sleep(restart.wait)
        finally:
            self._limits.leave(request.run_id)

    async def close(self) -> None:
        """Close the connections."""
        for provider in self._providers.values():
            await provider.turnstile.close()
        await self._transport.close()

    def _able(self, request: ModelRequest) -> Sequence[Choice]:
        """The model that is wanted, and of its fallbacks those that can do what the request is for."""
        choices = self._choices(request.model)
        if len(choices) == 1:
            return choices
        wanted, *others = choices
        return [wanted, *(each for each in others if not missing(request, each.provider.route.profile_of(each.model)))]

    def _find_choices(self, model: str) -> Sequence[Choice]:
        names = (model, *self.route(model).fallback)
        return [Choice(name, self._providers[self.route(name).prefix]) for name in names]


def _of(request: ModelRequest, course: Course) -> ModelRequest:
    """The request as the model that is asked now gets it."""
    if course.model == request.model and course.reasoning_back:
        return request
    return msgspec.structs.replace(request, model=course.model, reasoning_back=course.reasoning_back)


def _accounted(attempt: Attempt, course: Course) -> Answer:
    answer, connection = attempt.answer, course.connection
    message = AssistantMessage(answer.message.parts, connection.model, answer.message.incomplete)
    usage = answer.usage
    if usage == Usage():
        said = len(message.text) + len(message.reasoning)
        usage = estimate(attempt.sent, said + sum(len(call.name) + len(call.arguments) for call in message.calls))
    usage = priced(usage, connection.profile.price)
    return Answer(message, answer.finish, usage, answer.cut_calls, not course.reasoning_back)
