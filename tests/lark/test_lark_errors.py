"""Bad grammars: each gets a clear exception with a place, quickly."""

from __future__ import annotations

import time

import pytest

from grammar_engine import Grammar
from grammar_engine._native import NativeExpressions
from grammar_engine.errors import GrammarError, GrammarSyntaxError, LimitExceededError, UnsupportedRegexError
from grammar_engine.frontends import lark as front_end
from grammar_engine.ir import PYTHON_FULL, Builder, PatternPlace
from grammar_engine.limits import Limits


def build(text: str, **options: object) -> Builder:
    builder = Builder()
    front_end.build(builder, text, **options)
    return builder


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ("start: (", "unclosed parenthesis", 1, 9),
        ("start: )", "unmatched closing parenthesis", 1, 8),
        ("start: " + ")" * 300 + "(" * 300, "unmatched closing parenthesis", 1, 8),
        ('start "a"', "missing colon", 1, 7),
        ('start: "a" %%', "no place here", 1, 12),
        ('\nstart: "a', "string is not closed", 2, 8),
        ('start: "a\\"', "string is not closed", 1, 8),
        ("start: /abc", "regular expression is not closed", 1, 8),
        ("start: /a\nb/", "only with the flag x", 1, 10),
        ("start: /x(a/", "malformed", 1, 10),
        ("start: /[a/", "malformed", 1, 9),
        ("start: /a{1,99999999999}/", "too large", 1, 8),
        ('start: ""', "empty terminal", 1, 8),
        ('start: "\\x4"', "hexadecimal", 1, 9),
        ('start: "\\ud800"', "no character", 1, 9),
        ('start: "a\\ude00\\ud83d"', "\\ude00 is no character", 1, 10),
        ('start: "\\ud83d\\ude00\\ud83d"', "\\ud83d is no character", 1, 21),
        ('start: "\\ud83d\\u0041"', "\\ud83d is no character", 1, 9),
        ('start: "a\ud800"', "surrogate", 1, 10),
        ("start: /\ud800/", "surrogate", 1, 9),
        ('start: "b".."a"', "range", 1, 8),
        ('start: "a".."\ud800"', "surrogate", 1, 14),
        ('start: "ab".."c"', "range", 1, 8),
        ('start: "a".."c"i', "range", 1, 13),
        ('start: "a"~3..2', "wrong way round", 1, 12),
        ('start: "a"~99999999999', "bound", 1, 12),
        ('start: "a"~-1', "bound", 1, 12),
        ('start: "a"{2,3}', 'write "a"~2..3', 1, 11),
        ('start: "a"{2}', 'write "a"~2', 1, 11),
        ('start: "a"{2,}', 'write "a"~2 "a"*', 1, 11),
        ('start: "a"{0,}', 'written "a"*', 1, 11),
        ('start: "a"{ , 3}', 'write "a"~0..3', 1, 11),
        ("start: (a b){2, 3}\na: /x/", "write (...)~2..3", 1, 13),
        ("start: a{2,3}\na: /x/", "write a~2..3", 1, 10),
        ("start: A{,}\nA: /x/", "unexpected colon", 1, 9),
        ("start: A\nA: B\nB: A", "contains itself", 3, 4),
        ("start: A\nA: start", "rule cannot stand inside", 2, 4),
        ('start: A\nA: "x" -> y', "alias", 2, 11),
        ("start: A\nA:", "nothing in it", 2, 1),
        ('start: "a"\n%ignore\n', "nothing after %ignore", 2, 1),
        ('start: "a"\n%ignore ( )', "nothing after %ignore", 2, 1),
        ('start: "a"\n%ignore start', "rule cannot stand inside", 2, 9),
        ('start: "a"\nstart: "b"', "defined twice", 2, 1),
        ('start: x\nx{y}: y "z"', "needs its arguments", 1, 8),
        ('start: "a" | x\nx{y}: y "z"', "needs its arguments", 1, 14),
        ('start: (x) | "a"~3..2\nx{y}: y "z"', "needs its arguments", 1, 9),  # the first error in the text
        ('start: x{"a", "b"}\nx{y}: y', "takes 1 arguments, not 2", 1, 8),
        ('start: x{"a"}\nx: "b"', "not a template", 1, 8),
        ('start: "a"\nx{y, y}: y', "appears twice", 2, 6),
        ("%declare A\nstart: A", "declared without", 1, 10),
        ("%import foo.BAR\nstart: BAR", "only the grammars that come with Lark", 1, 9),
        ("%import .common.INT\nstart: INT", "only the grammars that come with Lark", 1, 10),
        ("%import common\nstart: common", "only the grammars that come with Lark", 1, 9),
        ("%import common.INT -> int\nstart: int", "keeps a name in capitals", 1, 23),
        ("%import common.WS\n%import unicode.WS\nstart: WS", "imported twice", 2, 17),
        ("%import common.INT -> A\n%import common.DIGIT -> A\nstart: A", "A is the name of two imports", 2, 25),
        ('%override x: "a"\nstart: "b"', "no x to override", 1, 11),
        ('%extend x: "a"\nstart: "b"', "no x to extend", 1, 9),
        ('start: x{"a"}\nx{y}: y\n%extend x{y, z}: z', "other parameters", 3, 9),
    ],
)
def test_malformed(text: str, reason: str, line: int, column: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        build(text)
    error = caught.value
    assert reason in error.reason
    assert (error.line, error.column) == (line, column)
    assert error.source == text
    assert error.snippet is not None and error.snippet.endswith("^")


def test_all_undefined_names_at_once() -> None:
    text = 'start: a "x" B\nc: start{d}\nE: F\n%ignore G\n%import common.H\n'
    with pytest.raises(GrammarSyntaxError) as caught:
        build(text)
    assert all(name in caught.value.reason for name in "aBdFGH")
    assert "start" not in caught.value.reason and "c" not in caught.value.reason.removeprefix("not defined: ")
    assert (caught.value.line, caught.value.column) == (1, 8)


@pytest.mark.parametrize(
    ("regexp", "construct", "column"),
    [
        ("/a(?=b)/", "look-ahead", 10),
        ("/a(?!b)/", "look-ahead", 10),
        ("/(?<=b)a/", "look-behind", 9),
        ("/(?<!b)a/", "look-behind", 9),
        (r"/(a)\1/", "back-reference", 12),
        ("/(?P<x>a)(?P=x)/", "back-reference", 17),
        ("/(a)(?(1)b|c)/", "conditional group", 12),
        (r"/if\b/", "word boundary", 11),
        (r"/a\z/", "anchor", 10),
        (r"/\p{L}\b/", "word boundary", 14),
        ("/^a/", "anchor", 9),
        ("/a$/", "anchor", 10),
        ("/a++b/", "possessive quantifier", 10),
        ("/a/l", "locale flag", 11),
    ],
)
def test_refused_by_name(regexp: str, construct: str, column: int) -> None:
    with pytest.raises(UnsupportedRegexError) as caught:
        build(f"start: {regexp}")
    assert caught.value.construct == construct
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('start: A B\n\nA: "a"\nB: /x/ /[[:alpha:]]+/\n', 4, 10),
        ('start: A B\n\nA: "a"\nB: /x/ /(?i)é[[:alpha:]]+/\n', 4, 15),  # the core is not given the flags at the start
        ("start: A\nA: /a # b\n  [[:alpha:]]/x", 3, 4),
        ("start: A %json true\n\nA: /é\\N{BULLET}/", 3, 6),
        ("start: A+\nA: /a/ | ~/[[:alpha:]]/", 2, 13),
        ('start: x\nx[suffix="b"]: /a[[:alpha:]]/', 2, 19),
        (r'start: "a" /\p{L}[[:alpha:]]/', 1, 19),
        ('start: x{/[[:alpha:]]/}\nx{y}: "a" y', 1, 12),
        ('start: "a"+\n%ignore /[[:alpha:]]/', 2, 11),
        ("start: (/[[:alpha:]]/ /b/)~3..400\n", 1, 11),
    ],
)
@pytest.mark.parametrize("lexing", ["exact", "longest"])
def test_what_the_core_refuses_has_its_place_in_the_grammar(text: str, line: int, column: int, lexing: str) -> None:
    if "%json" in text and lexing == "longest":
        return
    with pytest.raises(UnsupportedRegexError) as caught:
        Grammar.from_lark(text, lexing=lexing)
    error = caught.value
    assert error.construct in ("POSIX class", "named character")
    assert (error.source, error.line, error.column) == (text, line, column)


