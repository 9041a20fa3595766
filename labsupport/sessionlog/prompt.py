"""What a request has besides its messages, put together from named parts, each with its scope and version (chapter 4, §4.5)."""
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from labsupport.errors import PromptError, ToolHiddenError, ToolUnknownError
from labsupport.lossless import joined

DYNAMIC_CONTEXT = "dynamic-context"
"""The plugin that a snapshot of the dynamic context names as its source."""
SNAPSHOT_INTRO = "The context as it is now, in place of earlier ones:\n\n"
"""How the text of a snapshot begins."""
SESSION_OPENER = "session-opener"
"""The plugin that an opener names as its source."""

GLOBAL = "global"
"""The layer that every scope sees."""

Values = Mapping[str, str]
"""Prompt variables: name → text."""

Text = str | Callable[[Values], str]
"""A text, or what makes it of the variables. In a text, {{name}} stands for a variable."""


@dataclass(frozen=True)
class Section:
    """One part of the system prompt. *order* places it; *version* says which code or file made it.

    A section of a scope takes the place of a global one of the same name. One that is *complete* is the whole prompt.
    """

    name: str
    text: Text
    order: int = 0
    scope: str = GLOBAL
    version: str = ""
    complete: bool = False


@dataclass(frozen=True)
class Tools:
    """Where tools come from: the schemas of all that *known* gives a name to, of which *visible* are offered now."""

    name: str
    schemas: Sequence[Mapping[str, Any]]
    visible: Callable[[str], bool] = lambda name: True
    scope: str = GLOBAL
    version: str = ""

    @property
    def known_names(self) -> list[str]:
        """The names of all tools, offered now or not."""
        return [schema["name"] for schema in self.schemas]

    def offered(self) -> list[Mapping[str, Any]]:
        """The schemas of the tools that are offered now."""
        return [schema for schema in self.schemas if self.visible(schema["name"])]


@dataclass(frozen=True)
class ContextPart:
    """A part of the dynamic context: *read* is asked before every request, and its answer is logged when it changed."""

    name: str
    read: Callable[[], str]
    scope: str = GLOBAL
    version: str = ""


@dataclass(frozen=True)
class Opener:
    """A message that stands before all others for the whole session; logged once, and again when a compaction removed it."""

    name: str
    text: str
    scope: str = GLOBAL
    version: str = ""


@dataclass(frozen=True)
class Composed:
    """The *system* prompt and the *tools* of a request, and the *sources* they were made of, as the log keeps them."""

    system: str
    tools: list[Any]
    sources: dict[str, Any] | None


@dataclass(frozen=True)
class Prompt:
    """Everything that requests of one *scope* are made of, besides messages and call config.

    >>> from dataclasses import replace
    >>> prompt = Prompt([Section("role", "You help {{who}}."), Section("role", "You audit.", scope="audit"),
    ...                  Section("style", "Be brief.", order=1)], variables={"who": "Ana"})
    >>> prompt.compose().system
    'You help Ana.\\n\\nBe brief.'
    >>> replace(prompt, scope="audit").compose().system
    'You audit.\\n\\nBe brief.'
    """

    sections: Sequence[Section] = ()
    tools: Sequence[Tools] = ()
    context: Sequence[ContextPart] = ()
    openers: Sequence[Opener] = ()
    variables: Values = field(default_factory=dict)
    scope: str = GLOBAL

    def compose(self) -> Composed:
        """The request's fixed part now. PromptError for a name that stands twice in a layer, two complete sections, or a
        variable that is not there.
        """
        system, sections = self._system()
        tools, offered = self._offered()
        return Composed(system, tools, {
            "scope": self.scope, "sections": sections, "tools": offered,
            "context": [_source(part) for part in self._effective(self.context, "context")],
            "openers": [_source(part) for part in self._effective(self.openers, "opener")]})

    def _system(self) -> tuple[str, list[dict[str, Any]]]:
        chosen = sorted(self._effective(self.sections, "section"), key=lambda section: section.order)
        whole = [section for section in chosen if section.complete]
        if len(whole) > 1:
            raise PromptError(f"sections {whole[0].name!r} and {whole[1].name!r} are both complete, and a prompt is one whole; "
                              "let one shadow the other by its name", whole[1].name)
        text, sources = "", []
        for section in whole or chosen:
            said = self._filled(section)
            if not said:
                continue
            text += "\n\n" if text else ""
            sources.append({**_source(section), "order": section.order, "span": [len(text), len(text) + len(said)]})
            text += said
        return text, sources

    def _filled(self, section: Section) -> str:
        def value(found: re.Match[str]) -> str:
            name = found[1]
            if name not in self.variables:
                near = get_close_matches(name, self.variables, 1)
                raise PromptError(f"section {section.name!r} names a variable {name!r} that is not there"
                                  f"{f'; did you mean {near[0]!r}?' if near else ''}", name)
            return self.variables[name]

        text = section.text if isinstance(section.text, str) else section.text(self.variables)
        return joined(_VARIABLE.sub(value, text) if isinstance(section.text, str) else text)

    def _offered(self) -> tuple[list[Any], list[dict[str, Any]]]:
        tools: list[Any] = []
        sources: list[dict[str, Any]] = []
        for provider in self._effective(self.tools, "tools"):
            for schema in provider.offered():
                if any(source["name"] == schema["name"] for source in sources):
                    raise PromptError(f"two tools have the name {schema['name']!r}; a model could not say which it means",
                                      schema["name"])
                sources.append({**_source(provider), "name": schema["name"], "provider": provider.name})
                tools.append(dict(schema))
        return tools, sources

    def _effective(self, parts: Iterable[Any], what: str) -> list[Any]:
        """Those of *parts* that count in this scope: each of its own, and the global ones that none of them shadows."""
        layers: dict[str, dict[str, Any]] = {GLOBAL: {}, self.scope: {}}
        for part in parts:
            layer = layers.setdefault(part.scope, {})
            if part.name in layer:
                raise PromptError(f"two parts ({what}) have the name {part.name!r} in the layer {part.scope!r}", part.name)
            layer[part.name] = part
        return list({**layers[GLOBAL], **layers[self.scope]}.values())

    def check_tool(self, name: str) -> None:
        """ToolUnknownError for a *name* that no provider knows, ToolHiddenError for one that is not offered here and now."""
        providers = self._effective(self.tools, "tools")
        if any(schema["name"] == name for provider in providers for schema in provider.offered()):
            return
        known = [known for provider in self.tools for known in provider.known_names]
        if name in known:
            raise ToolHiddenError(name)
        raise ToolUnknownError(name, next(iter(get_close_matches(name, known, 1)), None))

    def context_now(self) -> dict[str, str]:
        """The dynamic context as it is now, name → text; parts that say nothing are left out."""
        said = {part.name: joined(part.read()) for part in self._effective(self.context, "context")}
        return {name: text for name, text in said.items() if text}

    def effective_openers(self) -> list[Opener]:
        """The openers of this scope."""
        return self._effective(self.openers, "opener")


_VARIABLE = re.compile(r"\{\{([\w-]+)\}\}")


def _source(part: Any) -> dict[str, Any]:
    return {"name": part.name, "scope": part.scope, "version": part.version}
