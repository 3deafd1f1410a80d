"""A seeded fuzzer for every entrance of the library, and the laws that hold whatever comes in.

    python tests/robustness/fuzz.py --seed 1 --seconds 60 [--target schema] [--schemas FOLDER] [--last FILE]

Targets: `schema`, `lark`, `regex`, `gbnf`: mutations of real sources, through the public constructors. `tags`, `structural_tag`: random
ones. `ir`: random records and rules straight into the core, past all checks of Python. A source may be refused with a `GrammarEngineError`
(or `ValueError`, `TypeError` for IR that the builder itself refuses) and in no other way; what is accepted is then walked with a vocabulary
at random:

    mask      a bit is set <=> `validate` takes the token
    accept    takes what `validate` took; a refusal changes nothing
    rollback  back to where the mask was the same
    calls     none takes longer than `slow` seconds

A case is a function of (seed, target, number), so a failure is repeated with `--only NUMBER`. `--last` names a file that tells, after a
crash, which case it was. Meant to be run under AddressSanitizer: build the extension with `CFLAGS="-fsanitize=address,undefined"` and set
LD_PRELOAD to the compiler's libasan.so, ASAN_OPTIONS to detect_leaks=0.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from grammar_engine import (
    Grammar,
    GrammarEngineError,
    InternalError,
    LimitExceededError,
    Limits,
    Matcher,
    Switches,
    Tag,
    Token,
    Vocabulary,
    VocabularyError,
)
from grammar_engine._native import ffi, lib, native_limits, new_err

ROOT = Path(__file__).resolve().parents[2]
SLOW = 5.0  # seconds that a call may take
STEPS = 8  # tokens per walk


class Finding(AssertionError):  # noqa: N818 (it is one)
    """A law does not hold."""


# --- sources ----------------------------------------------------------------------------------------------------------------

KEYWORDS = """type properties required additionalProperties patternProperties items prefixItems minItems maxItems minLength maxLength pattern format
enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf anyOf allOf oneOf not if then else $ref $defs $anchor $id $schema
uniqueItems contains minContains propertyNames minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties
definitions title description default $dynamicRef $recursiveRef contentEncoding nullable""".split()
FORMATS = "date time date-time email uuid ipv4 ipv6 hostname uri duration regex json-pointer nope".split()
SCALARS: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 10, 255, 1.5, -0.1, 1e-7, 1e308, 10**20, 2**53 + 1, 4294967295, 4294967294, -(10**30), 1e400, float("nan"),
    "", "a", "\0", "é", "😀", "\ud800", "\x7f", '"', "\\", "string", "integer", "number", "object", "array", "boolean", "null", "^a+$",
    "(", "[", "a{2,1}", r"\d{3}", "(?=a)", r"\1", "#", "#/", "#/$defs/a", "#/properties", "#a", "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema", "a" * 300, [], {}, [[]], ["a", "a"], ["string", "null"],
]  # fmt: skip
PATTERNS = [
    r"^[a-z]+$", r"\d{3}-\d{4}", r"(a|b)*c", r"[^\x00-\x1f]{1,20}", r"(?i:straße)", r"^(?:\p{L}|\p{Nd})+$", r"a{1,1000}", r"(.*a){20}", r"(a|aa){1,100}",
    r"\bword\b", r"^$", r"^\S+@\S+\.\S+$", r"[\u4e00-\u9fff]+", r"(?P<x>a)(?P<y>b)", r"a*?b+?", r"[\w.-]+", r"x{0}", r"((a?){10}){10}", r"^(\d+|[a-f]+)$",
]  # fmt: skip
PIECES = [
    "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "\\d", "\\w", "\\s", "\\b", "\\B", "\\p{L}", "\\u0041", "\\x41", "\\0", "\\1",
    "(?:", "(?=", "(?!", "(?<=", "(?i)", "(?P<n>", "[^", "-", "{1,}", "{3}", "{0,1000}", "{1000,1000}", "*?", "a", "b", "é", "😀", "\0", "\n", "&", "~", "0", "\\",
    "[a-z]", "[[:alpha:]]", "(a|b)", "(a*)*", "{4294967294}", "{4294967295}", "{99999999999}", ",", "\\k<n>", "\\cA", "\\Z", "\\A", "(?#", "(?s:", "(?x)", "#",
]  # fmt: skip
LARK_PIECES = [
    "start", ":", "|", "(", ")", "[", "]", "*", "+", "?", "~", "~2", "~0..3", "~1000", '"a"', '"b"i', "/x/", "/(/", "A", "b", "->", "%ignore", "%import common.WS",
    "%import common.INT", "%declare X", "!", "?", ".5", "{", "}", ",", "_", "\n", " ", "..", '"a".."z"', "//", "/[a-z]+/is", "\0", '""', "%extend", "%override",
    "<x>", "<x>", "<y>", "<[3]>", "<[3-9,12]>", "<[*]>", "<", ">", '%json {"type": "integer"}', "%json", "%json {}", "%lark {", "[lazy]", '[suffix="b"]', "%ignore / /",
]  # fmt: skip
LARK_SOURCES = [
    'start: "a" start | "b"', 'start: (A | B)*\nA: /a+/\nB.2: "b"~2..3\n%ignore " "', '?start: sum\n?sum: sum "+" x | x\nx: /[0-9]+/ | "(" sum ")"',
    'start: _sep{x, ","}\n_sep{i, s}: i (s i)*\nx: "x" | [y]\ny: "y"', "%import common.INT\n%import common.WS\n%ignore WS\nstart: INT*", 'start: ("a"*)*',
    'start: "<" %json {"type": "object", "properties": {"a": {"type": "integer"}}} ">"\n%ignore " "', "start: <x> /[a-z]*/ <x>* (%json true)~1..2",
]  # fmt: skip


class Corpus:
    """The real sources that are mutated: those of `grammars/`, and a folder of schemas where one is given."""

    def __init__(self, folder: Path | None = None):
        files = sorted((ROOT / "grammars" / "schemas").glob("*.json"))
        self.schemas = [json.loads(file.read_text()) for file in files]
        self.more = sorted(folder.glob("*.json")) if folder else []
        self.larks = LARK_SOURCES + [file.read_text() for file in sorted((ROOT / "grammars").glob("*.lark"))]

    def schema(self, rng: random.Random) -> Any:
        """A schema, as a value of its own."""
        if self.more and rng.random() < 0.8:
            stored = json.loads(rng.choice(self.more).read_text())
            schema = stored.get("schema", stored) if isinstance(stored, dict) else stored
            if len(json.dumps(schema)) < 20_000:
                return schema
        return copy.deepcopy(rng.choice(self.schemas))


# --- mutation ---------------------------------------------------------------------------------------------------------------


def places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything inside a JSON value."""
    if depth > 60:
        return
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, child in items:
        yield value, key
        yield from places(child, depth + 1)


