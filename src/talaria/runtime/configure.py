"""Reading the configuration: a file or a mapping, ${VAR} from the environment, TALARIA_* over it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

import yaml
from pydantic import BaseModel, ValidationError

from talaria.core.errors import ConfigurationError
from talaria.runtime.settings import Settings
from talaria.tools.nearest import suggestion

DEFAULT_FILE = "talaria.yaml"
PREFIX = "TALARIA_"
_SECRET = re.compile("key|secret|(notify|databases).*url", re.IGNORECASE)
"""Keys whose values are not shown."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def read_settings(
    source: Mapping[str, Any] | str | os.PathLike[str] | Settings | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings of a mapping or a file; of None: ./talaria.yaml where there is one, else the defaults.

    Raises:
        ConfigurationError: a file, key or value is wrong; the message names it.
    """
    if isinstance(source, Settings):
        return source
    environ = os.environ if environ is None else environ
    raw = _read(source)
    filled = _fill(raw, environ, "")
    merged = _override(filled, environ)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigurationError("; ".join(_explain(item, Settings) for item in error.errors())) from None


def _read(source: Mapping[str, Any] | str | os.PathLike[str] | None) -> dict[str, Any]:
    if isinstance(source, Mapping):
        return dict(source)
    path = Path(source if source is not None else DEFAULT_FILE)
    if source is None and not path.exists():
        return {}
    try:
        loaded = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader
    except OSError as error:
        raise ConfigurationError(f"cannot read the configuration file {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid YAML: {error}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigurationError(f"{path} must hold keys and values, like 'store: {{url: …}}'")
    return loaded  # pyright: ignore[reportUnknownVariableType]


def _fill(value: Any, environ: Mapping[str, str], at: str) -> Any:
    """Replace ${VAR} and ${VAR:-default} in every string."""
    if isinstance(value, str):

        def replace(match: re.Match[str]) -> str:
            name, default = match[1], match[2]
            found = environ.get(name)
            if found:
                return found
            if default is None and found is None:
                raise ConfigurationError(
                    f"{at}: the environment variable {name} is not set; set it, or write ${{{name}:-}} for none"
                )
            return default or ""

        return _VARIABLE.sub(replace, value)
    if isinstance(value, list):
        return [_fill(item, environ, f"{at}[{index}]") for index, item in enumerate(value)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, Mapping):
        return {str(key): _fill(item, environ, f"{at}.{key}".lstrip(".")) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value


class _Loader(yaml.SafeLoader):
    """YAML in which a key stands once."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:bool":
            key_node.tag = "tag:yaml.org,2002:str"  # YAML 1.1 takes the key `on` for true
        key = loader.construct_object(key_node)  # pyright: ignore[reportUnknownMemberType]
        if key in seen:
            raise yaml.MarkedYAMLError(None, None, f"the key '{key}' stands there twice", key_node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def _override(raw: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Lay TALARIA_SERVER__PORT=… and the like over the file; values are read as YAML."""
    for name in sorted(environ):
        if not name.startswith(PREFIX) or ("__" not in name and name not in _TOP_LEVEL):
            continue
        path = name[len(PREFIX) :].split("__")
        target = raw
        model: Any = Settings
        for depth, part in enumerate(path):
            key, model = _key(model, part, name)
            if depth == len(path) - 1:
                target[key] = _yaml_value(name, environ[name])
            else:
                inner: Any = target.setdefault(key, {})
                if not isinstance(inner, dict):
                    raise ConfigurationError(f"{name}: '{key}' is a list; set it in the file")
                target = cast("dict[str, Any]", inner)
    return raw


def _yaml_value(name: str, text: str) -> Any:
    try:
        return yaml.safe_load(text) if text else ""
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{name}: its value is not valid YAML; put it in quotes") from error


_TOP_LEVEL = {PREFIX + name.replace("_", "").upper() for name in Settings.model_fields} | {
    PREFIX + name.upper() for name in Settings.model_fields
}


def _key(model: Any, part: str, variable: str) -> tuple[str, Any]:
    """The camelCase key that a part of a variable's name means, whatever its letter case and underscores."""
    fields = model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else {}
    wanted = part.replace("_", "").lower()
    for name, field in fields.items():
        if name.replace("_", "") == wanted:
            return field.alias or name, field.annotation
    known = [field.alias or name for name, field in fields.items()]
    raise ConfigurationError(f"{variable}: there is no key '{part}'{suggestion(part, known)}")


def _explain(item: Any, model: type[BaseModel]) -> str:
    at = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"]).lstrip(".")
    if item["type"] == "extra_forbidden":
        known = _known(model, item["loc"][:-1])
        return f"{at}: there is no such key{suggestion(str(item['loc'][-1]), known)}"
    message = item["msg"].removeprefix("Value error, ")
    shown = (
        f" (it is {item['input']!r})" if isinstance(item["input"], str | int | float) and not _SECRET.search(at) else ""
    )
    return f"{at}: {message[0].lower()}{message[1:]}{shown}"


def _known(model: Any, path: tuple[str | int, ...]) -> list[str]:
    for part in path:
        if isinstance(part, int):
            model = getattr(model, "__args__", (model,))[0]
            continue
        fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
        model = _section(fields.get(part, model))
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _section(model: Any) -> Any:
    """The section in an annotation such as `Section | None`."""
    return next((each for each in get_args(model) if isinstance(each, type) and issubclass(each, BaseModel)), model)
