"""The reader beside Lark's own parser: it reads the same texts, and reads them alike."""

from __future__ import annotations

import pkgutil
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lark.exceptions import UnexpectedInput

from grammar_engine.errors import GrammarSyntaxError, LimitExceededError
from grammar_engine.frontends.lark.diagnosis import _known_to_lark
from grammar_engine.frontends.lark.reader import _Reader, read
from grammar_engine.frontends.lark.syntax import Body, Declare, Define, Ignore, Import, Statement, Token
from grammar_engine.limits import Limits
from lark import Tree, load_grammar

ROOT = Path(__file__).parents[2]
GRAMMARS = {path.parent.name + "/" + path.name: path.read_text() for path in sorted(ROOT.glob("grammars/**/*.lark"))}
GRAMMARS |= {name: pkgutil.get_data("lark", f"grammars/{name}.lark").decode() for name in ("common", "lark", "python", "unicode")}
SMALL = r"""
// all that the language has
%import common.INT
%import common.WS -> BLANK
%import common (DIGIT, _STRING_INNER)
%declare _INDENT _dedent
?start.2: [a "b"i]~3 | (c -> d | )+ -> e   # comment
     | /x\/[^"]/is? "a".."z"*
!_a{x, y}: x{y{"1", "2".."3"}, A} ~ 0..12 \
    x
?!b: "\"" "\\" []
A.-1: "x" | (("y")? /z/)~2
%override A: "q"
%extend ?start: "r" -> s

%ignore /\s+/ | A"""
PIECES = r"""& & ~ ( ) [ ] { } | ? * + ~ ~3 ~2..4 : -> ->x . .2 .. ... , ! ?x !y a A _b _B start "a" "b"i /x/ /y+?/i x{"a"} x{y,A} "a".."z" -1 +3 " / \
\" ٣ é %ignore %import %declare %override %extend %other //c #c""".split()
PIECES += [
    "\n",
    "\n|",
    "\r\n  | ",
    "\\ \n",
    " ",
    "\t",
    "\f",
    "\u00a0",
    "\n\n",
    "\n// c\n",
    "A: /a/\n",
    "y{q}: q\n",
    "%import a (b, C)\n",
    "%import common.INT",
]


def lark_tree(text: str) -> Any:
    """What Lark's parser makes of a text; None if it does not read it."""
    try:
        return load_grammar._get_parser().parse(text + "\n", "start")
    except UnexpectedInput:
        return None


def is_cut_otherwise(text: str) -> bool:
    """Whether for Lark, which reads the text, a literal ends at a mark behind a backslash."""
    literals = lark_tree(text).scan_values(lambda token: token.type in ("STRING", "REGEXP"))
    return any(re.search(r'(?<!\\)(\\\\)*\\["/][imslux]*$', str(token)) for token in literals)


# --- both as plain data -----------------------------------------------------------------------------------------------


def plain(token: Any) -> tuple[str, int]:
    return (token.text, token.start) if isinstance(token, Token) else (str(token), token.start_pos)


def first_of(tree: Any) -> tuple[str, int] | None:
    if not isinstance(tree, Tree):
        return plain(tree)
    children = tree.children[:1] if tree.data == "alias" else tree.children
    return next((first for first in map(first_of, children) if first), None)


def is_alone(expansion: Any) -> bool:
    """Whether a sequence is one item that stands for itself: neither the name of a rule nor a group of alternatives."""
    if len(expansion.children) != 1:
        return False
    item = expansion.children[0]
    while item.data == "value":
        item = item.children[0]
    if item.data == "expansions":
        return len(item.children) == 1
    return item.data != "nonterminal"


def steps_of(tree: Any) -> list[Any]:
    """A tree of alternatives in postfix order."""
    kind, children = tree.data, tree.children
    if kind in ("terminal", "nonterminal", "literal"):
        return [plain(children[0])]
    if kind == "range":
        return [("range", plain(children[0]), 0, [plain(children[1])], None)]
    if kind == "alias":
        items = children[0].children
        before = [step for item in items for step in steps_of(item)]
        return [*before, ("sequence", first_of(tree), len(items), [], plain(children[1].children[0]))]
    if kind == "expr":
        details = [plain(token) for token in children[1:] if token.type != "TILDE"]
        return [*steps_of(children[0]), ("repeat", first_of(tree), 1, details, None)]
    if kind == "template_usage":
        return [step for child in children[1:] for step in steps_of(child)] + [("use", first_of(tree), len(children) - 1, [], None)]
    inner = [step for child in children for step in steps_of(child)]
    if kind == "value" or (kind == "expansions" and len(children) == 1) or (kind == "expansion" and is_alone(tree)):
        return inner
    if kind == "maybe":
        return [*inner, ("maybe", first_of(tree), 1, [], None)]
    name = {"expansion": "sequence", "expansions": "alternatives"}[kind]
    return [*inner, (name, first_of(tree), len(children), [], None)]


