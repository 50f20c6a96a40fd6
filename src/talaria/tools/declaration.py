"""`Tool`, the frozen value every part of the harness knows a tool by, and `@tool`, which makes one of a function."""

import inspect
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from types import MethodType
from typing import Any, Concatenate, Generic, Literal, Unpack, cast, overload

import jsonschema_rs
from typing_extensions import ParamSpec, TypeVar

from talaria.ports.model import ToolSpec
from talaria.tools.binding import Binding
from talaria.tools.coercion.aliases import check_aliases
from talaria.tools.coercion.coercer import Coercer
from talaria.tools.coercion.subschemas import make_validator
from talaria.tools.context import ToolContext
from talaria.tools.errors import ToolInvalid
from talaria.tools.options import Approval, FunctionOptions, ToolOptions
from talaria.tools.signature import context_parameter, receiver

P = ParamSpec("P", default=...)
Q = ParamSpec("Q")
R = TypeVar("R", default=Any)
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
"""What every provider takes: OpenAI and Anthropic no dots, Gemini a letter or '_' first, OpenAI and Gemini 64."""
MOST_RETRIES = 10


@dataclass(frozen=True, eq=False)
class Tool(Generic[P, R]):
    """A tool. Made by hand, `parameters` is a JSON Schema of type object and `fn` gets its values by name, as JSON.

    `group`: so that lists can say `group:files`. `permission`: the role it takes. `approval`: whether a person must
    agree to a call, or a function that says so of the call's values (`bind`), a dict by parameter. `idempotent`: a
    repeated call with the same key does no harm. `side_effects`: False where any repetition is safe. `outside`, None
    like side_effects: effects beyond the sandbox. `untrusted`: results come from outside. `parallel`, None for only
    without side effects. `timeout`: seconds, all attempts together. `retries`: attempts after one that failed, only
    where a repetition does no harm. `breaker`: False where a failed call says nothing about the next;
    the name of the outside server where several tools go through one, and fail together.
    `unknown_outcome`: what to do when a crash hid how a call ended. `result_limit`: characters. `aliases`: other
    words for the values of enums, by parameter. `says_nothing`: it never returns anything. `source`: where it comes
    from, for the policy's rules. `by_client`: the caller runs its calls. `binding` is set by `@tool`, `receiver`
    (the name of a method's own parameter) while a method is not bound, and `origin` (the tool as its class has it) once
    it is.

    Raises:
        ToolInvalid: the name, the schema or an option is wrong.
    """

    name: str
    description: str
    parameters: dict[str, Any] = field(repr=False)
    fn: Callable[P, R] = field(repr=False)
    _: KW_ONLY
    group: str = ""
    permission: str = ""
    approval: Approval = False
    idempotent: bool = False
    side_effects: bool = True
    outside: bool | None = None
    untrusted: bool = False
    parallel: bool | None = None
    timeout: float | None = None
    retries: int = 0
    breaker: bool | str = True
    unknown_outcome: Literal["tell", "ask"] = "tell"
    isolate: Literal["process"] | None = None
    result_limit: int | None = None
    aliases: Mapping[str, Mapping[str, Any]] | None = None
    says_nothing: bool = field(default=False, repr=False)
    source: Literal["user", "builtin", "mcp", "external"] = field(default="user", repr=False)
    by_client: bool = field(default=False, repr=False)
    binding: Binding | None = field(default=None, repr=False)
    receiver: Literal["", "self", "cls"] = field(default="", repr=False)
    origin: "Tool[..., Any] | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _check_face(self)
        _check_options(self)
        if self.binding is None:
            _ = self.validator  # a hand-written schema is checked here; one made of a signature is right
        if self.aliases:
            check_aliases(self.name, self.coercer, self.aliases)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function as it was written."""
        return self.fn(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> "Tool[P, R]": ...
    @overload
    def __get__(self: "Tool[Concatenate[Any, Q], R]", instance: object, owner: type | None = None) -> "Tool[Q, R]": ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> "Tool[P, R]": ...
    def __get__(self, instance: object, owner: type | None = None) -> "Tool[..., Any]":
        """Bind a method to the object it is reached through; what is no method stays as it is."""
        holder = owner if self.receiver == "cls" else instance
        return self if holder is None or not self.receiver else self.bound_to(holder)

    def bound_to(self, holder: object) -> "Tool[..., Any]":
        """Return the tool with its receiver filled in."""
        return replace(self, fn=MethodType(self.fn, holder), receiver="", origin=self)

    def is_same_as(self, other: "Tool[..., Any]") -> bool:
        """Whether both are one tool; a method is bound anew each time it is reached."""
        return self is other or (self.origin is not None and self.origin is other.origin and self.fn == other.fn)

    def call(self, values: dict[str, Any], context: ToolContext | None) -> Any:
        """Call the function with bound values and, where it wants one, the context; async ones return an awaitable."""
        fn: Callable[..., Any] = self.fn
        name = self.context_parameter
        return fn(**values) if name is None else fn(**{**values, name: context})

    @property
    def acts_outside(self) -> bool:
        """Whether a call has effects beyond the sandbox."""
        return self.side_effects if self.outside is None else self.outside

    @property
    def may_run_in_parallel(self) -> bool:
        """Whether a call may run while other calls do."""
        return not self.side_effects if self.parallel is None else self.parallel

    @property
    def may_be_repeated(self) -> bool:
        """Whether a call that began and has no result may simply be run again."""
        return self.idempotent or not self.side_effects

    @property
    def __wrapped__(self) -> Callable[P, R]:
        return self.fn

    @cached_property
    def is_async(self) -> bool:
        """Whether the function returns an awaitable; others may block and belong on a thread."""
        return inspect.iscoroutinefunction(self.fn) or inspect.iscoroutinefunction(type(self.fn).__call__)

    @cached_property
    def context_parameter(self) -> str | None:
        """The name of the parameter that gets the ToolContext, or None."""
        return context_parameter(self.fn)

    @cached_property
    def may_speak(self) -> bool:
        """Whether a call may say something to the client while it runs."""
        return self.context_parameter is not None or self.isolate is not None

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """What parameters are when a call leaves them out, as the schema says; without those that are null then."""
        every: dict[str, Any] = self.parameters.get("properties") or {}
        said = {name: each.get("default") for name, each in every.items() if each not in (True, False)}
        return {name: value for name, value in said.items() if value is not None}

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as a model sees it."""
        return ToolSpec(self.name, self.description, self.parameters)

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        """What checks arguments against `parameters`; made once."""
        return _validator(self) if self.origin is None else self.origin.validator

    @cached_property
    def coercer(self) -> Coercer:
        """What brings arguments into the form that `parameters` want; made once, when they first are not in it."""
        return Coercer(_named_schema(self), self.aliases) if self.origin is None else self.origin.coercer