def mutate_schema(rng: random.Random, schema: Any) -> Any:
    """One to four changes of structure."""
    root = {"root": schema}
    for _ in range(rng.randint(1, 4)):
        spots = list(places(root))
        container, key = rng.choice(spots)
        kind = rng.randrange(9)
        if kind == 0:
            container[key] = copy.deepcopy(rng.choice(SCALARS))
        elif kind == 1 and (container is not root):
            del container[key]
        elif kind == 2:
            other, name = rng.choice(spots)
            if isinstance(other, (dict, list)) and (name in other if isinstance(other, dict) else name < len(other)):
                container[key] = copy.deepcopy(other[name])
        elif kind == 3:
            container[key] = {rng.choice(["allOf", "anyOf", "oneOf"]): [container[key], copy.deepcopy(rng.choice(spots)[0])]}
        elif kind == 4:
            container[key] = {rng.choice(["not", "items", "if", "additionalProperties", "contains"]): container[key]}
        elif kind == 5 and isinstance(container[key], dict):
            container[key][rng.choice(KEYWORDS)] = copy.deepcopy(rng.choice(SCALARS))
        elif kind == 6 and isinstance(container[key], dict):
            container[key]["pattern"] = mutate_text(rng, rng.choice(PATTERNS), PIECES)
        elif kind == 7 and isinstance(container[key], dict):
            container[key]["$ref"] = "#" + "".join("/" + str(name) for _, name in rng.sample(spots, min(len(spots), rng.randint(0, 2))))
        elif kind == 8 and isinstance(container[key], dict):
            container[key][rng.choice(KEYWORDS)] = {rng.choice(KEYWORDS): copy.deepcopy(rng.choice(SCALARS))}
        if len(json.dumps(root, default=str)) > 60_000:
            break
    return root["root"]


def mutate_text(rng: random.Random, text: str, pieces: list[str]) -> str:
    """One to six changes of characters and of pieces."""
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(text))
        end = min(len(text), at + rng.choice([0, 1, 1, 2, 5]))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + text[at:end] * rng.choice([2, 3, 30]) + text[end:]
        elif kind == 2:
            text = text[:at] + chr(rng.choice([0, 10, 34, 92, 127, 0xD800, 0xE9, 0x10FFFF, rng.randrange(128)])) + text[end:]
        elif kind == 3:
            other = rng.randint(0, len(text))
            text = text[:at] + text[other : other + rng.randint(1, 12)] + text[end:]
        else:
            text = text[:at] + rng.choice(pieces) + text[end:]
    return text[:20_000]