def names_of(tree: Any) -> list[tuple[str, int]]:
    children = tree.children[:1] if tree.data == "alias" else tree.children
    own = [plain(children[0])] if tree.data in ("terminal", "nonterminal") else []
    return own + [name for child in children if isinstance(child, Tree) for name in names_of(child)]


def firsts_of(tree: Any) -> list[Any]:
    """Of each sequence, in postfix order, the first tokens of its items."""
    if tree.data == "alias":
        items, is_step = tree.children[0].children, True
    else:
        items, is_step = tree.children, tree.data == "expansion" and not is_alone(tree)
    inner = [firsts for item in items if isinstance(item, Tree) for firsts in firsts_of(item)]
    return [*inner, [first_of(item) for item in items]] if is_step else inner


def statement_of(tree: Any) -> tuple[Any, ...]:
    kind, children = tree.data, tree.children
    if kind in ("override", "extend"):
        return (f"%{kind}", *statement_of(children[0])[1:])
    if kind == "ignore":
        return ("ignore", *body_of(children[0]))
    if kind == "declare":
        return ("declare", [plain(symbol.children[0]) for symbol in children])
    if kind == "import":
        path, what = children[0], children[1:]
        names = [plain(name) for name in what[0].children] if what and isinstance(what[0], Tree) else []
        alias = plain(what[0]) if what and not isinstance(what[0], Tree) else None
        return ("import", [plain(name) for name in path.children], path.data == "import_rel", names, alias)
    if kind == "term":
        priority = [plain(number) for number in children[1:-1]]
        return ("", plain(children[0]), [], priority, *body_of(children[-1]), has_alias(children[-1]))
    modifiers, name, params, priority, body = children
    is_shaped = bool(modifiers.children) or has_alias(body)
    return ("", plain(name), [plain(p) for p in params.children], [plain(p) for p in priority.children], *body_of(body), is_shaped)


def has_alias(tree: Any) -> bool:
    return any(node.data == "alias" for node in tree.iter_subtrees())


def body_of(tree: Any) -> tuple[Any, ...]:
    return steps_of(tree), firsts_of(tree), names_of(tree), first_of(tree)


def plain_body(body: Body) -> tuple[Any, ...]:
    steps: list[Any] = []
    firsts = []
    for step in body.steps:
        if isinstance(step, Token):
            steps.append(plain(step))
            continue
        first = step.first and plain(step.first)
        steps.append((step.kind, first, step.size, [plain(token) for token in step.details], step.alias and plain(step.alias)))
        if step.kind == "sequence":
            firsts.append([token and plain(token) for token in step.firsts])
    return steps, firsts, [plain(name) for name in body.names], body.first and plain(body.first)


def plain_statement(statement: Statement) -> tuple[Any, ...]:
    if isinstance(statement, Ignore):
        return ("ignore", *plain_body(statement.body))
    if isinstance(statement, Declare):
        return ("declare", [plain(name) for name in statement.names])
    if isinstance(statement, Import):
        names = [plain(name) for name in statement.names]
        return (
            "import",
            [plain(name) for name in statement.path],
            statement.is_relative,
            names,
            statement.alias and plain(statement.alias),
        )
    assert isinstance(statement, Define)
    priority = [plain(statement.priority)] if statement.priority else []
    params = [plain(param) for param in statement.params]
    return (statement.change, plain(statement.name), params, priority, *plain_body(statement.body), statement.is_shaped)


def outcome(text: str) -> list[tuple[Any, ...]] | None:
    try:
        return [plain_statement(statement) for statement in read(text, Limits())]
    except GrammarSyntaxError:
        return None


def lark_for(text: str) -> str:
    """A text with what Lark does not know replaced."""
    reader = _Reader(text, 1000)
    reader.statements()
    return _known_to_lark(text, reader.tokens[:-2])


def expected(text: str) -> list[tuple[Any, ...]] | None:
    tree = lark_tree(text)
    return None if tree is None else [statement_of(statement) for statement in tree.children]


# --- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["small", *GRAMMARS])
def test_reads_what_lark_reads(name: str) -> None:
    text = SMALL if name == "small" else GRAMMARS[name]
    statements = outcome(text)
    assert statements
    assert statements == expected(text)