def _named_schema(tool: Tool[..., Any]) -> dict[str, Any]:
    """The schema with the names of the members of enums, which the model is not shown."""
    return tool.parameters if tool.binding is None else tool.binding.schema


def _validator(tool: Tool[..., Any]) -> jsonschema_rs.Validator:
    try:
        return make_validator(tool.parameters)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise ToolInvalid(f"tool '{tool.name}': its parameters are no valid JSON Schema: {error}") from error


def _check_face(tool: Tool[..., Any]) -> None:
    if NAME.fullmatch(tool.name) is None:
        raise ToolInvalid(
            f"tool '{tool.name}': a name is 1 to 64 of a-z A-Z 0-9 _ - and begins with a letter or _ ; pass "
            "name=… to @tool"
        )
    if not tool.description.strip():
        raise ToolInvalid(f"tool '{tool.name}' has no description; the model chooses tools by it")
    if tool.parameters.get("type") != "object":
        raise ToolInvalid(f'tool \'{tool.name}\': parameters must be a JSON Schema with "type": "object"')
    if inspect.isgeneratorfunction(tool.fn) or inspect.isasyncgenfunction(tool.fn):
        raise ToolInvalid(f"tool '{tool.name}' is a generator; return a list or text instead of yielding")


def _check_options(tool: Tool[..., Any]) -> None:
    if tool.isolate is not None:
        _check_isolation(tool)
    if tool.breaker == "":
        raise ToolInvalid(f"tool '{tool.name}': breaker is True, False or the name of an outside server, not ''")
    if not 0 <= tool.retries <= MOST_RETRIES:
        raise ToolInvalid(f"tool '{tool.name}': retries is 0 to {MOST_RETRIES}, not {tool.retries!r}")
    if tool.retries and not tool.may_be_repeated:
        raise ToolInvalid(
            f"tool '{tool.name}': retries repeat its calls; declare side_effects=False, or idempotent=True if a "
            "repeated call with the same ctx.idempotency_key does no harm"
        )
    if tool.timeout is not None and tool.timeout <= 0:
        raise ToolInvalid(f"tool '{tool.name}': timeout is in seconds and more than 0, not {tool.timeout!r}")
    if tool.result_limit is not None and tool.result_limit < 1:
        raise ToolInvalid(
            f"tool '{tool.name}': result_limit is in characters and at least 1, not {tool.result_limit!r}"
        )
    if tool.unknown_outcome not in ("tell", "ask"):
        raise ToolInvalid(f"tool '{tool.name}': unknown_outcome is 'tell' or 'ask', not {tool.unknown_outcome!r}")
    if inspect.iscoroutinefunction(tool.approval):
        raise ToolInvalid(f"tool '{tool.name}': approval must be a plain function; an async one is always true")
    if not isinstance(tool.approval, bool) and not callable(tool.approval):
        raise ToolInvalid(f"tool '{tool.name}': approval is True, False or a function of the call's values")


