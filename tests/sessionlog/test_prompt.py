"""The parts of a prompt: layers and shadowing, order, the one complete section, variables, tools that are offered or not."""
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import PromptError, SessionLogError, ToolHiddenError, ToolUnknownError
from labsupport.sessionlog.prompt import GLOBAL, ContextPart, Opener, Prompt, Section, Tools
from tests.sessionlog.strategies import NASTY


def schemas(*names):
    return [{"name": name, "description": f"does {name}"} for name in names]


def system(*sections, **more):
    return Prompt(sections, **more).compose().system


def names(prompt, what="sections"):
    return [source["name"] for source in prompt.compose().sources[what]]


# Sections

def test_sections_stand_in_their_order_and_those_of_one_order_as_they_were_given():
    assert system(Section("b", "B", 1), Section("c", "C", 1), Section("z", "Z", -1), Section("a", "A")) == "Z\n\nA\n\nB\n\nC"


def test_a_scoped_section_takes_the_place_of_the_global_one_and_has_its_own_order():
    parts = [Section("role", "global"), Section("style", "Be brief.", 1), Section("role", "scoped", 2, scope="audit")]
    assert system(*parts) == "global\n\nBe brief."
    assert system(*parts, scope="audit") == "Be brief.\n\nscoped"
    assert system(*parts, scope="elsewhere") == "global\n\nBe brief."


def test_it_does_not_matter_which_of_two_layers_is_given_first():
    parts = [Section("role", "scoped", scope="audit"), Section("role", "global")]
    assert system(*parts, scope="audit") == "scoped"


def test_a_complete_section_is_the_whole_prompt():
    parts = [Section("role", "You help."), Section("all", "All of it.", 9, complete=True, version="v3")]
    prompt = Prompt(parts)
    assert prompt.compose().system == "All of it."
    assert prompt.compose().sources["sections"] == [
        {"name": "all", "scope": GLOBAL, "version": "v3", "order": 9, "span": [0, 10]}]


def test_two_effective_complete_sections_fail_and_name_both():
    with pytest.raises(PromptError, match="'one' and 'two'") as caught:
        system(Section("one", "1", complete=True), Section("two", "2", complete=True, scope="audit"), scope="audit")
    assert caught.value.name == "two"


@pytest.mark.parametrize("scope", ["audit", GLOBAL, "elsewhere"])
def test_a_complete_section_that_is_shadowed_or_of_another_scope_does_not_count(scope):
    parts = [Section("one", "1", complete=True), Section("one", "one", scope="audit"),
             Section("two", "2", complete=True, scope="audit")]
    assert system(*parts, scope=scope) == ("2" if scope == "audit" else "1")


@pytest.mark.parametrize("scope", [GLOBAL, "audit", "elsewhere"])
@pytest.mark.parametrize("layer", [GLOBAL, "audit"])
@pytest.mark.parametrize("kind", ["section", "tools", "context", "opener"])
def test_a_name_stands_once_in_a_layer_even_in_one_that_is_not_asked_for(kind, layer, scope):
    made = {"section": lambda: {"sections": [Section("x", "1", scope=layer)] * 2},
            "tools": lambda: {"tools": [Tools("x", (), scope=layer)] * 2},
            "context": lambda: {"context": [ContextPart("x", str, scope=layer)] * 2},
            "opener": lambda: {"openers": [Opener("x", "1", scope=layer)] * 2}}[kind]()
    with pytest.raises(PromptError, match="have the name 'x' in the layer") as caught:
        Prompt(**made, scope=scope).compose()
    assert (caught.value.name, isinstance(caught.value, SessionLogError)) == ("x", True)


def test_a_section_that_says_nothing_is_not_there():
    prompt = Prompt([Section("a", "A"), Section("none", ""), Section("made", lambda values: ""), Section("b", "B")])
    assert prompt.compose().system == "A\n\nB"
    assert names(prompt) == ["a", "b"]


def test_a_prompt_of_nothing():
    composed = Prompt().compose()
    assert (composed.system, composed.tools, composed.sources["sections"]) == ("", [], [])


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(lambda text: "{{" not in text)


@given(st.lists(st.tuples(texts, st.integers(-2, 2), st.sampled_from([GLOBAL, "audit", "sales"])), max_size=8),
       st.sampled_from([GLOBAL, "audit"]))
def test_spans_cut_the_sections_out_of_the_text_and_leave_two_line_breaks_between(parts, scope):
    sections = [Section(f"s{at // 2}" if layer != GLOBAL else f"s{at}", text, order, layer)
                for at, (text, order, layer) in enumerate(parts)]
    sections = list({(section.name, section.scope): section for section in sections}.values())
    composed = Prompt(sections, scope=scope).compose()
    found = composed.sources["sections"]
    said = {(section.name, section.scope): section.text for section in sections}
    assert [composed.system[slice(*source["span"])] for source in found] == [
        said[source["name"], source["scope"]] for source in found]
    assert composed.system == "\n\n".join(composed.system[slice(*source["span"])] for source in found)
    assert [source["order"] for source in found] == sorted(source["order"] for source in found)
    visible = {section.name for section in sections if section.scope in (GLOBAL, scope)}
    assert {source["name"] for source in found} == visible


