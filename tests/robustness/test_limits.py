"""Each field of `Limits`, set low: reached at exactly one place, named with its value, and nothing else is affected."""

from __future__ import annotations

import json
import pickle
import time
from collections import Counter
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest

from grammar_engine import Grammar, LimitExceededError, Limits, Matcher, Switches, TokenDFA, Vocabulary, ir

ROOT = Path(__file__).resolve().parents[2]
PERSON = json.loads((ROOT / "grammars" / "schemas" / "person.json").read_text())
SUM = 'start: sum\nsum: sum "+" x | x\nx: INT | "(" sum ")"\nINT: /[0-9]+/\nNUM: /[0-9]/\n'
LIST = {"type": "array", "items": {"enum": [1, 2, [3]]}, "maxItems": 20}

SOURCES = {
    "schema": (lambda limits: Grammar.from_json_schema(PERSON, limits=limits), b'{"name": "x'),
    "regex": (lambda limits: Grammar.from_regex(r"(a|ab|b)*c[0-9]{2,5}\d+", limits=limits), b"ababbc12"),
    "lark": (lambda limits: Grammar.from_lark(SUM, limits=limits), b"(1+2)+((3))"),
    "ambiguous": (lambda limits: Grammar.from_lark('start: s*\ns: A|B|C|"(" s\nA: /a+/\nB: /aa?/\nC:/a{2,4}/\n', limits=limits), b"aaaaaa"),
    "list": (lambda limits: Grammar.from_json_schema(LIST, limits=limits), b"[1,2,[3], 1"),
    "choices": (lambda limits: Grammar.from_choices([f"w{i}" for i in range(50)], limits=limits), b"w4"),
}
# What `Stats` counts under the same name, up to the fields that count something else as well.
COUNTED = {
    "max_expressions": "expressions",
    "max_lexer_states": "lexer_states",
    "max_row_items": "max_row_items",
    "max_configurations": "configurations",
    "max_alternatives": "max_alternatives",
}
CORE = [*COUNTED, "max_rules", "max_rows", "max_step_work", "max_memory_bytes"]
VOCABULARY = Vocabulary.bytes()


def read(source: str, limits: Limits):
    """One matcher, one text in one call, and nothing that is made ahead of it. The grammar."""
    make, text = SOURCES[source]
    grammar = make(limits)
    matcher = Matcher(grammar, VOCABULARY, switches=Switches(ahead=False))
    assert matcher.accept_bytes(text)
    return grammar


def smallest(field: str, attempt) -> int:
    """The smallest value of the field with which `attempt(limits)` succeeds. All smaller values that are tried fail by its name."""
    low, high = 0, {item.name: item.default for item in fields(Limits)}[field]
    attempt(Limits())
    while high - low > 1:
        middle = (low + high) // 2
        try:
            attempt(Limits(**{field: middle}))
            high = middle
        except LimitExceededError as error:
            assert (error.limit, error.maximum) == (field, middle)
            low = middle
    return high


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("field", CORE)
def test_off_by_one(field, source):
    """With n it works as without a limit, with n - 1 the call fails by name, the matcher stays where it was, and n + 1 works too."""
    make, text = SOURCES[source]
    n = smallest(field, lambda limits: read(source, limits))
    stats = read(source, Limits(**{field: n + 1})).stats
    if field in COUNTED:
        assert n == getattr(stats, COUNTED[field])
    free = Matcher(make(None), VOCABULARY)
    exact = Matcher(make(Limits(**{field: n})), VOCABULARY)
    assert exact.accept_bytes(text)
    assert free.accept_bytes(text)
    assert exact.tokens == free.tokens
    if n == 1:
        return
    for _ in range(2):  # the second time as the first
        with pytest.raises(LimitExceededError) as caught:
            read(source, Limits(**{field: n - 1}))
        error = caught.value
        assert (error.limit, error.maximum) == (field, n - 1)
        assert f"{field} = {n - 1:,}" in str(error)
        assert f"Limits({field}=...)" in str(error)


