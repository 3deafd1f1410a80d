"""What the front end hands to the compiler: symbols, names, places, and the report."""

from __future__ import annotations

import gc
import time

import pytest

from grammar_engine.errors import GrammarSyntaxError
from grammar_engine.frontends import lark as front_end
from grammar_engine.ir import LIST_WORDS, UNBOUNDED, Builder
from grammar_engine.report import Report


def build(text: str, **options: object) -> tuple[Builder, Report]:
    builder = Builder()
    return builder, front_end.build(builder, text, **options)[0]


def lists(builder: Builder) -> list[tuple[int, int]]:
    """(minimum, maximum) of each list."""
    records = builder.list_records
    return [(records[i + 3], records[i + 4]) for i in range(0, len(records), LIST_WORDS)]


def rule_lengths(builder: Builder) -> list[int]:
    """How many symbols each rule has."""
    records, at, lengths = builder.rule_records, 0, []
    while at < len(records):
        lengths.append(records[at + 1])
        at += 2 + lengths[-1]
    return lengths


def test_counted_repetition_stays_one_symbol() -> None:
    builder, _ = build('start: "a"~3..4000000000 ("b" "c")* "d"+ "e"~7 "f"~1 "g"~0')
    assert sorted(lists(builder)) == sorted([(3, 4_000_000_000), (0, UNBOUNDED), (1, UNBOUNDED), (7, 7)])
    assert rule_lengths(builder) == [2, 5]  # the group "b" "c", and start: four lists and "f"


def test_equal_groups_lists_and_literals_are_shared() -> None:
    builder, _ = build('start: a b\na: ("x" | "y")* "z"?\nb: ("x" | "y")* "z"? "x"')
    assert len(builder.lexemes) == 3
    assert len(lists(builder)) == 1
    assert len(builder.nonterminals) == 6  # start, a, b, the group, its list, "z"?


@pytest.mark.parametrize("group", ['("x" | "y")', '(("x" | "y"))', '("x" | "y")~1', '(t{"y"} | "x")'])
def test_groups_that_stand_alone_are_shared(group: str) -> None:
    """Else each rule, and each instance of a template, would have alternatives of its own."""
    builder, _ = build(f'start: a b t{{"x"}} t{{"y"}}\na: {group}\nb: "q" | {group}\nt{{z}}: z | {group}')
    assert sorted(rule_lengths(builder)) == [*[1] * (2 + 1 + 2 + 2 * 2), 4]  # the group, a, b, two instances of t; start


def test_a_literal_has_its_name_and_each_lazy_one_a_note() -> None:
    builder, report = build('start: "one"i /a+?/ "b"\n | "one"i /a+?/ "c"')
    assert [symbol.name for symbol in builder.lexemes] == ['"one"i', "/a+?/", '"b"', '"c"']
    assert [entry.pointer for entry in report.notes] == ["1:15", "2:11"]


def test_names_and_places_are_those_of_the_text() -> None:
    builder, _ = build('start: item ("," item)*\nitem: WORD\nWORD: /[a-z]+/\n%ignore " "\n')
    assert [(s.name, s.where) for s in builder.lexemes] == [('","', "1:14"), ("WORD", "3:1"), ('" "', "4:9")]
    assert [(s.name, s.where) for s in builder.nonterminals][:2] == [("start", "1:1"), ("item", "2:1")]
    assert [type(s.name) for s in builder.lexemes + builder.nonterminals] == [str] * (len(builder.lexemes) + len(builder.nonterminals))


def test_templates_are_instantiated_once_per_arguments() -> None:
    builder, _ = build('start: sep{A, ","} sep{A, ","} sep{A, ";"}\nsep{x, s}: x (s x)*\nA: "a"')
    assert [s.name for s in builder.nonterminals if s.name.startswith("sep")] == ['sep{A, ","}', 'sep{A, ";"}']


def test_only_what_start_reaches_is_compiled() -> None:
    builder, report = build('start: "a"\nunused: "b"\nUNUSED: /c(?=d)/\n')
    assert len(builder.lexemes) == 1
    assert [entry.keyword for entry in report.annotations] == ["unused", "UNUSED"]


def test_skip_and_lazy_flags() -> None:
    text = 'start: C /a+?/ "b"\nC: "/*" /.*?/ "*/"\n%ignore / +?/\n'
    exact, _ = build(text)
    assert list(exact.lexeme_records[1::2]) == [0, 0, 0, 2]
    assert not exact.longest
    longest, report = build(text, lexing="longest")
    assert list(longest.lexeme_records[1::2]) == [1, 1, 0, 3]
    assert longest.longest
    assert [entry.pointer for entry in report.notes] == ["2:9", "1:10", "3:9"]


def test_report_lists_what_has_no_effect() -> None:
    _, report = build('?start.3: "a" -> x\n | A\nA.-2: "b"\n%ignore " "\n')
    assert [(e.pointer, e.keyword) for e in report.notes] == [("1:8", "priority 3"), ("3:3", "priority -2")]
    assert [e.keyword for e in report.annotations] == ["aliases, ? and !"]
    assert [(e.pointer, e.keyword) for e in report.enforced] == [("4:9", "%ignore")]


def test_report_names_differences_from_lark() -> None:
    _, report = build('start: A STRING\nA: /a|b/ "c"\n%import python.STRING\n')
    assert [e.keyword for e in report.notes] == ["python.STRING", "| in a regular expression"]


def test_notes_take_time_in_proportion() -> None:
    def seconds(n: int) -> float:
        gc.collect()
        gc.disable()  # what it takes depends on all that the tests before have left
        try:
            begin = time.process_time()
            _, report = build("start: " + "/a*?b/ " * n)
            assert len(report.notes) == n
            return time.process_time() - begin
        finally:
            gc.enable()

    seconds(10)
    fewer = min(seconds(1_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(3)) < 60 * fewer  # 256 times as long, if each were compared with all before it


def test_names_declared_in_an_imported_grammar_are_refused_where_they_are_used() -> None:
    with pytest.raises(GrammarSyntaxError, match="_INDENT") as caught:
        build("start: suite\n%import python.suite\n")
    assert "'python'" in caught.value.reason


def test_the_bundled_grammars_load() -> None:
    for path in ("python.test", "python.expr_stmt", "lark.start", "common.SIGNED_NUMBER", "unicode.WS"):
        name = path.split(".")[1]
        build(f"%import {path} -> {'X' if name.isupper() else 'x'}\nstart: {'X' if name.isupper() else 'x'}\n")
