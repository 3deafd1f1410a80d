"""100,000 brackets, in texts and in sources: an answer or a named limit, soon. Nothing recurses in proportion to its input."""

from __future__ import annotations

import time

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Vocabulary

DEEP = 100_000
SOON = 10.0  # seconds of this thread, which may have to collect the garbage of all tests; by itself it is some 50 ms, and by the square minutes

TREE = {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}
OBJECT = {
    "$ref": "#/$defs/t",
    "$defs": {"t": {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}}, "additionalProperties": False}},
}


def soon(call):
    """The result of a call, or its exception, which did not take long."""
    begin = time.thread_time()
    try:
        return call()
    finally:
        assert time.thread_time() - begin < SOON


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "opening", "closing"), [(TREE, b"[", b"]"), (OBJECT, b'{"a":', b"}"), ({}, b"[", b"]"), ({}, b'{"a":', b"}")]
)
def test_a_deep_text_in_one_piece(schema, opening, closing):
    matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact"), Vocabulary.bytes())
    inner = b"{}" if opening[:1] == b"{" else b"[]"
    assert soon(lambda: matcher.accept_bytes(opening * DEEP + inner + closing * DEEP))
    assert matcher.is_complete
    assert not matcher.accept_bytes(closing)
    matcher.rollback(1)
    assert matcher.tokens == []
    assert soon(lambda: matcher.accept_bytes(opening * DEEP))
    assert not matcher.is_complete
    assert soon(lambda: len(matcher.allowed_tokens())) > 0
    assert not soon(lambda: matcher.accept_bytes(inner + closing * (DEEP + 1)))
    assert soon(lambda: matcher.explain(inner + closing * (DEEP + 1))).position == len(inner) + DEEP * len(closing)


