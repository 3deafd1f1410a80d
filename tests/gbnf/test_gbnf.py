"""GBNF: what is read, which rules become lexemes, what is refused, and the grammars of the benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grammar_engine import Grammar, GrammarCache, GrammarError, GrammarSyntaxError, LimitExceededError, Limits, Matcher, Token, Vocabulary

SUITES = Path(__file__).resolve().parents[2] / "bench" / "suites" / "cfg"


def reads(grammar: str, written: str, **options: Any) -> bool:
    matcher = Matcher(Grammar.from_gbnf(grammar, **options), Vocabulary.bytes())
    return matcher.accept_bytes(written.encode()) and matcher.is_complete


def names_of(text: str) -> list[str]:
    """The lexemes that the rules use."""
    grammar = Grammar.from_gbnf(text)
    used = set()
    words = iter(grammar._records.rules)
    for _ in words:
        used.update(next(words) for _ in range(next(words)))
    used.update(symbol for i in range(0, len(grammar._records.lists), 5) for symbol in grammar._records.lists[i + 1 : i + 3])
    return [info.name for i, info in enumerate(grammar._lexemes) if 2 * i in used]


@pytest.mark.parametrize(
    ("grammar", "right", "wrong"),
    [
        ('root ::= "a" "b" | "c"', ["ab", "c"], ["a", "abc", ""]),
        ("root ::= [a-c-]+", ["a-c", "-"], ["d", ""]),
        ("root ::= [^a-c]", ["d", "\n", "é", "😀"], ["a", ""]),
        ("root ::= [^a-zc]", ["A", "{"], ["d", "z", "c"]),
        ("root ::= [a\\-c]", ["a", "-", "c"], ["b"]),
        ("root ::= [\n]", ["\n"], ["n"]),
        ('root ::= "\\f\\b\\v\\/"', ["\f\b\v/"], ["fbv/"]),
        ('root ::= "a" # one\r\n  | "b"\r\nother ::= "c" # two', ["a", "b"], ["c"]),
        ("root ::= ([a] ([b] | [c] [d]){4})*", ["", "abcdbcd"], ["abcd"]),
        ("root ::= ([a] (|[b]){4})*", ["", "abbab"], ["b", "abbbbb"]),
        ('root ::= ([x] ([b] | "cd"){3} ){1,}', ["xbcdb"], ["", "xb"]),
        ("root ::= [\\]\\[\\\\^-]", ["]", "[", "\\", "^", "-"], ["a"]),
        ("root ::= . .", ["a\n", "éé"], ["a"]),
        ('root ::= "\\ud83d\\ude00" [\\uD83D\\uDE00-\\ud83d\\ude03] [^\\ud83d\\ude00]', ["😀😃b"], ["😀😄b", "😀😃😀"]),
        ('root ::= "\\x41\\u00e9\\U0001F600\\n\\"\\\\\\[\\]"', ['Aé😀\n"\\[]'], ["A"]),
        ("root ::= [\\x41-\\x43\\n]", ["B", "\n"], ["D"]),
        ('root ::= a{2} a{0,1} a{3,}\na ::= "a"', ["a" * 5, "a" * 9], ["a" * 4]),
        ('root ::= "a"{ 1 , 2 }', ["a", "aa"], ["", "aaa"]),
        ('root ::= ("a" | "b")? "" "c"*', ["", "a", "bcc"], ["ab"]),
        ('root ::=\n  "a" |\n  "b"\n  | "c"\n', ["a", "b", "c"], ["d"]),
        ('root ::= ( # in brackets\n "a"\n\n | "b" ) # behind\nother ::= "x"', ["a", "b"], ["x"]),
        ('# first\n\n root-1_x ::= "a"\nroot ::= root-1_x\r\n', ["a"], ["b"]),
        ('root ::= root "a" | "b"', ["b", "baa"], ["a"]),
        ('root ::= ("a"*)*', ["", "aaa"], ["b"]),
        ('root ::= | "a"', ["", "a"], ["b"]),
        ('root ::= "a\nb"', ["a\nb"], ["ab"]),
    ],
)
def test_what_is_read(grammar: str, right: list[str], wrong: list[str]) -> None:
    assert [text for text in right if not reads(grammar, text)] == []
    assert [text for text in wrong if reads(grammar, text)] == []


def test_another_start() -> None:
    assert reads('root ::= "a"\nother ::= "b"', "b", start="other")
    assert [entry.keyword for entry in Grammar.from_gbnf('root ::= "a"\nother ::= "b"').report.annotations] == ["other"]


@pytest.mark.parametrize(
    ("grammar", "names"),
    [
        ('root ::= "[" root "]" | string\nstring ::= "\\"" rest\nrest ::= "\\"" | [^"] rest', ['"["', '"]"', "string"]),
        ('root ::= "[" root "]" | n\nn ::= n [0-9] | [1-9]', ['"["', '"]"', "n"]),
        ('root ::= "(" root ")" | a\na ::= [x] b\nb ::= [y] a | "z"', ['"("', '")"', "a"]),  # of two rules
        (
            'root ::= "(" ws root ws ")" ws | [a-z] [0-9]* ws\nws ::= [ \\n]*',
            ['"("', '")"', "[a-z] [0-9]*", "ws"],
        ),  # side by side, but for white space
        (
            'root ::= "(" w root ")" w | name w\nname ::= [a-z]+\nw ::= "" | " " w | "#" line w\nline ::= "\\n" | [^\\n] line',
            ['"("', '")"', "name", "w"],
        ),
        ('root ::= "(" root ")" | ("true" | "false")', ['"("', '")"', '"true"', '"false"']),  # words stay
        ('root ::= "(" root ")" | x{1,9}\nx ::= [a]+', ['"("', '")"', "x"]),  # a text may have several numbers of items
        ('root ::= "(" root ")" | x{1,9}\nx ::= [a]+ "b"', ['"("', '")"', "x~1..9"]),  # a text has one
        ('root ::= "(" root ")" | "\\"" c{0,99} "\\""\nc ::= [^"\\\\] | "\\\\" ["n]', ['"("', '")"', '"\\"" c~0..99 "\\""']),
        ('root ::= "(" root ")" | ([a-z] | "-" [0-9])+ root?', ['"("', '")"', "part of root+"]),
        (
            'root ::= "(" root ")" | a\na ::= [x] b\nb ::= [y] c\nc ::= [z] d\nd ::= [w] a | "e"',
            ['"("', '")"', "[x]", "[y]", "[z]", "[w]", '"e"'],
        ),
        ('root ::= "(" s root s ")" s | [a-z]+ s [0-9]+ s\ns ::= " "*', ['"("', '")"', "[a-z]+", "[0-9]+", "s"]),
        ('root ::= "(" s root s ")" s | [a-z]+ s\ns ::= "\\r\\n" [ ]*', ['"("', '")"', "[a-z]+", "s"]),
        ('root ::= "(" root ")" s | [a-z]+ s\ns ::= [ \\t]{2,4}', ['"("', '")"', "[a-z]+", "s"]),
        ('root ::= "(" root ")" s | [a-z]+ s\ns ::= [a ]*', ['"("', '")" s', "[a-z]+ s"]),  # no white space
        ('root ::= "(" root ")" | x{1,9}\nx ::= [ab] "b"', ['"("', '")"', "x~1..9"]),
        ("root ::= [a-z]+ [0-9]{2}", ["root"]),
    ],
)
def test_regular_rules_are_lexemes(grammar: str, names: list[str]) -> None:
    assert sorted(names_of(grammar)) == sorted(names)


@pytest.mark.parametrize(
    ("grammar", "message", "place"),
    [
        ("", "no rule named 'root'", None),
        ('a ::= "x"', "no rule named 'root'", None),
        ('root ::= "x', "does not end", (1, 10)),
        ("root ::= [x", "does not end", (1, 10)),
        ('root ::= "x"\nroot ::= "y"', "defined twice", (2, 1)),
        ("root ::= a\n  b c", "here a rule is to begin", (2, 3)),
        ("root ::= a b", "not defined: a, b", (1, 10)),
        ("root ::= a a b a", "not defined: a, b\n", (1, 10)),
        ('root ::= (\n"a"\nb ::= "x"', "not closed", (1, 10)),
        ("root ::= <[x]>", "a number", (1, 10)),
        ("root ::= <[99999999999]>", "a number", (1, 10)),
        ("root", "here a rule is to begin", (1, 1)),
        ("root := [x]", "a rule is name ::= ...; name: ... is one of Lark, which Grammar.from_lark reads", (1, 6)),
        ("grammars/json.gbnf", "this looks like a path: pass the text of the file", (1, 1)),
        ('start: "a"', "name: ... is one of Lark, which Grammar.from_lark reads", (1, 6)),
        ("root = [x]", "a rule is name ::= ...", (1, 6)),
        ("root ::= [x] & [y]", "'&' does not belong", (1, 14)),
        ("root ::= *", "nothing to repeat", (1, 10)),
        ("root ::= ([a] | +)", "nothing to repeat", (1, 17)),
        ("root ::= ([a]", "not closed", (1, 10)),
        ("root ::= [a])", "closes nothing", (1, 13)),
        ("root ::= [a]{2,1}", "wrong way round", (1, 14)),
        ("root ::= [a]{99999999999}", "a bound of a repetition", (1, 14)),
        ("root ::= [a]{x}", "a repetition is", (1, 13)),
        ("root ::= [b-a]", "ends before it begins", (1, 10)),
        ("root ::= []", "matches nothing", (1, 10)),
        ("root ::= [^\\x00-\\U0010FFFF]", "matches nothing", (1, 10)),
        ('root ::= "\\q"', "no escape", (1, 11)),
        ('root ::= "ab\\x4"', "needs 2 hexadecimal digits", (1, 13)),
        ('root ::= "\\ud800"', "no character", (1, 11)),
        ('root ::= "\\ud83d\\ude00\\ude00"', "ude00' is no character", (1, 23)),
        ("root ::= [\\ud83d-\\ude00]", "ud83d' is no character", (1, 11)),
        ('root ::= "\ud800"', "no character", (1, 11)),
        ('root ::= "\\U00110000"', "no character", (1, 11)),
        ('root ::= "a" <a\tb>', "printable", (1, 14)),
        ('root ::= "a" !<x>', "negated tokens are not supported; ", (1, 14)),
        ('root ::= "a" !"x"', "'!' does not belong", (1, 14)),
        ('root ::= "a" b ::= "c"', "a rule is one line", (1, 16)),
        ('root ::= root "a"', "can never be completed", None),
    ],
)
def test_what_is_refused(grammar: str, message: str, place: tuple[int, int] | None) -> None:
    with pytest.raises(GrammarError, match=message) as caught:
        Grammar.from_gbnf(grammar)
    assert (caught.value.line, caught.value.column) == (place or (None, None))
    assert isinstance(caught.value, GrammarSyntaxError) == (place is not None)


def test_arguments_and_limits() -> None:
    for arguments in ((b"root ::= [a]",), (5,)):
        with pytest.raises(TypeError):
            Grammar.from_gbnf(*arguments)
    with pytest.raises(TypeError):
        Grammar.from_gbnf("root ::= [a]", start=5)  # type: ignore[arg-type]
    with pytest.raises(LimitExceededError, match=r"max_regex_nesting.*1:11"):
        Grammar.from_gbnf("root ::= (([a]))", limits=Limits(max_regex_nesting=2))
    words = " | ".join(f'"w{i}"' for i in range(5000))
    assert reads(f"root ::= {words}", "w4999")
    assert reads(f'root ::= "(" root ")" | [a-c] ({words})', "(aw4999)")
    deep = 200
    assert reads("root ::= " + "(" * deep + "[a]" + ")" * deep, "a")
    chain = "\n".join(f'r{i} ::= "(" r{i + 1} ")" | r{i + 1}' for i in range(3000))
    assert reads(f"root ::= r0\n{chain}\nr3000 ::= [a]", "(a)")
    one = "\n".join(f"r{i} ::= [b] r{i + 1} | [c]" for i in range(3000))  # regular, and too large to be solved
    assert reads(f"root ::= r0\n{one}\nr3000 ::= [a]", "bbc")
    round_about = "\n".join(f"r{i} ::= [b] r{(i + 1) % 40} | [c]" for i in range(40))
    assert reads(f"root ::= r0\n{round_about}", "b" * 50 + "c")


def test_special_tokens() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"<x>", b"", b"", b""], eos=[5], special={3: "<x>", 4: "<y>", 5: "</s>"})
    matcher = Matcher(Grammar.from_gbnf("root ::= <x> [ab]* <[4]>"), vocabulary)
    assert matcher.allowed_tokens() == [3]
    assert matcher.accept_tokens([3, 0, 1, 4]) == 4
    assert matcher.allowed_tokens() == [5]
    assert Matcher(Grammar.from_bytes(Grammar.from_gbnf("root ::= <x>").to_bytes()), vocabulary).closing_bytes() == Token("<x>").spelling


def test_from_a_cache() -> None:
    cache = GrammarCache()
    assert cache.from_gbnf("root ::= [a]") is cache.from_gbnf("root ::= [a]")
    assert cache.from_gbnf('a ::= "a"\nroot ::= a', start="a") is not cache.from_gbnf('a ::= "a"\nroot ::= a')


@pytest.mark.parametrize("name", ["json", "arithmetic", "sql", "clike"])
def test_grammars_of_the_benchmark(name: str) -> None:
    grammar = Grammar.from_gbnf((SUITES / name / "grammar.gbnf").read_text(encoding="utf-8"))
    verdicts = {}
    for path in sorted((SUITES / name).glob("*.txt")):
        matcher = Matcher(grammar, Vocabulary.bytes())
        verdicts[path.name] = matcher.accept_bytes(path.read_bytes()) and matcher.is_complete
    assert len(verdicts) >= 8
    assert [file for file, verdict in verdicts.items() if verdict != file.startswith("right")] == []


def test_masks_are_made_as_under_a_lark_grammar() -> None:
    """As rules, they make 3.2 times as many rows."""
    text = (SUITES / "json" / "right-1.txt").read_bytes()
    rows = []
    for grammar in (
        Grammar.from_gbnf((SUITES / "json" / "grammar.gbnf").read_text()),
        Grammar.from_lark((SUITES / "json" / "grammar.lark").read_text()),
    ):
        vocabulary = Vocabulary.builtin()
        matcher = Matcher(grammar, vocabulary)
        for token in vocabulary.encode_greedy(text):
            matcher.mask()
            assert matcher.accept(token)
        rows.append(grammar.stats.rows)
    assert rows[0] < 2 * rows[1]
