"""What grammars mean: accepted and refused texts for each construct of the Lark language."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_engine.errors import GrammarError

CASES = [
    # grammar, accepted, refused
    ('start: "a" | "b" "c"', ["a", "bc"], ["", "ab", "b"]),
    ("start:", [""], ["a"]),
    ('start: "a"? "b"* "c"+', ["c", "abbc", "acc"], ["", "ab", "aac"]),
    ('start: "a"~2 "b"~1..3', ["aab", "aabbb"], ["ab", "aa", "aabbbb"]),
    ('start: ["a"] ["b" | "c"]', ["", "a", "c", "ab"], ["bc", "ba"]),
    ('start: ("a" | "b" "c")~2..3', ["aa", "abc", "bcbcbc"], ["a", "aaaa", "ab"]),
    ('start: "ab"i "é"i', ["abé", "ABÉ", "aBé"], ["ab"]),
    ('start: "a".."c" "あ".."ん"', ["aあ", "cん"], ["dあ", "aア"]),
    ('start: "\\x41\\u00e9\\U0001F600\\n\\t\\\\\\"\\d"', ['Aé😀\n\t\\"\\d'], ["A"]),
    ('start: "\\ud83d\\ude00" "\\uD83D\\uDE00"i "\\ud83d\\ude00".."\\ud83d\\ude03"', ["😀😀😃"], ["😀😀😄", "😀"]),
    ('start: "\\/" "\\b" "\\\\ud83d"', ["\\/\\b\\ud83d"], ["/\b\\ud83d"]),  # the backslash stays, as in the lark package
    ("start: /a.b/s /x y/x /Z/i", ["a\nbxyz", "a-bxyZ"], ["a\nbx yz"]),
    ("start: /[\\p{L}_]+-\\P{L}(?<n>\\u{62}?)/", ["é_-1b", "x-1"], ["1-1", "a-a"]),
    ("start: /\\p{Lu}+/i /[^\\p{Lu}]/", ["éAa", "Aé"], ["aA", "1a"]),
    ("start: /\\\\p{2}[\\\\p{2}]/", ["\\ppp", "\\pp2", "\\pp\\"], ["\\p{2}p"]),  # a backslash, and p twice
    ("start: /(?i)ab/ /c(?i:d)/", ["ABcD"], ["abCd"]),
    ("start: /\\x2e\\//", ["./"], ["a/"]),
    ("start: /(?#\\)^|a*?)a/ /b # \\\n^|c++\n c?/x", ["ab", "abc"], ["b", "ab^"]),  # a backslash in a comment takes what comes next
    ('start: "a\0b" /\0/', ["a\0b\0"], ["ab"]),
    ('start: A B\nA: "x" | "y" B\nB: ("0".."9")~1..2', ["x1", "y123", "y1234"], ["x", "y1"]),
    ('start: A\nA: /a|b/ "c"', ["ac", "bc"], ["a", "b"]),
    ('start: KEY NAME\nKEY: "if"\nNAME: /[a-z]+/', ["ifx", "iff"], ["if", "xif"]),
    ('start: ("list" | "listen") ("ed" | "ened")', ["listed", "listened", "listenened"], ["listen"]),
    ('start: "<" /.*/ ">"', ["<>", "<a>b>"], ["<a"]),
    ('start: start "a" |', ["", "aaaa"], ["b"]),
    ('start: "a" start "b" |', ["", "aabb"], ["aab"]),
    ('start: p p\np: "a" | p |', ["", "a", "aa"], ["aaa"]),
    ('start: "a" "b"\n%ignore " "\n%ignore /#.*\\n/', ["ab", " a #x\n b ", "#\nab"], ["a#b", "a"]),
    ('start: "a" WS "b"\nWS: " "\n%ignore WS', ["a b", " a   b "], ["ab"]),
    ('start: wrap{p, "x"}\nwrap{t, y}: t{y} "!"\np{z}: "(" z ")"', ["(x)!"], ["x!", "(x)"]),
    ('start: "a" /b*/ "c"', ["ac", "abbc"], ["ab"]),
    ('start: A\nA: "a" | \n   | "b"', ["a", "", "b"], ["ab"]),
    ('%import common (INT, CNAME)\n%import common.WS -> S\nstart: (INT | CNAME)+\n%ignore S', ["1 a_2", "12"], ["", "a-b"]),
    ("%import common.INT\n%override INT: /[a-b]+/\nstart: INT", ["ab"], ["1"]),
    ("%import common.DIGIT\n%import common.INT\n%override DIGIT: /x/\nstart: INT", ["xx"], ["1"]),
    ('%import common.SIGNED_INT -> X\n%extend X: "none"\nstart: X', ["-1", "none"], ["-"]),
    ('start: "a" | x\nx: "b"\n%extend start: "c"\n%override x: "d"', ["a", "c", "d"], ["b"]),
    ("%import common.ESCAPED_STRING\nstart: ESCAPED_STRING", ['""', '"a\\"b"', '"\\\\"'], ['"a"b"', '"\\"', '"\n"']),
    ('%import common.C_COMMENT\nstart: "a"\n%ignore C_COMMENT', ["a/**/", "/*/**/a/***/", "/* x */a"], ["/* */ a */", "/*/a"]),
    ("%import python.LONG_STRING\nstart: LONG_STRING", ['"""a"b\n"""', "r'''\\''''"], ['"""a""" """', '"""a"']),
    ("%import python (STRING, NAME)\nstart: STRING NAME", ["'a\\'b'x", 'Rb""é1'], ["'a'b'x"]),
    ('%import lark.start -> g\nstart: g\n%ignore " "', ['a: "x" | B+\nB: /c\\/d/i\n'], ["a b", "A"]),
    ("%import python.test\nstart: test\n%ignore \" \"", ["f(x, *y)[1:2] if a else {**b}", "[i for i in x]"], ["f(", "a b"]),
]  # fmt: skip


@pytest.mark.parametrize(("grammar", "accepted", "refused"), CASES, ids=[case[0][:40].replace("\0", "NUL") for case in CASES])
def test_language(judge: Any, grammar: str, accepted: list[str], refused: list[str]) -> None:
    says = judge(grammar)
    assert [text for text in accepted if not says(text.encode())] == []
    assert [text for text in refused if says(text.encode())] == []


def test_longest_takes_the_longest_and_lazy_the_first_match(judge: Any) -> None:
    name = judge("start: KEY NAME\nKEY: /[a-c]+/\nNAME: /[a-z]+/", lexing="longest")
    assert name(b"abx") and not name(b"abc")
    comment = '"/*" /(.|\\n)*?/ "*/"'
    text = f'start: C "x"\nC: {comment}\n'
    assert judge(text)(b"/* */ */x")
    assert not judge(text, lexing="longest")(b"/* */ */x")
    assert judge(text, lexing="longest")(b"/* */x")


def test_any_rule_can_be_the_start(judge: Any) -> None:
    assert judge('a: "x" b\nb: "y"', start="b")(b"y")


def test_a_grammar_that_produces_nothing_is_refused() -> None:
    grammar = pytest.importorskip("grammar_engine.grammar", reason="the core is not built")
    with pytest.raises(GrammarError, match="no text"):
        grammar.Grammar.from_lark('start: "a" start')
