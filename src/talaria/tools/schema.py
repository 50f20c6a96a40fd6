"""Makes the JSON Schema of a function's parameters, and what turns JSON values into the function's own."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, NotRequired, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import Field, FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, to_jsonable_python
from pydantic_core.core_schema import EnumSchema
from typing_extensions import TypedDict

from talaria.tools.binding import Binding, Described
from talaria.tools.coercion.choices import NAMES
from talaria.tools.docstrings import read_docstring
from talaria.tools.errors import ToolInvalid
from talaria.tools.inlining import plain_schema
from talaria.tools.nearest import hint
from talaria.tools.returns import check_returns
from talaria.tools.signature import MISSING, Parameter, read_signature

NAMES_KEYWORD = NAMES[0]
REFUSALS = (PydanticUserError, PydanticUndefinedAnnotation, TypeError, ValueError, NameError)


class WithNames(GenerateJsonSchema):
    """Adds the names of an enum's members, by which models like to call them."""

    def enum_schema(self, schema: EnumSchema) -> JsonSchemaValue:
        """Return the schema of an enum, with the names of its members."""
        return {**super().enum_schema(schema), NAMES_KEYWORD: [each.name for each in schema["members"]]}


def describe(fn: Callable[..., Any], tool: str, description: str = "") -> Described:
    """Return what the signature and the docstring of `fn` say; `description` goes before the docstring's.

    Raises:
        ToolInvalid: there is no description, or a parameter or the result has no JSON form.
    """
    signature = read_signature(fn, tool)
    said = read_docstring(fn.__doc__)
    text = description or said.description
    if not text:
        raise ToolInvalid(f"{tool} has no description; write a docstring, its first paragraph is what the model reads")
    names = [each.name for each in signature.parameters]
    for name in said.parameters.keys() - {*names, signature.context}:
        raise ToolInvalid(f"{tool}: the docstring describes '{name}', which is no parameter{hint(name, names)}")
    check_returns(signature.returns, tool)
    parameters = [_with_field(each, said.parameters.get(each.name)) for each in signature.parameters]
    named, validate = _adapt(parameters, tool)
    _add_descriptions(named["properties"], signature.parameters, said.parameters)
    binding = Binding(validate, _defaults(parameters), len(parameters), named)
    return Described(
        text, plain_schema(named, NAMES_KEYWORD), binding, says_nothing=signature.returns in (None, type(None))
    )


def _with_field(parameter: Parameter, description: str | None) -> Parameter:
    """Gather what is said about a parameter into one annotation; what stands nearest to it wins."""
    annotation, default = parameter.annotation, parameter.default
    if not _has_field(parameter):
        return parameter
    metadata: list[Any] = [] if description is None else [Field(description=description)]
    if get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        metadata += more
    if isinstance(default, FieldInfo):
        metadata.append(default)
        default = MISSING
    if default is MISSING:
        fields = [each for each in metadata if isinstance(each, FieldInfo) and not each.is_required()]
        default = fields[-1] if fields else MISSING
    return Parameter(parameter.name, Annotated[annotation, *metadata] if metadata else annotation, default)


def _has_field(parameter: Parameter) -> bool:
    return isinstance(parameter.default, FieldInfo) or get_origin(parameter.annotation) is Annotated


def _add_descriptions(properties: dict[str, Any], parameters: Sequence[Parameter], said: Mapping[str, str]) -> None:
    """Write what the docstring says of parameters that have no Field to hold it: one Field fewer for pydantic."""
    for each in parameters:
        if each.name in said and not _has_field(each):
            properties[each.name] = {**properties[each.name], "description": said[each.name]}


def _defaults(parameters: list[Parameter]) -> tuple[tuple[str, Any], ...]:
    """Return the defaults that stand in the signature; those in a Field are pydantic's to fill in."""
    return tuple(
        (each.name, each.default)
        for each in parameters
        if each.default is not MISSING and not isinstance(each.default, FieldInfo)
    )


def _adapt(parameters: list[Parameter], tool: str) -> tuple[dict[str, Any], Callable[[dict[str, Any]], dict[str, Any]]]:
    try:
        schema, validate = _build(parameters, tool)
    except REFUSALS as error:
        for parameter in parameters:
            _blame(parameter, tool)
        raise ToolInvalid(f"{tool}: no JSON Schema can be made of its parameters: {_first_line(error)}") from error
    for parameter in parameters:
        _add_default(schema["properties"], parameter)
    return schema, validate


def _build(parameters: list[Parameter], tool: str) -> tuple[dict[str, Any], Callable[[dict[str, Any]], dict[str, Any]]]:
    fields = {
        each.name: each.annotation if each.default is MISSING else NotRequired[each.annotation] for each in parameters
    }
    make: Any = TypedDict  # a type checker only knows the class statement of it
    adapter: TypeAdapter[Any] = TypeAdapter(make(tool, fields))
    made = plain_schema(adapter.json_schema(schema_generator=WithNames))
    schema = {"type": "object", "properties": made.pop("properties", {}), **made, "additionalProperties": False}
    return schema, adapter.validator.validate_python


def _blame(parameter: Parameter, tool: str) -> None:
    try:
        _build([parameter], tool)
    except REFUSALS as error:
        raise ToolInvalid(
            f"{tool}: parameter '{parameter.name}' has no JSON Schema: {_first_line(error)} "
            "Use JSON types, dates, Decimal, enums, dataclasses or pydantic models"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _add_default(properties: dict[str, Any], parameter: Parameter) -> None:
    """Show the model what leaving a parameter out means. None says nothing that the type does not."""
    shown = properties.get(parameter.name, {})
    if isinstance(parameter.default, FieldInfo):
        if shown.get("default", MISSING) is None:
            del shown["default"]
    elif parameter.default is not None and parameter.default is not MISSING:
        with suppress(PydanticSerializationError, UnicodeError):  # what has no JSON form stays between the lines
            shown["default"] = to_jsonable_python(parameter.default)