# Variables

def test_variables_stand_in_texts_and_a_function_gets_them():
    parts = [Section("who", "You help {{user-name}} of {{team}}."),
             Section("made", lambda values: f"Team: {values['team']}.", 1)]
    assert system(*parts, variables={"user-name": "Ana", "team": "audit"}) == "You help Ana of audit.\n\nTeam: audit."


def test_a_variable_whose_value_looks_like_one_is_text():
    assert system(Section("a", "{{x}}"), variables={"x": "{{y}}", "y": "no"}) == "{{y}}"


@pytest.mark.parametrize("text", ["{x}", "{{}}", "{{ x }}", "{{a.b}}", "{{x"])
def test_what_is_no_variable_stays(text):
    assert system(Section("a", text)) == text


def test_a_variable_that_is_not_there_is_named_with_the_near_miss():
    with pytest.raises(PromptError, match=r"section 'role' names a variable 'usre' that is not there; did you mean 'user'\?"):
        system(Section("role", "{{usre}}"), variables={"user": "Ana"})
    with pytest.raises(PromptError, match=r"not there$"):
        system(Section("role", "{{x}}"))


def test_a_section_that_is_shadowed_asks_for_no_variable():
    parts = [Section("role", "{{gone}}"), Section("role", "here", scope="audit")]
    assert system(*parts, scope="audit") == "here"


# Tools

SHOP = Tools("shop", schemas("look", "pay"), visible=lambda name: name != "pay", version="shop-2")


def test_what_is_offered_are_the_visible_schemas_and_all_are_known():
    prompt = Prompt(tools=[SHOP, Tools("files", schemas("read"))])
    composed = prompt.compose()
    assert [tool["name"] for tool in composed.tools] == ["look", "read"]
    assert SHOP.known_names == ["look", "pay"]
    assert composed.sources["tools"] == [
        {"name": "look", "scope": GLOBAL, "version": "shop-2", "provider": "shop"},
        {"name": "read", "scope": GLOBAL, "version": "", "provider": "files"}]


def test_unknown_and_hidden_are_two_errors():
    prompt = Prompt(tools=[SHOP])
    prompt.check_tool("look")
    with pytest.raises(ToolHiddenError, match="'pay' is known, and it is not offered here") as hidden:
        prompt.check_tool("pay")
    with pytest.raises(ToolUnknownError, match=r"no tool 'payy'; did you mean 'pay'\?") as unknown:
        prompt.check_tool("payy")
    assert not isinstance(hidden.value, ToolUnknownError)
    assert not isinstance(unknown.value, ToolHiddenError)


def test_a_provider_of_another_scope_is_known_and_hidden_and_a_shadowed_one_too():
    prompt = Prompt(tools=[SHOP, Tools("shop", schemas("look"), scope="audit"), Tools("mail", schemas("send"), scope="office")],
                    scope="audit")
    assert [tool["name"] for tool in prompt.compose().tools] == ["look"]
    for name in ("pay", "send"):
        with pytest.raises(ToolHiddenError):
            prompt.check_tool(name)


def test_two_tools_of_one_name_are_refused_unless_one_is_not_offered():
    with pytest.raises(PromptError, match="two tools have the name 'look'"):
        Prompt(tools=[SHOP, Tools("other", schemas("look"))]).compose()
    offered = Prompt(tools=[SHOP, Tools("other", schemas("pay"))])
    assert [tool["name"] for tool in offered.compose().tools] == ["look", "pay"]
    offered.check_tool("pay")


def test_visibility_is_asked_every_time():
    open_now = []
    prompt = Prompt(tools=[Tools("shop", schemas("pay"), visible=lambda name: bool(open_now))])
    with pytest.raises(ToolHiddenError):
        prompt.check_tool("pay")
    open_now.append(True)
    prompt.check_tool("pay")


# Context and openers

def test_context_and_openers_have_layers_too():
    prompt = Prompt(context=[ContextPart("day", lambda: "Monday"), ContextPart("day", lambda: "Tuesday", scope="audit"),
                             ContextPart("none", str)],
                    openers=[Opener("rules", "global"), Opener("rules", "scoped", scope="audit")])
    assert prompt.context_now() == {"day": "Monday"}
    audit = replace(prompt, scope="audit")
    assert audit.context_now() == {"day": "Tuesday"}
    assert [opener.text for opener in prompt.effective_openers()] == ["global"]
    assert [opener.text for opener in audit.effective_openers()] == ["scoped"]


def test_context_is_not_read_when_the_fixed_part_is_composed():
    def fails():
        raise AssertionError

    prompt = Prompt(context=[ContextPart("clock", fails, version="v1")])
    assert prompt.compose().sources["context"] == [{"name": "clock", "scope": GLOBAL, "version": "v1"}]


@pytest.mark.parametrize("name", NASTY)
def test_any_name_is_a_name(name):
    prompt = Prompt([Section(name, "text", version=name)], [Tools(name, schemas(name), version=name)],
                    [ContextPart(name, lambda: "now")], [Opener(name, "first")])
    assert {what: names(prompt, what) for what in ("sections", "tools", "context", "openers")} == {
        what: [name] for what in ("sections", "tools", "context", "openers")}
    prompt.check_tool(name)