# --- walking what was accepted ----------------------------------------------------------------------------------------------


class Clock:
    """Times calls; a slow one is a finding."""

    def __init__(self, slow: float):
        self.slow = slow
        self.slowest = (0.0, "")

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        begin = time.thread_time()  # of this thread: other load on the machine does not count
        try:
            return call()
        finally:
            took = time.thread_time() - begin
            self.slowest = max(self.slowest, (took, name))
            if took > self.slow:
                raise Finding(f"{name} took {took:.1f} s")


def random_vocabulary(rng: random.Random) -> Vocabulary:
    """All bytes, and some longer tokens."""
    tokens = [bytes([byte]) for byte in range(256)]
    letters = ['"', "a", "b", "1", "{", "}", ",", ":", " ", "é", "\0", "\\", "[", "]", "true", "null", "é"[:1], "x" * 30]
    words = ("".join(rng.choice(letters) for _ in range(rng.randint(1, 5))).encode() for _ in range(rng.randint(0, 60)))
    tokens += [word[: rng.choice([1, 2, 3, 100])] for word in words]
    tokens += [b""] * rng.randint(1, 3) + [b""]
    return Vocabulary(tokens, eos=[len(tokens) - 1], special={len(tokens) - 2: "<x>"}, width=len(tokens) + rng.choice([0, 0, 7, 64]))


VOCABULARIES = [random_vocabulary(random.Random(seed)) for seed in range(6)]


def random_limits(rng: random.Random) -> Limits | None:
    """Mostly the defaults, else something small."""
    if rng.random() < 0.7:
        return None
    names = ["max_expressions", "max_regex_nesting", "max_lexer_states", "max_rules", "max_row_items", "max_rows", "max_configurations", "max_alternatives",
             "max_step_work", "max_memory_bytes", "max_mask_bytes", "max_template_instances", "max_schema_nodes", "max_schema_nesting", "max_alternative_schemas"]  # fmt: skip
    return Limits(**{name: int(10 ** rng.uniform(0, 5)) for name in rng.sample(names, rng.randint(1, 3))})


def walk(rng: random.Random, grammar: Grammar, clock: Clock) -> None:
    """A random walk under the laws. A `LimitExceededError` ends it."""
    vocabulary = rng.choice(VOCABULARIES)
    switches = Switches() if rng.random() < 0.7 else Switches(*(rng.random() < 0.5 for _ in range(6)))
    try:
        matcher = clock("Matcher", lambda: Matcher(grammar, vocabulary, switches=switches))
        for _ in range(STEPS):
            mask = clock("mask", matcher.mask)
            allowed = clock("allowed_tokens", matcher.allowed_tokens)
            for token in {rng.randrange(vocabulary.width) for _ in range(12)} | {-1, vocabulary.width, vocabulary.eos[0]}:
                if bool(clock("validate", lambda token=token: matcher.validate([token]))) != (token in allowed):
                    raise Finding(f"mask and validate disagree about token {token} after {matcher.tokens}")
            if (vocabulary.eos[0] in allowed) != matcher.is_complete:
                raise Finding(f"EOS and is_complete disagree after {matcher.tokens}")
            if not allowed:
                raise Finding(f"a dead end after {matcher.tokens}")
            forced = clock("forced_bytes", matcher.forced_bytes)
            if forced and (clock("explain", lambda f=forced: matcher.explain(f)).accepted is not True or matcher.is_complete):
                raise Finding(f"forced bytes are refused, or there is a choice, after {matcher.tokens}: {forced[:50]!r}")
            clock("explain", lambda: str(matcher.explain(rng.randrange(vocabulary.size))))
            clock("explain", lambda: str(matcher.explain(bytes(rng.randrange(256) for _ in range(3)))))
            before = matcher.tokens
            token = rng.choice(allowed)
            twin = matcher.fork()
            if not clock("accept", lambda token=token: matcher.accept(token)):
                raise Finding(f"an allowed token is refused: {token} after {before}")
            if twin.tokens != before or matcher.tokens != [*before, token]:
                raise Finding("the history is wrong")
            matcher.rollback(1)
            if matcher.mask() != mask or matcher.fork().mask() != mask:
                raise Finding(f"another mask after a rollback to {before}")
            matcher.accept(token)
            if matcher.is_terminated:
                break
        matcher.reset()
        if matcher.tokens:
            raise Finding("a history after reset")
    except LimitExceededError:
        pass
    except VocabularyError as error:
        if str(error).startswith("the grammar names"):  # a special token that this vocabulary does not have
            return
        raise Finding(f"all bytes are in the vocabulary, but {error}") from None