@pytest.mark.parametrize(
    ("regexp", "reason", "column"),
    [
        (r"/a\p{Foo}/", 'unknown Unicode property "Foo"', 10),
        (r"/\p{L/", "without }", 9),
        (r"/\p{L}(/", "( without )", 14),
        (r"/[\u{110000}]/", "bad escape", 10),
        ("/a(?<x>b)(?P<x>c)/", "this group name is taken", 21),
    ],
)
def test_what_python_does_not_read_is_checked_by_the_core(regexp: str, reason: str, column: int) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(f"start: {regexp}")
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (1, column)


def test_nesting_that_the_core_finds_has_its_place() -> None:
    nested = "(?:[(]" * 21 + ")" * 21
    builder = Builder()
    builder.pattern(nested, PYTHON_FULL, place=PatternPlace(f"start: /{nested}/", 8, "1:8"))
    with pytest.raises(LimitExceededError, match="at 1:8: groups") as caught:
        NativeExpressions(builder, Limits(max_regex_nesting=20)).update()
    assert caught.value.where == "1:8"


@pytest.mark.parametrize("regexp", [r"/[$^]/", r"/\$\^/", r"/[\b]/", r"/\\b/", r"/a #(?=\n/x", r"/(?#$)a/", r"/[]$]/", r"/[^]^]/"])
def test_not_refused_without_reason(regexp: str) -> None:
    build(f"start: {regexp}")