@pytest.mark.parametrize("seed", range(8))
def test_changed_texts_are_read_or_refused_alike(seed: int) -> None:
    rng = random.Random(seed)
    pieces = re.compile(r'\s+|\w+|"(?:\\.|[^"\\])*"i?|/(?:\\.|[^/\\])+/[imslux]*|%\w+|->|\.\.|.', re.DOTALL)
    sources = [SMALL, GRAMMARS["lark"], *(text for text in GRAMMARS.values() if len(text) < 1200)]
    n_read = n_refused = 0
    for i in range(250):
        text = pieces.findall(rng.choice(sources)) if i % 3 else ["start: "]
        for _ in range(rng.randint(1, 3) if i % 3 else rng.randint(1, 12)):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randint(0, 1)] = [rng.choice(PIECES)] if rng.random() < 0.8 else [rng.choice(text)]
        joined = "".join(text)
        found, wanted = outcome(joined), expected(joined)
        if found != wanted:
            if found is None:
                assert is_cut_otherwise(joined), joined
            else:  # it has `~` before an item, or `&`
                assert wanted is None and expected(lark_for(joined)) is not None, joined
        n_read += found is not None
        n_refused += found is None
    assert n_read > 30 and n_refused > 30


OTHERS = ["<x>", "<[3-5]>", "</think>", '<(|"/{>', '%json {"a": "}<"}', '%json {\n "b": [1]\n}', "%json true"]
STANDS_FOR = {other: f'"{"x" * (len(other) - 2)}"' for other in OTHERS}


def without_texts(statements: list[Statement]) -> str:
    """Statements without what their tokens say, but with their places."""
    return re.sub(r"'(?:[^'\\]|\\.)*'", "", repr([plain_statement(statement) for statement in statements]))


@pytest.mark.parametrize("seed", range(4))
def test_what_lark_does_not_know_is_read_where_a_string_is(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [piece for piece in PIECES if not {".", '"', "/", "\\", "#"} & {*piece[:2]}]
    n_read = n_refused = 0
    for _ in range(250):
        text = ["start: "]
        text += [f" {rng.choice(OTHERS)} " if rng.random() < 0.4 else rng.choice(pieces) for _ in range(rng.randint(1, 10))]
        joined = "".join(text)
        known = "".join(f" {STANDS_FOR[piece[1:-1]]} " if piece[1:-1] in STANDS_FOR else piece for piece in text)
        assert len(known) == len(joined)
        try:
            statements = read(joined, Limits())
        except GrammarSyntaxError as error:
            with pytest.raises(GrammarSyntaxError) as caught:
                read(known, Limits())
            assert error.offset == caught.value.offset
            assert error.reason == caught.value.reason or "no place here" in error.reason
            n_refused += 1
            continue
        assert without_texts(statements) == without_texts(read(known, Limits()))
        n_read += 1
    assert n_read > 15 and n_refused > 30


def test_a_mark_behind_a_backslash_ends_no_string() -> None:
    text = 'start: "a\\"\n'
    assert lark_tree(text) is not None and is_cut_otherwise(text)
    with pytest.raises(GrammarSyntaxError, match="not closed"):
        read(text, Limits())


@pytest.mark.parametrize(
    "text",
    [
        'start: "a"' + "\n" * 200_000,
        'start: "a"' + "\n" * 200_000 + ")",
        'start: "a"\n' + "\n \n" * 60_000 + "| |)",
        'start: "a"\n' + "\u00a0" * 200_000 + "x",
        'start: "' + "\\a" * 200_000,
        "start: /" + "a" * 200_000,
        "\n#" * 100_000 + "(",
        "\\\n" * 100_000 + ")",
        "start: %json {" + '"\\"' * 100_000,
        "start: " + "%json {} " * 20_000,
        "start: " + "<x " * 100_000,
    ],
    ids=[
        "empty lines",
        "empty lines and an error",
        "lines and alternatives",
        "no blanks",
        "string",
        "regexp",
        "comments",
        "continued lines",
        "open schema",
        "schemas",
        "signs",
    ],
)
def test_time_is_linear_in_the_text(text: str) -> None:
    begin = time.thread_time()
    outcome(text)
    assert time.thread_time() - begin < 5  # seconds; what is quadratic takes minutes


@pytest.mark.parametrize("text", ["", " ", "\\", "// c", "\n\n"])
def test_texts_without_a_statement(text: str) -> None:
    assert outcome(text) == []


def test_nesting_is_a_limit_with_a_place() -> None:
    read("start: " + "(" * 3 + ")" * 3, Limits(max_regex_nesting=3))
    for text in ('start: "x"\n  | (([("a")]))', 'start: "x"\n  | ((x{y{"a"}}))'):
        with pytest.raises(LimitExceededError) as caught:
            read(text, Limits(max_regex_nesting=3))
        assert caught.value.where == f"2:{text.splitlines()[1].replace('{', '(').replace('[', '(').rindex('(') + 1}"


def test_lark_is_imported_for_errors_only(tmp_path: Path) -> None:
    code = """if True:
        import sys, grammar_engine
        grammar_engine.Grammar.from_lark('%import common.INT\\nstart: INT')
        assert "lark" not in sys.modules
        try:
            grammar_engine.Grammar.from_lark("start: (")
        except ValueError as error:
            assert "unclosed" in str(error)
        assert "lark" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd=tmp_path)  # not where the sources are, which may not be built
