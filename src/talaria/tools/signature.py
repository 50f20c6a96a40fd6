"""Reads a function: its parameters with resolved annotations and descriptions, and where the context goes."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import GenericAlias, SimpleNamespace, UnionType
from typing import Any, get_args, get_type_hints

from talaria.tools.context import ToolContext
from talaria.tools.errors import ToolInvalid

MISSING: Any = inspect.Parameter.empty
_CONTEXT = re.compile(rf"\b{ToolContext.__name__}\b")
_RECEIVERS = ("self", "cls")
_REFUSED = {
    inspect.Parameter.VAR_POSITIONAL: "takes any number of positional values; declare a list[…] parameter",
    inspect.Parameter.VAR_KEYWORD: "takes any names; declare them, or one dict[str, …] parameter",
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only; arguments come by name, so remove the '/'",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the model fills in. `default` is MISSING where the model must give a value."""

    name: str
    annotation: Any
    default: Any


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives. `context` names its ToolContext parameter; `returns` may be MISSING."""

    parameters: tuple[Parameter, ...]
    context: str | None
    returns: Any


def read_signature(fn: Callable[..., Any], tool: str) -> Signature:
    """Return the signature of `fn`; `tool` is what errors call it.

    Raises:
        ToolInvalid: a parameter cannot be given by name, has no annotation, or one that is not defined.
    """
    signature = inspect.signature(fn)
    context, left_out = _context(signature), receiver(fn)
    parameters: list[Parameter] = []
    for name, each in signature.parameters.items():
        if name == left_out:
            continue
        _check(each, tool)
        if name == context:
            continue
        parameters.append(Parameter(name, _resolve(fn, each.annotation, f"{tool}: parameter '{name}'"), each.default))
    return Signature(tuple(parameters), context, _resolve(fn, signature.return_annotation, f"{tool}: the result"))


def receiver(fn: Callable[..., Any]) -> str:
    """Return the name of a method's first parameter, `self` or `cls`, which binding fills in; "" for functions."""
    if not inspect.isfunction(fn) or not _is_in_class(fn.__qualname__):
        return ""
    first = next(iter(inspect.signature(fn).parameters.values()), None)
    return first.name if first is not None and first.annotation is MISSING and first.name in _RECEIVERS else ""


def _is_in_class(qualified: str) -> bool:
    holder = qualified.rpartition(".")[0]
    return bool(holder) and not holder.endswith("<locals>")


def context_parameter(fn: Callable[..., Any]) -> str | None:
    """Return the name of the (first) parameter annotated with ToolContext, or None."""
    try:
        return _context(inspect.signature(fn))
    except ValueError:  # a builtin without a signature
        return None


def _context(signature: inspect.Signature) -> str | None:
    return next((name for name, each in signature.parameters.items() if _is_context(each.annotation)), None)


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return _CONTEXT.search(annotation) is not None
    return any(isinstance(each, type) and issubclass(each, ToolContext) for each in (annotation, *get_args(annotation)))


def _check(each: inspect.Parameter, tool: str) -> None:
    if each.annotation is MISSING and each.name in _RECEIVERS:
        raise ToolInvalid(f"{tool}: '{each.name}' is for methods; declare the tool in a class")
    if each.kind in _REFUSED:
        raise ToolInvalid(f"{tool}: parameter '{each.name}' {_REFUSED[each.kind]}")
    if each.annotation is MISSING:
        raise ToolInvalid(f"{tool}: parameter '{each.name}' has no annotation; the model must know its type")


def _has_no_names(annotation: Any) -> bool:
    """Whether an annotation is made of classes only, as most are: there is nothing to look up."""
    if type(annotation) is type:
        return True
    return type(annotation) in (GenericAlias, UnionType) and all(map(_has_no_names, get_args(annotation)))


def _resolve(fn: Callable[..., Any], annotation: Any, where: str) -> Any:
    if annotation is MISSING or _has_no_names(annotation):
        return annotation
    inner = inspect.unwrap(fn)
    holder = SimpleNamespace(__annotations__={"it": annotation})
    try:
        names = dict(inspect.getclosurevars(inner).nonlocals) if inspect.isfunction(inner) else None
        space = getattr(inner, "__globals__", {})
        return get_type_hints(holder, globalns=space, localns=names, include_extras=True)["it"]
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise ToolInvalid(f"{where} is annotated {annotation!r}, which cannot be resolved: {error}") from error
