"""`lexing="longest"`: what it accepts, and the notes on grammars that it can leave stuck."""

from __future__ import annotations

import gc
import time

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary


def _accepts(grammar: Grammar, text: bytes) -> bool:
    matcher = Matcher(grammar, Vocabulary.bytes())
    return matcher.accept_bytes(text) and matcher.is_complete


@pytest.mark.parametrize(
    ("text", "swallowing"),
    [
        ('start: A "a"\nA: /a+/', ["A"]),
        ("start: A B\nA: /[a-z]+/\nB: /[a-f]+x/", ["A"]),
        ('start: A "a"\nA: /a+?/', []),  # a lazy lexeme ends at its first match
        ('start: A ("a" | "b")\nA: /a+/', []),  # b can always be read
        ('start: A "a"?\nA: /a+/', []),  # the text may end
        ('start: A "a"\nA: /a+/\n%ignore " "', []),  # a space can stand between
        ("start: A B\nA: /a+/\nB: /b+/", []),
        ('start: "if" NAME\nNAME: /[a-z]+/', ['"if"']),  # "ifx" is one NAME
    ],
)
def test_possible_dead_ends_are_noted(text, swallowing):
    notes = [note for note in Grammar.from_lark(text, lexing="longest").report.notes if note.keyword == "possible dead end"]
    assert [note.detail.split(" may swallow")[0].removeprefix("a longer match of ") for note in notes] == swallowing
    assert not [n for n in Grammar.from_lark(text).report.notes if n.keyword == "possible dead end"]


def test_the_two_disciplines_differ():
    text = 'start: ("list" | "listen") "ed"?'
    assert _accepts(Grammar.from_lark(text), b"listed")
    assert _accepts(Grammar.from_lark(text, lexing="longest"), b"listed")  # at "liste" the longer match is still open, then it fails
    text = 'start: A "ab"\nA: /a+/'
    assert _accepts(Grammar.from_lark(text), b"aaab")
    assert not _accepts(Grammar.from_lark(text, lexing="longest"), b"aaab")


def test_any_text_then_a_stop():
    text = 'start: "<" /.*/ ">"'
    for sample in (b"<>", b"<a>", b"<a>b>"):
        assert _accepts(Grammar.from_lark(text), sample)


@pytest.mark.parametrize("links", [" ", "? "])
def test_a_large_grammar_is_looked_at_in_proportion_to_its_size(links):
    """A chain of rules, each of which ends with the next: the sets grow along it. (Without looking, by `exact`, it takes about as long.)"""
    n = 4_000
    rules = [f"r{i}: T{i}{links}r{i + 1}" for i in range(n)]
    text = "\n".join(["start: r0", *rules, f'r{n}: "x"', *(f'T{i}: "k{i}."' for i in range(n))])
    gc.disable()  # else it goes through all that other tests have left, in one of the two
    try:
        begin = time.process_time()
        Grammar.from_lark(text, lexing="exact")
        middle = time.process_time()
        Grammar.from_lark(text, lexing="longest")
        assert time.process_time() - middle < 10 * (middle - begin)
    finally:
        gc.enable()


def test_few_of_many_that_may_follow_are_named():
    text = "start: W (" + " | ".join(f"T{i}" for i in range(50)) + ")\nW: /[a-z]+/\n" + "\n".join(f'T{i}: "t{i}"' for i in range(50))
    notes = [note for note in Grammar.from_lark(text, lexing="longest").report.notes if note.keyword == "possible dead end"]
    assert len(notes) == 16 and {note.detail.split(" may ")[0] for note in notes} == {"a longer match of W"}
