"""What an agent may be given: a tool, what it can do together with others, and the reading of a model's arguments. No Django here.

The question is never whether one tool is dangerous, but what it does beside those the agent already has.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

MAX_ARGUMENTS_CHARS = 8_000
MAX_SHOWN_CHARS = 60


class Capability(StrEnum):
    """The three that together let whoever writes a text take data out (Simon Willison's lethal trifecta)."""

    PRIVATE_DATA = "private-data"
    UNTRUSTED_CONTENT = "untrusted-content"
    OUTWARD_CHANNEL = "outward-channel"


NOTHING: frozenset[Capability] = frozenset()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may ask for; `run` takes checked arguments and gives text, or raises ToolFailed with a sentence.

    `parameters` is the JSON Schema of the arguments, an object. A tool that is not `read_only` runs only after a person's yes.
    `origin` is "" for our own, else the name of the server that it comes from; what such a tool says is masked as people's texts are.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[dict[str, Any]], str]
    read_only: bool
    capabilities: frozenset[Capability]
    origin: str = ""

    def as_openai(self) -> dict[str, Any]:
        """The tool as a request offers it to a model."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


class ToolFailed(Exception):  # noqa: N818 -- an answer to the model, which goes on
    """The tool has no result; the text is a sentence in Spanish for the model."""


class BadArguments(ToolFailed):
    """What the model wrote are not the arguments of this tool."""


class LethalTrifecta(Exception):  # noqa: N818 -- named after what it is
    """These tools together reach private data, read untrusted content and have a way out; `by_capability` names which has what."""

    def __init__(self, by_capability: Mapping[Capability, tuple[str, ...]]) -> None:
        parts = [f"{capability.value}: {', '.join(names)}" for capability, names in by_capability.items()]
        super().__init__(f"These tools make a lethal trifecta, take away one side ({'; '.join(parts)}).")
        self.by_capability = by_capability


class SameName(Exception):  # noqa: N818 -- named after what it is
    """Two tools of one agent have the same name: nobody could say which one a model asks for."""


def check_tools(tools: Iterable[Tool]) -> None:
    """Raises LethalTrifecta when the tools together have all three capabilities, SameName when two share a name."""
    tools = tuple(tools)
    names = [tool.name for tool in tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SameName(f"More than one tool is called {', '.join(twice)}.")
    by_capability = {one: tuple(tool.name for tool in tools if one in tool.capabilities) for one in Capability}
    if all(by_capability.values()):
        raise LethalTrifecta(by_capability)


def read_arguments(tool: Tool, written: str) -> dict[str, Any]:
    """The arguments that a model wrote as JSON, checked against the tool's schema; raises BadArguments. No text counts as no arguments."""
    arguments = _read_object(written.strip() or "{}")
    # An empty registry: a schema from elsewhere must not make us fetch what it refers to.
    validator = Draft202012Validator(dict(tool.parameters), registry=Registry(), format_checker=FormatChecker())
    try:
        errors = sorted(validator.iter_errors(arguments), key=lambda error: list(map(str, error.absolute_path)))
    except Unresolvable:
        raise ToolFailed(f"La descripción de los argumentos de {tool.name} no se puede leer.") from None
    for error in errors[:1]:
        raise BadArguments(f"Argumentos no válidos: {_say(error)}.")
    return arguments


def _read_object(written: str) -> dict[str, Any]:
    if len(written) > MAX_ARGUMENTS_CHARS:
        raise BadArguments(f"Los argumentos pasan de {MAX_ARGUMENTS_CHARS} caracteres.")
    try:
        value = json.loads(written, object_pairs_hook=_read_pairs, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadArguments("Los argumentos no son JSON.") from None
    if not isinstance(value, dict):
        raise BadArguments("Los argumentos no son un objeto JSON.")
    return value


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that stands twice a person might read the first and the tool take the last."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BadArguments("Los argumentos repiten un nombre.")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _say(error: ValidationError) -> str:
    """What is wrong, in Spanish where we have words for it; never more than a little of what the model wrote."""
    where = ".".join(map(str, error.absolute_path)) or "el objeto"
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return f"falta {', '.join(missing)}"
        case "additionalProperties":
            extra = sorted(set(error.instance) - set(error.schema.get("properties", {})))
            return f"no existe {_show(', '.join(extra))}"
        case "type":
            return f"{where} tiene que ser de tipo {error.validator_value}"
        case "enum":
            return f"{where} tiene que ser uno de {', '.join(map(str, error.validator_value))}"
        case "format" if error.validator_value == "date":
            return f"{where} tiene que ser una fecha AAAA-MM-DD que exista"
        case "minimum" | "maximum":
            return f"{where} tiene que ser {'por lo menos' if error.validator == 'minimum' else 'como máximo'} {error.validator_value}"
    return f"{where} no cumple «{error.validator}»"


def _show(untrusted: str) -> str:
    return ascii(untrusted[:MAX_SHOWN_CHARS])