# --- cases ------------------------------------------------------------------------------------------------------------------


def case_schema(rng: random.Random, corpus: Corpus, clock: Clock) -> str:
    """A mutated schema, as a value or as text."""
    schema = mutate_schema(rng, corpus.schema(rng))
    source: Any = schema
    if rng.random() < 0.4:
        source = json.dumps(schema, ensure_ascii=rng.random() < 0.5)
        if rng.random() < 0.5:
            source = mutate_text(rng, source, ['"', "{", "}", "[", "]", ",", ":", "1e5", "true", "\\u0000", "NaN", "-"])
        if rng.random() < 0.3:
            source = source.encode("utf-8", "surrogatepass")
    options = {
        "lenient": rng.random() < 0.3,
        "whitespace": rng.choice(["flexible", "bounded", "compact"]),
        "escapes": rng.choice(["minimal", "all"]),
        "property_order": rng.choice(["schema", "any"]),
        "number_style": rng.choice(["canonical", "any"]),
        "unique_keys": rng.random() < 0.2,
        "closed": rng.random() < 0.2,
        "formats": rng.choice(["known", "known", "strict", "annotation"]),
    }
    grammar = clock("from_json_schema", lambda: Grammar.from_json_schema(source, **options, limits=random_limits(rng)))
    walk(rng, grammar, clock)
    return "compiled"


def case_lark(rng: random.Random, corpus: Corpus, clock: Clock) -> str:
    """A mutated Lark grammar."""
    text = mutate_text(rng, rng.choice(corpus.larks), LARK_PIECES)
    grammar = clock("from_lark", lambda: Grammar.from_lark(text, lexing=rng.choice(["exact", "longest"]), limits=random_limits(rng)))
    walk(rng, grammar, clock)
    return "compiled"


def case_regex(rng: random.Random, corpus: Corpus, clock: Clock) -> str:
    """A mutated pattern, in both dialects."""
    if rng.random() < 0.3:
        pattern = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12)))
    else:
        pattern = mutate_text(rng, rng.choice(PATTERNS), PIECES)
    grammar = clock("from_regex", lambda: Grammar.from_regex(pattern, dialect=rng.choice(["python", "ecma"]), limits=random_limits(rng)))
    walk(rng, grammar, clock)
    return "compiled"


GBNF_PIECES = [
    "root", "::=", "|", "(", ")", "*", "+", "?", "{2}", "{1,}", "{0,1000}", "{4294967295}", "{2,1}", '"a"', '""', '"\\n"', '"\\x41"', '"\\ud800"', '"\\q"', '"',
    "[a-z]", "[^\"]", "[", "]", "[z-a]", "[^\\x00-\\U0010FFFF]", ".", "<x>", "<[3]>", "<[", "#", "\n", " ", "ws", "é", "\0", "-", "a-b", "!",
]  # fmt: skip
GBNF_SOURCES = [
    'root ::= "a" root | "b"', 'root ::= (a | b)*\na ::= [a]+\nb ::= "b"{2,3} ws\nws ::= | " " | "\\n" [ \\t]{0,20}', "root ::= root root | [ab]",
    'root ::= v\nv ::= "[" (v ("," v)*)? "]" | "\\"" rest | n\nrest ::= "\\"" | [^"\\\\] rest | "\\\\" . rest\nn ::= [0-9]+ ("." [0-9]+)?',
    'root ::= a\na ::= [x] b | ""\nb ::= a [y] | c\nc ::= "z" a', "root ::= <x> [a-z]* <x>",
]  # fmt: skip


def case_gbnf(rng: random.Random, corpus: Corpus, clock: Clock) -> str:
    """A mutated GBNF grammar."""
    text = mutate_text(rng, rng.choice(GBNF_SOURCES), GBNF_PIECES)
    grammar = clock("from_gbnf", lambda: Grammar.from_gbnf(text, limits=random_limits(rng)))
    if grammar._named <= {"<x>"}:  # others are not in the vocabulary
        walk(rng, grammar, clock)
    return "compiled"


TAG_PIECES = ["<", ">", "<<", "a", "ab", "aba", "1", "{", '"', "call", "\n", "é", "\0", " "]