def _check_isolation(tool: Tool[..., Any]) -> None:
    """A process of its own has to find the function again, by its module and name."""
    if tool.isolate != "process" or not hasattr(os, "fork"):
        raise ToolInvalid(f"tool '{tool.name}': isolate is None or, on POSIX systems, 'process', not {tool.isolate!r}")
    name, module = getattr(tool.fn, "__qualname__", "<unknown>"), getattr(tool.fn, "__module__", "__main__")
    if not inspect.isfunction(tool.fn) or tool.receiver or "<" in name or module == "__main__":
        raise ToolInvalid(
            f"tool '{tool.name}': isolate='process' takes a function at the top level of a module that can be "
            f"imported, which {module}.{name} is not; move it to one"
        )


@overload
def tool(fn: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(**options: Unpack[FunctionOptions]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(fn: Callable[..., Any] | None = None, /, **options: Unpack[FunctionOptions]) -> Any:
    """Make a tool of a function or method: its schema from the signature, its description from the docstring.

    A method's tool is bound where it is reached through an object, as the method itself would be.

    Raises:
        ToolInvalid: at import, naming the function and the parameter, where a tool cannot be made of it.
    """

    def declare(each: Callable[..., Any]) -> Tool[..., Any]:
        return _declare(each, options)

    return declare if fn is None else declare(fn)


def _declare(fn: Callable[..., Any], options: FunctionOptions) -> Tool[..., Any]:
    from talaria.tools.schema import describe  # noqa: PLC0415 - only who declares a tool waits for pydantic's import

    binds = receiver(inner := _inner(fn))
    name = options.get("name") or getattr(inner, "__name__", "")
    described = describe(inner, name, options.get("description", ""))
    rest = cast("ToolOptions", {key: value for key, value in options.items() if key not in ("name", "description")})
    return Tool(
        name,
        described.description,
        described.parameters,
        inner,
        says_nothing=described.says_nothing,
        binding=described.binding,
        receiver="cls" if isinstance(fn, classmethod) else "self" if binds else "",
        **rest,
    )


def _inner(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function in a classmethod or staticmethod."""
    return cast("Callable[..., Any]", fn.__func__) if isinstance(fn, classmethod | staticmethod) else fn
