"""`format: regex`, exact: against a recogniser along the grammar of ECMA-262,
against JavaScript where there is one, and masks bit by bit."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import subprocess
from typing import Any

import pytest

from grammar_engine import Grammar, LimitExceededError, Matcher, Switches, UnsatisfiableSchemaError, Vocabulary
from oracle.ecma import is_pattern

from .engine import BYTES, accepts, dump

PROPERTIES = "C XIDC Lu L sc=Yi AHex ASCII Any gc=Nd General_Category=Letter Script=Greek sc=Zzzz scx=Latn Script_Extensions=Qaac Changes_When_NFKC_Casefolded".split()
PIECES = [
    *"ab^$.*+?{}[]()|\\-,012é€😀>< =!:i_$/&\n",
    "10", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<", "(?<a>", "(?<b>", "(?<é>", "(?<\\u0061>", "(?<\\u{62}>", "(?<\\uD835\\uDC00>", "(?<𝐀>",
    "(?<$>", "(?<_x1>", "(?<1>", "(?<a\u200d>", "\\k<", "\\k<a>", "\\k<b>", "\\k<\\u0061>", "(?i:", "(?-s:", "(?im-s:", "(?ii:", "(?i-i:", "(?-:",
    "(?i-:", "\\1", "\\2", "\\3", "\\12", "\\0", "\\00", "\\d", "\\W", "\\b", "\\B", "\\c", "\\cA", "\\x", "\\x4", "\\x41", "\\u", "\\u0041",
    "\\u{41}", "\\u{", "\\u{0010FFFF}", "\\u{110000}", "\\uD83D", "\\uDE00", "\\p{Lu}", "\\P{L}", "\\p{", "\\p{sc=", "\\p{ASCII", "\\p{X}", "\\-",
    "\\/", "\\e", "\\_", "{1}", "{1,}", "{2,1}", "{9,10}", "{10,9}", "{007,7}", "{08,7}", "{0,0}", "{,3}", "[^", "[a-", "-z", "[\\d-", "[é-€]",
    "[€-é]", "(?", "|(?<a>",
]  # fmt: skip
MEMBERS = ["a", "z", "-", "0", "\\d", "\\-", "^", "]", "\\]", "é", "€", "😀", "\\u0041", "\\uD83D", "\\uDE00", "\\uD83D\\uDE00", "\\u{1F600}",
           "\\u{D83D}", "\\x41", "\\cA", "\\b", "\\0", "\\n", "[", "\\p{L}", "\\u{10FFFF}", "\\uE000", ".", "\\B", "\\1", "{", "\\u", "\\u{"]  # fmt: skip


def is_regex(text: str) -> bool:
    return is_pattern(text, PROPERTIES.__contains__)


def random_class(rng: random.Random) -> str:
    members = (rng.choice(MEMBERS) + ("-" + rng.choice(MEMBERS)) * (rng.random() < 0.4) for _ in range(rng.randint(0, 4)))
    return rng.choice(["[", "[^"]) + "".join(members) + "]"


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    """Mostly valid."""
    out = ""
    for _ in range(rng.randint(0, 4)):
        kind = rng.random()
        if kind < 0.2:
            out += rng.choice(PIECES)
        elif kind < 0.45:
            out += rng.choice("abc.é😀") if kind < 0.4 else rng.choice(["\\d", "\\cA", "\\0", "\\u{1F600}", "\\p{Lu}", "\\."])
        elif kind < 0.7 and depth < 4:
            name = rng.choice("abc")
            out += rng.choice(["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", f"(?<{name}>"]) + random_pattern(rng, depth + 1) + ")"
        elif kind < 0.8:
            out += random_class(rng)
        else:
            out += rng.choice(["|", "^", "\\b", "\\1", "\\2", "\\3", "\\k<a>", "\\k<b>"])
        if rng.random() < 0.3:
            low, high = (rng.choice([0, 1, 9, 10, 99, 100, 12345678901234567890, 12345678901234567891]) for _ in "nm")
            out += rng.choice(["*", "+?", "?", "{2}", "{2,}", f"{{{low},{high}}}"])
    return out


def random_text(rng: random.Random) -> str:
    kind = rng.random()
    text = "".join(rng.choices(PIECES, k=rng.randint(1, 7))) if kind < 0.3 else random_class(rng) if kind < 0.45 else random_pattern(rng)
    if rng.random() < 0.3:
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randint(0, 1) :]
    return text


def samples(seed: int, n: int) -> list[str]:
    rng = random.Random(seed)
    return sorted({random_text(rng) for _ in range(n)})


def regexes(**keywords: Any) -> Grammar:
    return Grammar.from_json_schema({"type": "string", "format": "regex", **keywords})


def test_recognition_and_closings() -> None:
    """What has not failed can be completed, by a text that is no longer than any that is known."""
    matcher, rng, n_valid = Matcher(regexes(), BYTES), random.Random(0), 0
    for text in samples(1, 6000):
        matcher.reset()
        whole = dump(text).encode()
        is_accepted = matcher.accept_bytes(whole) and matcher.is_complete
        assert is_accepted == is_regex(text), text
        n_valid += is_accepted
        matcher.reset()
        prefix = whole[: rng.randint(0, len(whole) - 1)]
        if not matcher.accept_bytes(prefix):
            assert not is_accepted, text
            continue
        if re.search(r"\\\\\d{3}|\\\\u[^\\]*$", prefix.decode(errors="replace")):
            continue  # hundreds of groups are missing; what a name would have to become is searched for
        closing = matcher.closing_bytes()
        assert is_regex(json.loads(prefix + closing)), (text, prefix, closing)
        assert not is_accepted or len(prefix + closing) <= len(whole), (text, prefix, closing)
    assert n_valid > 500


def test_javascript_agrees() -> None:
    """With what it had before the edition of 2025."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    names = r"\(\?<([^=!>][^>]*)>"
    texts = [
        text
        for text in samples(2, 6000)
        if not re.search(r"\(\?[ims-]", text) and len(set(re.findall(names, text))) == len(re.findall(names, text))
    ]
    script = """
        const texts = JSON.parse(require("fs").readFileSync(0, "utf8"))
        const isValid = text => { try { new RegExp(text, "u"); return true } catch (e) { return false } }
        console.log(JSON.stringify(texts.map(isValid)))
    """
    answer = subprocess.run([node, "-e", script], input=json.dumps(texts), capture_output=True, text=True, check=True).stdout
    for text, valid in zip(texts, json.loads(answer), strict=True):
        if not ("u0061" in text and "<a>" in text):  # one name, spelt in two ways
            assert valid == is_regex(text) == accepts(regexes(), dump(text)), text


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_all_short_texts(most: int) -> None:
    """A text goes on if and only if some regular expression of that length begins so."""
    alphabet = "()[]{}?<\\>1a|-*,"
    valid = {"".join(chars) for n in range(most + 1) for chars in itertools.product(alphabet, repeat=n) if is_regex("".join(chars))}
    beginnings = {text[:n] for text in valid for n in range(len(text) + 1)}
    grammar, others = regexes(maxLength=most, pattern=f"^[{re.escape(alphabet)}]*$"), 0
    start = Matcher(grammar, BYTES)
    assert start.accept_bytes(b'"')
    todo = [("", start)]
    while todo:
        text, matcher = todo.pop()
        end = matcher.fork()
        assert (end.accept_bytes(b'"') and end.is_complete) == (text in valid), text
        for char in alphabet:
            other = matcher.fork()
            alive = other.accept_bytes(json.dumps(char)[1:-1].encode())
            assert alive == (text + char in beginnings), text + char
            others += 1
            if alive:
                todo.append((text + char, other))
    assert others > len(alphabet)


SCHEMAS: list[dict[str, Any]] = [
    {}, {"maxLength": 12}, {"maxLength": 30}, {"maxLength": 200}, {"minLength": 3}, {"minLength": 2, "maxLength": 9}, {"pattern": "^[^x]*$"},
    {"not": {"pattern": "[0-9]$"}},
]  # fmt: skip


def random_vocabulary(rng: random.Random) -> Vocabulary:
    texts = {dump(random_text(rng))[1:-1].encode() for _ in range(120)}
    tokens = (
        {bytes([byte]) for byte in range(256)}
        | {text[:6] for text in texts}
        | texts
        | {b'"', b'*"', b')"', b'\\\\1)"', b"a>", b"a>\\\\2", b"-a]"}
    )
    tokens |= {b"(?<a>)", b"\\\\k<a>", b"-", b"-\\\\", b'a>)"', b"]", b"b-a", b"\\u003e", b"\\u002d"}
    tokens |= {text[i : i + rng.randint(1, 5)] for text in texts for i in (rng.randrange(len(text) + 1),)}
    return Vocabulary([*sorted(tokens - {b""}), b""], eos=[len(tokens - {b""})])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("escapes", ["minimal", "all"])
def test_masks(seed: int, escapes: str) -> None:
    """Bit by bit what the texts of the tokens lead to; the same without looser configurations."""
    rng = random.Random(seed)
    schema = SCHEMAS[seed % len(SCHEMAS)]
    whole = {"type": "string", "not": {"format": "regex"}} if seed == 7 else {"type": "string", "format": "regex", **schema}
    vocabulary = random_vocabulary(rng)
    grammar = Grammar.from_json_schema(whole, escapes=escapes)
    matchers = [Matcher(grammar, vocabulary), Matcher(grammar, vocabulary, switches=Switches(clamping=False))]
    exact = Matcher(grammar, BYTES)
    tokens = [vocabulary.token_bytes(i) for i in range(vocabulary.width)]
    for _ in range(6):
        read = b""
        for matcher in matchers:
            matcher.reset()
        for _ in range(9):
            allowed, without = (matcher.allowed_tokens() for matcher in matchers)
            assert allowed == without, read
            for i in rng.sample(range(vocabulary.width - 1), 60):
                exact.reset()
                assert exact.accept_bytes(read + tokens[i]) == (i in allowed), (read, tokens[i])
            going = [i for i in allowed if tokens[i] and b'"' not in tokens[i]]
            if not going:
                break
            chosen = rng.choice(going)
            read += tokens[chosen]
            assert all(matcher.accept(chosen) for matcher in matchers)


@pytest.mark.parametrize(
    ("schema", "read"),
    [
        ({"not": {"format": "regex"}}, b'"\xc3'),
        ({"not": {"format": "regex"}}, b'"a\xf0\x9f'),
        ({"oneOf": [{"format": "regex"}, {"pattern": "^\\("}]}, b'"(\xc3'),
        ({"format": "regex", "maxLength": 5}, b'"\\\\'),
        ({"format": "regex", "maxLength": 5}, b'"'),
        ({"format": "regex", "maxLength": 10}, b'"('),
    ],
)
def test_masks_within_characters_and_of_what_owes_something(schema: dict[str, Any], read: bytes) -> None:
    """Within a character any text is begun already; `\\k` owes a name and its group."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"ab", b'\xa9"', b"\xa9a", b"\x98\x80(", b"\\\\k", b"(\\\\k", b"k<", b"\\\\1", b"(\\\\c", b"\\\\p"]
    matcher = Matcher(Grammar.from_json_schema({"type": "string", **schema}), Vocabulary([*tokens, b""], eos=[len(tokens)]))
    assert matcher.accept_bytes(read)
    allowed = matcher.allowed_tokens()
    for i in range(len(tokens)):
        twin = matcher.fork()
        assert twin.accept(i) == (i in allowed), tokens[i]


def test_deep_nesting() -> None:
    depth = 20_000
    matcher = Matcher(regexes(), BYTES)
    assert matcher.accept_bytes(b'"' + b"(?:" * depth)
    assert matcher.closing_bytes()[:3] == b")))"
    assert matcher.accept_bytes(b")" * depth)
    assert not matcher.accept_bytes(b")")
    assert matcher.accept_bytes(b'"')


def test_intersections() -> None:
    assert not accepts(regexes(pattern="^[a-z(]+$"), '"(a"')
    assert accepts(regexes(pattern="^[a-z(]+$"), '"ab"')
    for schema in ({"pattern": r"^\(+$"}, {"pattern": r"^\\9", "maxLength": 10}, {"const": "[z-a]"}, {"pattern": r"^\[", "maxLength": 1}):
        with pytest.raises(UnsatisfiableSchemaError):
            regexes(**schema)
    assert accepts(regexes(pattern=r"^\\9", maxLength=20), dump(r"\9" + "()" * 9))
    assert accepts(Grammar.from_json_schema({"type": "string", "not": {"format": "regex"}}), '"("')
    assert not accepts(Grammar.from_json_schema({"type": "string", "not": {"format": "regex"}}), '"()"')
    both = Grammar.from_json_schema({"type": "string", "oneOf": [{"format": "regex"}, {"enum": ["a", "("]}]})
    assert not accepts(both, '"a"')
    assert accepts(both, '"("')
    assert accepts(both, '"()"')


def test_counts_are_compared_whatever_their_digits() -> None:
    """m of {n,m} to the last digit, beside another pattern, and its digits so far make few states."""
    rng = random.Random(3)
    grammar = regexes(pattern="^/.+/$")
    matcher = Matcher(grammar, BYTES)
    n_refused = 0
    for _ in range(400):
        n = rng.choice(["0", "7", "10", "99", "1000000", str(rng.randrange(10**9)), str(rng.randrange(10**20))])
        m = (
            str(max(0, int(n) + rng.choice([-1, 0, 1, -(10**5), 10**5])))
            if rng.random() < 0.7
            else n[: rng.randint(0, 9)] + "0" * rng.randint(1, 9)
        )
        matcher.reset()
        assert matcher.accept_bytes(f'"/a{{{n},{m}'.encode())
        allowed = matcher.fork().accept_bytes(b"}")
        assert allowed == (int(n) <= int(m)), (n, m)
        closing = matcher.closing_bytes()
        least = next(k for k in range(25) if int(m + "9" * k) >= int(n))
        assert len(closing) == least + len('}/"')
        assert matcher.accept_bytes(closing)
        n_refused += not allowed
    assert n_refused > 50
    before = grammar.stats.expressions
    for m in range(1000):
        matcher.reset()
        assert matcher.accept_bytes(f'"/a{{12345678,{m:08}'.encode())
    assert grammar.stats.expressions - before < 400


def test_a_search_without_end_meets_a_limit() -> None:
    """Regular expressions of unbounded nesting among texts that close no group: which are none, but that takes more than a look."""
    with pytest.raises((LimitExceededError, UnsatisfiableSchemaError)):
        regexes(pattern=r"^(?:\(\)\()+$")