def case_tags(rng: random.Random, corpus: Corpus, clock: Clock) -> str:
    """Tags of random marks, around bodies of all kinds."""

    def text(low: int) -> str:
        return "".join(rng.choice(TAG_PIECES) for _ in range(rng.randint(low, 3)))

    def mark(low: int) -> Any:
        return text(low) if rng.random() < 0.7 else [rng.choice([text(0), Token("<x>")]) for _ in range(rng.randint(low, 3))]

    def body() -> Any:
        kind = rng.randrange(5)
        if kind < 2:
            schema = mutate_schema(rng, corpus.schema(rng))
            return schema if isinstance(schema, dict) and rng.random() < 0.3 else {"type": rng.choice(["integer", "string", "object"])}
        if kind == 2:
            return Grammar.from_regex(rng.choice(["a*", "[^<]*", "(ab|a)*", "é?", r"\d+"]))
        return Grammar.from_lark(rng.choice(LARK_SOURCES)) if kind == 3 else None

    def tag(low: int) -> Tag:
        return Tag(mark(low), body(), mark(0), rng.choice([None, "a", "b"]))

    options = {
        "choice": rng.choice(["auto", "auto", "required", "none", "a"]),
        "parallel": rng.random() < 0.7,
        "text": (where := rng.choice(["around", "before", "never"])),
        "separator": text(0) if where != "around" else "",
        "triggers": [text(1)] if rng.random() < 0.1 else None,
        "excluded": [text(1)] if rng.random() < 0.2 else [],
        "thinking": tag(0) if rng.random() < 0.3 else None,
    }
    tags = [tag(1) for _ in range(rng.randint(1, 4))]
    try:
        grammar = clock("from_tags", lambda: Grammar.from_tags(tags, **options, limits=random_limits(rng)))
    except ValueError as error:
        if isinstance(error, GrammarEngineError) or "choice" in str(error):  # nobody has that name
            return type(error).__name__
        raise
    walk(rng, grammar, clock)
    return "compiled"


def case_structural_tag(rng: random.Random, corpus: Corpus, clock: Clock) -> str:
    """Nested formats, some of them damaged."""
    marks = [*TAG_PIECES, "<x>", "a<x>", "<x>a"]
    pieces: list[Any] = [*TAG_PIECES, "", "<x>", None, True, -1, 0, 3, 1 << 70, 0.5, [], {}, [""], "\ud800", "json", "any_text"]

    def texts(low: int) -> Any:
        return [rng.choice(marks) for _ in range(rng.randint(low, 3))]

    def tag(depth: int) -> Any:
        ends = [rng.choice(marks), "", {"type": "token", "token": "<x>"}, texts(0)]
        begin = rng.choice([rng.choice(marks), "<", {"type": "token", "token": "<x>"}])
        return {"type": "tag", "begin": begin, "content": shape(depth - 1), "end": rng.choice(ends)}

    def shape(depth: int) -> Any:
        kinds: list[Any] = [
            {"type": "const_string", "value": rng.choice(marks)},
            {"type": "any_text", "excludes": texts(0)},
            {"type": "any_text", "max_chars": rng.choice([0, 1, 300, 1 << 31])},
            {"type": "regex", "pattern": rng.choice(PIECES)},
            {"type": "grammar", "grammar": rng.choice(GBNF_SOURCES)},
            {"type": "token", "token": "<x>"},
            {"type": "json_schema", "json_schema": mutate_schema(rng, corpus.schema(rng))},
        ]
        if depth and rng.random() < 0.8:
            tags = [tag(depth) for _ in range(rng.randint(1, 3))]
            options = {"at_least_one": rng.random() < 0.3, "stop_after_first": rng.random() < 0.3}
            kinds = [
                {"type": rng.choice(["sequence", "or"]), "elements": [shape(depth - 1) for _ in range(rng.randint(1, 3))]},
                {"type": rng.choice(["optional", "star", "plus"]), "content": shape(depth - 1)},
                {"type": "repeat", "min": rng.choice([0, 2, 70_000]), "max": rng.choice([-1, 2, 70_000]), "content": shape(depth - 1)},
                tag(depth),
                {"type": "triggered_tags", "triggers": [*texts(1), "<"], "tags": tags, "excludes": texts(0), **options},
                {"type": "tags_with_separator", "separator": rng.choice(marks), "tags": tags, **options},
                {"type": "token_triggered_tags", "trigger_tokens": ["<x>"], "tags": tags, **options},
                {"type": "dispatch", "rules": [[text, shape(depth - 1)] for text in texts(1)], "loop": rng.random() < 0.5},
                {"type": "token_dispatch", "rules": [["<x>", shape(depth - 1)]]},
            ]
        made = rng.choice(kinds)
        if rng.random() < 0.05:
            made[rng.choice([*made, "type", "stop"])] = rng.choice(pieces)
        return made

    source = {"type": "structural_tag", "format": shape(rng.randint(0, 4))}
    options: dict[str, Any] = {"special_tokens": rng.choice([(), ["<x>"], ["<x>", rng.choice(marks)]]), "limits": random_limits(rng)}
    grammar = clock("from_structural_tag", lambda: Grammar.from_structural_tag(source, **options))
    if grammar._named <= {"<x>"}:
        walk(rng, grammar, clock)
    return "compiled"