def questions(matcher: Matcher, text: bytes, i: int):
    """Calls that change nothing, when text[:i] has been read."""
    return [
        matcher.mask,
        lambda: matcher.validate([text[i], 999]),
        lambda: matcher.validate([*text[i:]]),
        lambda: matcher.accept_bytes(text[i:] + b"\xff"),
        lambda: matcher.fork().mask(),
        lambda: matcher.explain(text[i]),
        lambda: matcher.explain(b"\xff"),
        matcher.forced_bytes,
        lambda: (matcher.is_complete, matcher.is_terminated),
    ]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("field", CORE)
def test_a_matcher_that_met_a_limit_goes_on(field, source):
    """Whatever value: each call gives the right answer or fails by this name, and a failed one has changed nothing."""
    make, text = SOURCES[source]
    reference, answers = Matcher(make(None), VOCABULARY), []
    for i, byte in enumerate(text):
        answers.append([call() for call in questions(reference, text, i)])
        assert reference.accept(byte)
    counts = Counter()

    def met(call, expected, value):
        """Whether the limit was met instead of an answer."""
        try:
            assert call() == expected
        except LimitExceededError as error:
            assert (error.limit, error.maximum) == (field, value)
            counts["met"] += 1
            return True
        counts["answered"] += 1
        return False

    top = smallest(field, lambda limits: read(source, limits))
    for value in sorted({1, 2, 3, top // 4, top // 2, top * 3 // 4, top - 2, top - 1, top} - {0, -1}):
        try:
            matcher = Matcher(make(Limits(**{field: value})), VOCABULARY)
        except LimitExceededError as error:
            assert (error.limit, error.maximum) == (field, value)
            counts["met"] += 1
            continue
        for i, byte in enumerate(text):
            for call, expected in zip(questions(matcher, text, i), answers[i], strict=True):
                met(call, expected, value)
                assert matcher.tokens == [*text[:i]]
            if met(partial(matcher.accept, byte), True, value):
                assert matcher.tokens == [*text[:i]]
                break
        matcher.reset()
        assert matcher.tokens == []
    assert counts["answered"]
    assert counts["met"] or top <= 2


# --- the front ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 50, 250, 400])
def test_max_regex_nesting(n):
    limits = Limits(max_regex_nesting=n)

    def sources(depth):
        return [
            lambda: Grammar.from_regex("(" * depth + "a" + ")" * depth, limits=limits),
            lambda: Grammar.from_json_schema({"pattern": "(" * depth + "a" + ")" * depth}, limits=limits),
            lambda: Grammar.from_lark("start: " + "(" * depth + '"a"' + ")" * depth, limits=limits),
        ]

    for make in sources(n):
        assert Matcher(make(), VOCABULARY).allowed_tokens()
    for make in sources(n + 1):
        with pytest.raises(LimitExceededError) as caught:
            make()
        assert (caught.value.limit, caught.value.maximum) == ("max_regex_nesting", n)


@pytest.mark.parametrize("depth", [6_000, 60_000])
def test_expressions_nest_no_deeper_than_the_stack_bears(depth):
    """Whatever the limit."""
    b = ir.Builder()
    expr = b.string("a")
    for _ in range(depth):
        expr = b.complement(b.concat(b.string("a"), expr))
    b.start = b.nonterminal("start")
    b.rule(b.start, [b.lexeme(expr, "deep")])
    with pytest.raises(LimitExceededError) as caught:
        Grammar._from_builder(b, limits=Limits(max_regex_nesting=1 << 62))
    assert caught.value.limit == "max_regex_nesting"


def nested(n):
    """A schema that nests n schemas in the root."""
    schema: dict = {"type": "null"}
    for _ in range(n):
        schema = {"type": "array", "items": schema}
    return schema


def intervals(phase, n):
    """n alternatives, of which none can be told from the others by what it begins with."""
    return {"anyOf": [{"type": "array", "minItems": 3 * i + phase, "maxItems": 5 * i + 7 + phase} for i in range(n)]}


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("max_schema_nesting", nested),
        ("max_schema_nodes", lambda n: {"anyOf": [{"const": i} for i in range(n)]}),
        ("max_schema_nodes", lambda n: {"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(n)}}),
        ("max_schema_nodes", nested),
        ("max_alternative_schemas", lambda n: {"allOf": [intervals(0, n), intervals(1, n)]}),
        ("max_rules", lambda n: {"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(n)}}),
        ("max_expressions", lambda n: {"enum": [f"value {i}" for i in range(n)]}),
    ],
)
@pytest.mark.parametrize("size", [7, 60])
def test_limits_of_compilation(field, make, size):
    """The value that is just enough grows with the source, by at least one for each piece."""

    def enough(n):
        return smallest(field, lambda limits: Grammar.from_json_schema(make(n), limits=limits))

    n = enough(size)
    assert size / 2 <= n
    assert enough(size + 1) > n
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_json_schema(make(size), limits=Limits(**{field: n - 1}))
    assert f"{field} = {n - 1:,}" in str(caught.value)


# --- budgets are kept -------------------------------------------------------------------------------------------------


def expensive(limits):
    """A matcher whose next mask would take long."""
    pattern = ".*(" + "|".join(f"{a}.{{{17 + i}}}" for i, a in enumerate("abcdefgh")) + ")"
    return Matcher(Grammar.from_regex(pattern, limits=limits), Vocabulary.builtin())


@pytest.mark.parametrize("times", [2, 10])
def test_a_budget_of_work_is_soon_spent(times):
    """R4: the call returns when its budget is spent, and may be repeated; time is in proportion to the budget."""
    work = times * smallest("max_step_work", expensive)  # to compile it takes
    matcher = expensive(Limits(max_step_work=work))
    begin = time.thread_time()
    failures = 0
    for byte in b"abcdefghhgfedcba" * 4:
        try:
            matcher.mask()
        except LimitExceededError as error:
            assert (error.limit, error.maximum) == ("max_step_work", work)
            failures += 1
        try:
            assert matcher.accept(byte)
        except LimitExceededError as error:
            assert error.limit == "max_step_work"
            failures += 1
    assert failures
    assert time.thread_time() - begin < 0.05 + 128 * work * 20e-6


@pytest.mark.parametrize("kilobytes", [500, 1_500])
def test_a_budget_of_memory_is_kept(kilobytes):
    """R4: within 10 %."""
    matcher = expensive(Limits(max_memory_bytes=kilobytes << 10))
    state, most, met = 1, 0, False
    for _ in range(20_000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        begin = state >> 20 & 7
        try:
            assert matcher.accept_bytes(b"abcdefgh"[begin : begin + 1])
        except LimitExceededError as error:
            assert (error.limit, error.maximum) == ("max_memory_bytes", kilobytes << 10)
            met = True
            break
        most = max(most, matcher.grammar.stats.bytes)
    assert met or matcher.grammar.stats.generation > 1
    assert (kilobytes << 10) * 0.5 < most <= (kilobytes << 10) * 1.1


def test_masks_are_kept_within_their_bytes():
    vocabulary = Vocabulary.builtin()
    for maximum in (1, 300, 900, 1500):
        grammar = Grammar.from_json_schema(PERSON, limits=Limits(max_mask_bytes=maximum))
        free = Grammar.from_json_schema(PERSON)
        for _ in range(3):
            one, other = Matcher(grammar, vocabulary), Matcher(free, vocabulary)
            for byte in b'{"name": "x", "age": 4':
                assert one.mask() == other.mask()
                assert grammar.stats.mask_bytes <= maximum
                if not (one.accept_bytes(bytes([byte])) and other.accept_bytes(bytes([byte]))):
                    break
        assert grammar.stats.masks < free.stats.masks


# --- the dataclass ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_values(name):
    for value in (0, -1, -(1 << 70)):
        with pytest.raises(ValueError, match=name):
            Limits(**{name: value})
    for value in (1.0, "1", None, True):
        with pytest.raises(TypeError, match=name):
            Limits(**{name: value})
    for value in (1, (1 << 32) + 1, (1 << 63) - 1, (1 << 64) - 1):
        assert getattr(Limits(**{name: value}), name) == value


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_the_largest_values_work(name):
    """No sum or product of a limit wraps around."""
    for value in ((1 << 32) - 1, 1 << 32, (1 << 63) - 1, (1 << 64) - 1):
        limits = Limits(**{name: value})
        for make, text in SOURCES.values():
            matcher = Matcher(make(limits), VOCABULARY)
            assert matcher.accept_bytes(text)
            matcher.mask()
        deep = Matcher(Grammar.from_regex("(" * 200 + "a" + "b)*" * 200, limits=limits), VOCABULARY)
        assert deep.allowed_tokens() == [97, 98, 256]


@pytest.mark.parametrize("name", CORE)
def test_values_beyond_64_bits_are_refused(name):
    """... by the core; Python's integers have no end."""
    with pytest.raises((ValueError, OverflowError)):
        Grammar.from_regex("a", limits=Limits(**{name: 1 << 64}))


def test_a_large_object_is_compiled_in_proportion_to_its_size():
    """100,000 keys take one or two seconds; where each key is compared with each other one, a minute and more."""
    begin = time.process_time()
    Grammar.from_json_schema({"type": "object", "required": [f"key{i}" for i in range(100_000)]})
    assert time.process_time() - begin < 12


# --- places -----------------------------------------------------------------------------------------------------------------

CLASHING = {"type": "string", "allOf": [{"pattern": f"a{i}[a-z]*b|x{i}"} for i in range(500)]}


@pytest.mark.parametrize(
    ("make", "limit", "where"),
    [
        (lambda: Grammar.from_json_schema({"properties": {"a": {"items": CLASHING}}}), "max_step_work", "/properties/a/items"),
        (lambda: Grammar.from_json_schema({"properties": {"a": CLASHING, "b": CLASHING}}), "max_step_work", "/properties/a"),
        (
            lambda: Grammar.from_json_schema({"items": {"pattern": "(a{9}b){9}c"}}, limits=Limits(max_expressions=60)),
            "max_expressions",
            "/items/pattern",
        ),
        (
            lambda: Grammar.from_json_schema({"items": {"patternProperties": {"a/b{99}": {}}}}, limits=Limits(max_expressions=60)),
            "max_expressions",
            "/items/patternProperties/a~1b{99}",
        ),
        (
            lambda: Grammar.from_json_schema({"items": {"properties": {f"p{i}": {} for i in range(99)}}}, limits=Limits(max_rules=150)),
            "max_rules",
            "/items",
        ),
        (lambda: Grammar.from_json_schema(nested(9), limits=Limits(max_schema_nesting=2)), "max_schema_nesting", "/items/items/items"),
        (lambda: Grammar.from_json_schema({"items": {"items": {}}}, limits=Limits(max_schema_nodes=2)), "max_schema_nodes", "/items/items"),
        (
            lambda: Grammar.from_lark('start: X\nX: "a" | "b"\n  | ("c" | ("d"))', limits=Limits(max_regex_nesting=1)),
            "max_regex_nesting",
            "3:12",
        ),
        (lambda: Grammar.from_lark('start: "a" X\nX: /[a-z]+x{60}/', limits=Limits(max_expressions=40)), "max_expressions", "2:1"),
        (lambda: Grammar.from_lark("start: X\nX: /(?:(?:a))/", limits=Limits(max_regex_nesting=1)), "max_regex_nesting", "2:4"),
    ],
)
def test_a_limit_met_at_compile_time_tells_where(make, limit, where):
    with pytest.raises(LimitExceededError) as caught:
        make()
    error = caught.value
    assert (error.limit, error.where) == (limit, where)
    assert f"{limit} = {error.maximum:,} is reached at {where}" in str(error) and f"raise it with Limits({limit}=...), or " in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.where) == (str(error), where)


@pytest.mark.parametrize("field", ["max_expressions", "max_lexer_states"])
def test_a_limit_met_while_masking_tells_the_lexeme(field):
    schema = {"properties": {"name": {"type": "string", "pattern": "^(?:a|b)*a(?:a|b){9}$"}}, "required": ["name"]}

    def walk(limits):
        matcher = Matcher(Grammar.from_json_schema(schema, whitespace="compact", limits=limits), VOCABULARY)
        for byte in b'{"name":"' + b"aabab" * 9:
            assert matcher.accept(byte)
            matcher.mask()

    with pytest.raises(LimitExceededError) as caught:
        walk(Limits(**{field: smallest(field, walk) - 1}))
    assert caught.value.where == "/properties/name" and "(string with conditions)" in str(caught.value)


NESTED = {
    "type": "object",
    "properties": {"deep": {"$ref": "#/$defs/n"}},
    "required": ["deep"],
    "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
}


@pytest.mark.parametrize("field", ["max_rows", "max_configurations", "max_row_items"])
def test_a_limit_met_while_reading_tells_what_was_read(field):
    limits = Limits(**{field: 3 if field == "max_row_items" else 40})
    for make, text, where in (
        (
            lambda: Grammar.from_json_schema(NESTED, whitespace="compact", limits=limits),
            b'{"deep":' + b"[" * 99,
            "/properties/deep (array)",
        ),
        (lambda: Grammar.from_lark('start: "a" deep\ndeep: "(" deep ")" | ")"? "x"', limits=limits), b"a" + b"(" * 99, "2:1 (deep)"),
    ):
        with pytest.raises(LimitExceededError, match=field) as caught:
            Matcher(make(), VOCABULARY).accept_bytes(text)
        assert f" is reached at {where};" in str(caught.value)


HARD = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(.*a){3}.{25}b$"}}, "required": ["x"]}


@pytest.mark.parametrize(
    ("limits", "options"),
    [
        (Limits(max_lexer_states=100), {}),
        (Limits(max_expressions=1_000), {}),
        (Limits(max_configurations=99), {}),
        (None, {"max_states": 99}),
    ],
)
def test_a_limit_met_by_a_token_automaton_tells_where(limits, options):
    grammar = Grammar.from_json_schema(HARD, whitespace="compact", limits=limits)
    with pytest.raises(LimitExceededError) as caught:
        TokenDFA.from_grammar(grammar, VOCABULARY, **options)
    assert caught.value.where == "/properties/x"


def test_no_detail_of_an_error_before():
    """The core's errors are written into one buffer."""
    schema = {"properties": {"a": {"pattern": r"(a)\1"}, "b": {"pattern": "(" * 300 + "a" + ")" * 300}}}
    details = {entry.pointer: entry.detail for entry in Grammar.from_json_schema(schema, lenient=True).report.relaxed}
    assert "back-reference" in details["/properties/a"]
    assert "max_regex_nesting" in details["/properties/b"] and "back-reference" not in details["/properties/b"]


def test_only_what_helps_is_advised():
    """Every limit that raises says how it is raised, and its name is that of the field."""
    for item in fields(Limits):
        error = LimitExceededError(item.name, 7)
        assert str(error).startswith(f"{item.name} = 7 is reached; raise it with Limits({item.name}=...)")
    error = LimitExceededError("max_rows", 7, where="/" + "x" * 1_000 + "\ud800")
    assert len(str(error)) < 400 and str(error).encode() and error.where.endswith("\ud800")
    error.locate("/elsewhere")
    assert "elsewhere" not in str(error)