def test_a_deep_text_token_by_token():
    vocabulary = Vocabulary([b"[", b"]", b"[[[[[[[[[[", b"]]]]]]]]]]", b""], eos=[4])
    matcher = Matcher(Grammar.from_json_schema(TREE, whitespace="compact"), vocabulary)
    assert matcher.accept_tokens([0] * DEEP) == DEEP
    assert matcher.allowed_tokens() == [0, 1, 2, 3]
    assert matcher.validate([3] * (DEEP // 10) + [1]) == DEEP // 10
    assert matcher.accept_tokens([1] * (DEEP - 1)) == DEEP - 1
    assert matcher.allowed_tokens() == [1]
    assert matcher.accept_tokens([1, 1]) == 1
    assert matcher.allowed_tokens() == [4]
    matcher.rollback(DEEP)
    assert matcher.allowed_tokens() == [0, 1, 2, 3]
    assert matcher.fork().accept_tokens([3] * (DEEP // 10)) == DEEP // 10


@pytest.mark.parametrize(
    "text",
    [
        'start: "(" start ")" | "x"',
        'start: start "x" | "x"',
        'start: "x" start | "x"',
        'start: start start | "x" | "(" start ")"',
        'start: ("x" | "(")* ")"*',
    ],
)
def test_recursion_of_every_kind(text):
    depth = 300 if "start start" in text else DEEP
    matcher = Matcher(Grammar.from_lark(text), Vocabulary.bytes())
    if '"("' in text:
        assert matcher.accept_bytes(b"(" * depth + b"x" + b")" * depth)
        assert matcher.is_complete
        matcher.reset()
    if '"x" s' in text or 't "x"' in text:
        assert matcher.accept_bytes(b"x" * DEEP)
        assert matcher.is_complete


def test_the_limit_on_a_deep_text_is_named():
    """Each level is a row of its own: with few rows it is refused at a depth, and below that depth all is well."""
    grammar = Grammar.from_json_schema(OBJECT, whitespace="compact", limits=Limits(max_rows=1000))
    matcher = Matcher(grammar, Vocabulary.bytes())
    with pytest.raises(LimitExceededError) as caught:
        soon(lambda: matcher.accept_bytes(b'{"a":' * DEEP))
    assert caught.value.limit == "max_rows"
    assert matcher.tokens == []
    assert matcher.accept_bytes(b'{"a":{}}')
    assert matcher.is_complete


# --- sources ----------------------------------------------------------------------------------------------------------


def deep_list(depth):
    """[[[...]]] as a Python value."""
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def deep_schema(keyword, depth):
    """A subschema of a subschema of ..."""
    schema: dict = {}
    for _ in range(depth):
        schema = {
            keyword: [schema]
            if keyword.endswith("Of") or keyword == "prefixItems"
            else {"p": schema}
            if keyword in ("properties", "$defs")
            else schema
        }
    return schema


@pytest.mark.parametrize("keyword", ["items", "not", "allOf", "anyOf", "oneOf", "prefixItems", "properties", "additionalProperties"])
def test_deep_schemas(keyword):
    schema = deep_schema(keyword, DEEP)
    with pytest.raises(LimitExceededError, match="max_schema_nesting = 500") as caught:
        soon(lambda: Grammar.from_json_schema(schema))
    assert (caught.value.limit, caught.value.maximum) == ("max_schema_nesting", 500)
    while schema:  # the interpreter itself would recurse to free it
        part = schema.pop(next(iter(schema)))
        schema = part[0] if isinstance(part, list) else part.get("p", part)


@pytest.mark.parametrize(
    "wrap", [lambda v: {"const": v}, lambda v: {"enum": [v]}, lambda v: {"items": {"const": v}}], ids=["const", "enum", "items"]
)
def test_deep_constants(wrap):
    with pytest.raises(LimitExceededError) as caught:
        soon(lambda: Grammar.from_json_schema(wrap(deep_list(DEEP))))
    assert caught.value.limit == "max_schema_nesting"


def test_what_is_not_looked_at_may_be_deep():
    for keyword in ("default", "examples", "x-unknown"):
        assert soon(lambda keyword=keyword: Grammar.from_json_schema({keyword: deep_list(DEEP), "type": "null"}))


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP,
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP,
        '{"items":' * DEEP + "{}" + "}" * DEEP,
        '{"const":' + "[" * DEEP + "]" * DEEP + "}",
    ],
)
def test_deep_json_text(text):
    for source in (text, text.encode()):
        with pytest.raises(LimitExceededError) as caught:
            soon(lambda source=source: Grammar.from_json_schema(source))
        assert caught.value.limit == "max_schema_nesting"


def test_brackets_in_strings_do_not_nest():
    assert Grammar.from_json_schema('{"const": "%s"}' % ("[{" * DEEP))


@pytest.mark.parametrize("dialect", ["python", "ecma"])
@pytest.mark.parametrize(
    "pattern",
    ["(" * DEEP + ")" * DEEP, "(?:" * DEEP + "a" + ")" * DEEP, "(" * DEEP, "(a|" * DEEP + "b" + ")" * DEEP, "(" * DEEP + "a" + ")*" * DEEP],
)
def test_deep_patterns(pattern, dialect):
    for call in (lambda: Grammar.from_regex(pattern, dialect=dialect), lambda: Grammar.from_json_schema({"pattern": pattern})):
        with pytest.raises(LimitExceededError, match="max_regex_nesting = 250") as caught:
            soon(call)
        assert (caught.value.limit, caught.value.maximum) == ("max_regex_nesting", 250)


@pytest.mark.parametrize(
    "make", [Grammar.from_regex, lambda pattern, limits: Grammar.from_json_schema({"pattern": pattern}, limits=limits)]
)
def test_what_is_fixed_is_not_said_to_be_raised(make):
    pattern = "(?:a|b" * 3_000 + ")*" * 3_000
    with pytest.raises(LimitExceededError, match=r"^5,000 levels .*, however high max_regex_nesting is: nest less$") as caught:
        make(pattern, limits=Limits(max_regex_nesting=100_000))
    assert (caught.value.limit, caught.value.maximum, caught.value.is_fixed) == ("max_regex_nesting", 5_000, True)
    with pytest.raises(LimitExceededError, match="max_regex_nesting = 250 is reached") as caught:
        make(pattern, limits=Limits())
    assert not caught.value.is_fixed


def test_long_patterns_are_not_deep():
    for pattern in ("a" * DEEP, "a?" * 20_000, "|".join("ab" for _ in range(DEEP)), "[a-z]" * 20_000, "(a)" * 20_000, "(?:a|b)" * 20_000):
        matcher = Matcher(soon(lambda pattern=pattern: Grammar.from_regex(pattern)), Vocabulary.bytes())
        assert soon(lambda matcher=matcher: matcher.accept_bytes(b"a"))


@pytest.mark.parametrize(
    "text", ["start: " + "(" * DEEP + '"a"' + ")" * DEEP, "start: " + "[" * DEEP, "start: /" + "(" * DEEP + "a" + ")" * DEEP + "/"]
)
def test_deep_lark(text):
    with pytest.raises(LimitExceededError, match="max_regex_nesting = 250"):
        soon(lambda: Grammar.from_lark(text))


def test_a_long_chain_of_rules_is_not_deep():
    n = 2_000
    text = "start: r0\n" + "\n".join(f"r{i}: r{i + 1}" for i in range(n)) + f'\nr{n}: "a"'
    matcher = Matcher(Grammar.from_lark(text), Vocabulary.bytes())
    assert matcher.accept_bytes(b"a")
    assert matcher.is_complete


def test_a_pattern_that_nests_too_deep_is_given_up() -> None:
    """With `lenient=True`, as other patterns that cannot be enforced."""
    pattern = "(" * 1200 + "a" + ")" * 1200
    schema = {"properties": {"x": {"pattern": pattern}}, "patternProperties": {pattern: {"type": "integer"}}}
    report = Grammar.from_json_schema(schema, lenient=True).report
    assert sorted((entry.pointer, entry.keyword) for entry in report.relaxed) == [("", "patternProperties"), ("/properties/x", "pattern")]
    assert all("max_regex_nesting = 250 is reached" in entry.detail for entry in report.relaxed)