class RandomIr:
    """Random records and rules, most of them well-formed."""

    def __init__(self, rng: random.Random, is_fragment: bool = False):
        self.rng = rng
        self.ops = [*range(15), 16] if is_fragment and rng.random() < 0.95 else [*range(15), 16, 17]
        self.words: list[int] = []
        self.n_exprs = 0
        self.data = bytes(rng.randrange(256) for _ in range(20)) + b"".join(
            rng.choice([b"ab*", b"(a|b)", b"[a-c]", b"\\d", b"(", b"^a$", b"0", b"a", b"b", b"\xff", b"\0", b"aa", b".*a.{3}"])
            for _ in range(12)
        )
        for _ in range(rng.randint(1, 14)):
            self.record()
        while rng.random() < 0.15:
            self.corrupt()

    def expr(self) -> int:
        """Mostly the id of an earlier expression."""
        return (
            self.rng.choice([self.n_exprs, 0xFFFFFFFF])
            if self.rng.random() < 0.005 or not self.n_exprs
            else self.rng.randrange(self.n_exprs)
        )

    def span(self) -> list[int]:
        """Offset and length in `data`."""
        at = self.rng.randint(0, len(self.data))
        return [at, self.rng.randint(0, 1 if self.rng.random() < 0.7 else len(self.data)) % (len(self.data) - at + 1)]

    def count(self) -> int:
        """A bound of a repetition."""
        return self.rng.choice([0, 1, 1, 2, 3, 5, 1000, 4294967294, 4294967295])

    def multiple(self) -> list[int]:
        """The operands of decimal multiples: scale, then divisor, low and high as spans of digits."""
        rng = self.rng
        scale = rng.choice([0, 1, 3] * 5 + [40, 400])
        divisor = rng.choice([1, 2, 7, 10, 250, 1000003, 0x7FFFFFFF, 2**32, 2**32 + 1, 10**40 + 9] * 4 + [rng.getrandbits(3300) + 1, 0])
        low = rng.choice([0, 0, 1, 10**scale, rng.getrandbits(rng.choice([8, 64, 2000]))])
        high = low + rng.choice([0, 1, divisor, 10 ** (scale + 3), rng.getrandbits(2000)] * 4 + [-1]) if rng.random() < 0.5 else None
        operands = [scale]
        for number in (str(divisor), str(low).zfill(scale + 1), "" if high is None else str(max(high, 0)).zfill(scale + 1)):
            operands += [len(self.data), len(number)]
            self.data += number.encode()
        return operands

    def fragment(self) -> list[int]:
        """The operands of records of their own."""
        own = RandomIr(self.rng, is_fragment=True)
        data = own.data.ljust(-(-len(own.data) // 4) * 4)
        n_data = len(own.data) if self.rng.random() < 0.97 else self.rng.choice([0, 3, 1000, 0xFFFFFFFF])
        return [n_data, *(int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)), *own.words]

    def record(self) -> None:
        """Append one."""
        rng = self.rng
        op = rng.choice(self.ops)
        if op in (0, 1, 16):
            operands: list[int] = []
        elif op == 2:
            operands = self.span()
        elif op == 3:
            operands = [rng.choice([0, 1, 0xFFFFFFFF, rng.getrandbits(32)]) for _ in range(8)]
        elif op == 4:
            points = sorted(
                {rng.choice([0, 65, 97, 98, 127, 128, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDFFF, 0xFFFF, 0x10000, 0x10FFFF]) for _ in range(6)}
            )
            operands = points[: len(points) // 2 * 2]
        elif op in (5, 6, 7):
            operands = [self.expr() for _ in range(rng.randint(0, 4))]
        elif op == 8:
            operands = [self.expr()]
        elif op == 9:
            operands = [self.expr(), self.count(), self.count()]
        elif op == 10:
            operands = [rng.choice([0, 1, 2, 1, 2, 0, 1, 2, 3]), rng.choice([0, 0, 1, 2, 4, 8, 16, 31, 0xFFFFFFFF]), *self.span()]
        elif op == 11:
            operands = [self.expr(), rng.choice([0, 1] * 9 + [2])]
        elif op == 12:
            operands = [word for _ in range(rng.randint(0, 5)) for word in self.span()]
        elif op == 13:
            operands = self.multiple()
        elif op == 17:
            operands = self.fragment()
        else:
            operands = [rng.choice([0, 1] * 9 + [2])]
        self.words += [op, len(operands), *operands]
        self.n_exprs += 1

    def corrupt(self) -> None:
        """Change something anywhere."""
        rng = self.rng
        at = rng.randrange(len(self.words)) if self.words else 0
        kind = rng.randrange(4)
        if kind == 0 and self.words:
            self.words[at] = rng.choice([0, 1, 2, 13, 14, 0x7FFFFFFF, 0xFFFFFFFF, rng.getrandbits(32), rng.randrange(18)])
        elif kind == 1:
            del self.words[at:]
        elif kind == 2:
            self.words.insert(at, rng.randrange(18))
        else:
            self.words += [rng.getrandbits(32) for _ in range(rng.randint(1, 12))]

    def rules(self) -> dict[str, Any]:
        """Lexemes, rules and lists over these expressions."""
        rng = self.rng
        n_lexemes, n_nonterminals = rng.randint(0, 5), rng.randint(0, 5)

        def symbol() -> int:
            if rng.random() < 0.003:
                return rng.choice([0xFFFFFFFF, 2 * n_lexemes, 2 * n_nonterminals + 1, rng.getrandbits(32)])
            choices = [2 * i for i in range(n_lexemes)] + [2 * i + 1 for i in range(n_nonterminals)]
            return rng.choice(choices or [0, 1])

        def left() -> int:
            wild = not n_nonterminals or rng.random() < 0.002
            return rng.choice([n_nonterminals, 0xFFFFFFFF]) if wild else rng.randrange(n_nonterminals)

        rules: list[int] = []
        for _ in range(rng.randint(0, 10)):
            right = [symbol() for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
            rules += [left(), len(right) if rng.random() < 0.998 else rng.choice([0, 7, 0xFFFFFFFF]), *right]
        lists: list[int] = []
        for _ in range(rng.choice([0, 0, 1, 2])):
            lists += [left(), symbol(), rng.choice([0xFFFFFFFF, symbol()]), self.count(), self.count()]
        lexemes = [word for _ in range(n_lexemes) for word in (self.expr(), rng.choice([0, 0, 0, 1, 2, 3, 0xFFFFFFFF]))]
        return {"lexemes": lexemes, "n_lexemes": n_lexemes, "n_nonterminals": n_nonterminals, "rules": rules, "lists": lists,
                "start": symbol(), "longest": rng.choice([0, 0, 1])}  # fmt: skip


def case_ir(rng: random.Random, corpus: Corpus, clock: Clock) -> str:
    """Random IR into the core. Any status will do, but for `GE_OK` where nothing was made."""
    ir = RandomIr(rng)
    out, err = ffi.new("ge_ir **"), new_err()
    if lib.ge_ir_new(native_limits(random_limits(rng) or Limits()), out, err):
        return "no ir"
    handle = ffi.gc(out[0], lib.ge_ir_free)
    words, data = ffi.new("uint32_t[]", ir.words), ffi.from_buffer("uint8_t[]", ir.data)
    done, read, answer, found = ffi.new("size_t *"), 0, ffi.new("int32_t *"), ffi.new("uint32_t[8]")
    while read < len(ir.words):
        rest = len(ir.words) - read
        status = clock("ge_ir_add", partial(lib.ge_ir_add, handle, words + read, rest, data, len(ir.data), done, err))
        if status == lib.GE_OK and done[0] != rest:
            raise Finding("ge_ir_add stopped without a reason")
        if status and not done[0]:
            break
        read += done[0]
    for _ in range(4):
        some, other = ir.expr(), ir.expr()
        status = clock("ge_ir_is_empty", lambda some=some: lib.ge_ir_is_empty(handle, some, answer, err))
        empty = None if status else answer[0]
        text = bytes(rng.choice(b"ab01.\xff\0") for _ in range(rng.randint(0, 6)))
        status = clock("ge_ir_matches", lambda some=some, text=text: lib.ge_ir_matches(handle, some, text, len(text), answer, err))
        if not status and empty == 1 and answer[0]:
            raise Finding(f"expression {some} is empty and matches {text!r}")
        clock("ge_ir_continuations", lambda some=some, other=other: lib.ge_ir_continuations(handle, some, other, found, err))
    parts = ir.rules()
    held = {name: ffi.new("uint32_t[]", parts[name]) for name in ("lexemes", "rules", "lists")}
    rules = ffi.new("ge_rules *")
    rules.lexemes, rules.rules, rules.lists = held["lexemes"], held["rules"], held["lists"]
    rules.n_lexemes, rules.n_nonterminals = parts["n_lexemes"], parts["n_nonterminals"]
    rules.n_rule_words, rules.n_lists = len(parts["rules"]), len(parts["lists"]) // 5
    rules.start, rules.longest = parts["start"], parts["longest"]
    made = ffi.new("ge_grammar **")
    status = clock("ge_grammar_new", lambda: lib.ge_grammar_new(handle, rules, made, err))
    if status:
        if made[0] != ffi.NULL:
            raise Finding("a grammar in spite of a failure")
        return f"status {status}"
    grammar = object.__new__(Grammar)
    grammar._handle = ffi.gc(made[0], lib.ge_grammar_free)
    prepare(grammar, parts)
    if not parts["longest"]:  # which has dead ends by design
        walk(rng, grammar, clock)
    return "compiled"


def prepare(grammar: Grammar, parts: dict[str, Any]) -> None:
    """Make a `Grammar` of a bare handle."""
    from weakref import WeakSet

    from grammar_engine.ir import SymbolInfo
    from grammar_engine.report import Report

    grammar.report, grammar.limits, grammar._kind, grammar._origins = Report(), Limits(), "fuzz", {}
    grammar._lexemes = [SymbolInfo(f"lexeme {i}") for i in range(parts["n_lexemes"])]
    grammar._nonterminals = [SymbolInfo(f"rule {i}") for i in range(parts["n_nonterminals"])]
    grammar._live, grammar._latest, grammar._named = WeakSet(), lambda: None, frozenset()


CASES = {
    "schema": case_schema,
    "lark": case_lark,
    "regex": case_regex,
    "gbnf": case_gbnf,
    "tags": case_tags,
    "structural_tag": case_structural_tag,
    "ir": case_ir,
}


def run_case(target: str, seed: int, number: int, corpus: Corpus, clock: Clock) -> str:
    """One case; what became of it. Raises what may not be raised."""
    rng = random.Random(f"{target} {seed} {number}")
    try:
        return CASES[target](rng, corpus, clock)
    except InternalError:
        raise
    except GrammarEngineError as error:
        str(error)
        if isinstance(error, LimitExceededError) and (error.maximum < 1 or error.limit not in str(error)):
            raise Finding(f"a limit without a name or value: {error}") from None
        return type(error).__name__
    except MemoryError:
        return "MemoryError"


def main() -> int:
    """Run until the time is up; exit status 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--target", choices=sorted(CASES), action="append")
    parser.add_argument("--schemas", type=Path, help="a folder of JSON files with schemas (or objects with a `schema`)")
    parser.add_argument("--only", type=int, help="run this case alone, and let its exception out")
    parser.add_argument("--begin", type=int, default=0, help="number of the first case")
    parser.add_argument("--last", type=Path, help="file that names the case that runs")
    parser.add_argument("--slow", type=float, default=SLOW)
    options = parser.parse_args()
    corpus, clock = Corpus(options.schemas), Clock(options.slow)
    targets = options.target or sorted(CASES)
    if options.only is not None:
        print(run_case(targets[0], options.seed, options.only, corpus, clock))
        return 0
    outcomes: Counter[str] = Counter()
    findings: dict[str, str] = {}
    end, number = time.monotonic() + options.seconds, options.begin
    while time.monotonic() < end:
        for target in targets:
            if options.last:
                options.last.write_text(f"--seed {options.seed} --target {target} --only {number}\n")
            faulthandler.dump_traceback_later(20 * options.slow, exit=True)
            try:
                outcomes[f"{target}: {run_case(target, options.seed, number, corpus, clock)}"] += 1
            except Exception as error:
                kind = re.sub(r"[0-9]+", "N", f"{target}: {type(error).__name__}: {error}"[:100])
                if kind not in findings:
                    findings[kind] = f"--seed {options.seed} --target {target} --only {number}"
                    print(f"FOUND {kind}\n      {findings[kind]}", flush=True)
                outcomes[f"{target}: FOUND"] += 1
            faulthandler.cancel_dump_traceback_later()
        number += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:8,}  {outcome}")
    print(
        f"{number - options.begin:,} cases of each target; slowest call: {clock.slowest[0]:.2f} s, {clock.slowest[1]}; {len(findings)} kinds of finding"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