def test_start_is_a_rule() -> None:
    for text in ('a: "x"', "", 'START: "x"', "start{x}: x"):
        with pytest.raises(GrammarError, match="'start'"):
            build(text)
    with pytest.raises(GrammarError, match="'nowhere'"):
        build('start: "x"', start="nowhere")
    assert build('a: "x"', start="a").nonterminals[0].name == "a"


def test_wrong_types() -> None:
    with pytest.raises(TypeError):
        build(b'start: "a"')  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lexing"):
        build('start: "a"', lexing="fast")


@pytest.mark.parametrize(
    "text",
    [
        "start: " + "(" * 100_000,
        "start: " + "(" * 100_000 + '"x"' + ")" * 100_000,
        "start: " + "[" * 100_000 + '"x"' + "]" * 100_000,
        "start: /" + "(" * 100_000 + "x" + ")" * 100_000 + "/",
        "start: /" + "(" * 100_000 + "/",
    ],
    ids=["open", "groups", "optional", "regexp", "open regexp"],
)
def test_deep_nesting_is_a_limit(text: str) -> None:
    begin = time.thread_time()
    with pytest.raises(LimitExceededError) as caught:
        build(text)
    assert caught.value.limit == "max_regex_nesting"
    assert time.thread_time() - begin < 5


def test_nesting_up_to_the_limit() -> None:
    build("start: " + "(" * 250 + '"x"' + ")" * 250)
    build("start: /" + "(" * 250 + "x" + ")" * 250 + "/")
    build("start: " + "(" * 1000 + '"x" | "y"' + ")?" * 1000, limits=Limits(max_regex_nesting=1000))


def test_instances_of_templates_up_to_the_limit() -> None:
    growing = 'start: t{"a"}\nt{x}: x | "(" t{p{x}} ")"\np{x}: x x'
    with pytest.raises(LimitExceededError, match=r"max_template_instances = 10,000 is reached at 2:\d+: .* ever larger") as caught:
        build(growing)
    assert caught.value.limit == "max_template_instances" and caught.value.where.startswith("2:")
    uses = "start: " + " ".join(f't{{"{i}"}}' for i in range(40)) + "\nt{x}: x"
    build(uses, limits=Limits(max_template_instances=40))
    with pytest.raises(LimitExceededError):
        build(uses, limits=Limits(max_template_instances=39))


def test_no_endless_backtracking_in_literals() -> None:
    for quote in '"/':
        with pytest.raises(GrammarSyntaxError, match="not closed"):
            build("start: " + quote + "\\\\" * 5000)


def test_long_chains_do_not_recurse() -> None:
    chain = "\n".join(f"A{i}: A{i + 1}" for i in range(2000)) + '\nA2000: "x"'
    build("start: A0\n" + chain)
    build("start: r0\n" + chain.replace("A", "r"))
