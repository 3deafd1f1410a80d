"""Structural tags, as servers hand them on in JSON: free text, tags, and what is put together of them.

    {"type": "structural_tag", "format": {"type": ..., ...}}                        nested formats, the language of XGrammar
    {"structures": [{"begin": ..., "schema": ..., "end": ...}], "triggers": [...]}  its older form

Idea. Each format is a symbol: schemas, regular expressions and grammars are compiled grammars, which are made again here (`inclusion.py`),
all else rules over them. Formats wait in a queue, so that nothing here is as deep as they are nested.

Free text in a tag goes up to where the end of the tag is written for the first time, so it depends on what is *around* it.

Texts are *marks*, in which special tokens may stand that the user has named (`marks.py`). Free text has no special tokens. So of what it is
without, or may not end with, only those marks matter that are all text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import GrammarEngineError, LimitExceededError, UnsupportedSchemaError
from ...inclusion import Part, check_texts, include
from ...ir import UNBOUNDED
from ...report import Entry, Report
from ...tags import Token
from ..json_schema.reading.options import MOST_WHITESPACE, STYLES
from ..tags.free_text import endings_of, free_text, within
from .marks import Marks
from .reader import Node, load, sent, shown, triggers_in

if TYPE_CHECKING:
    from ...ir import Builder, Expr, Symbol
    from ...limits import Limits

__all__ = ["build", "load", "sent"]

Compile = Callable[..., "tuple[Part, Report]"]  # of a kind of source, the source, and options of its constructor


def build(
    builder: Builder, source: Any, limits: Limits, compile_body: Compile, *, special_tokens: Collection[str] = ()
) -> tuple[Report, frozenset[str | int]]:
    """Compile a structural tag into `builder`.

    Parameters
    ----------
    builder : Builder
        Empty; filled by this call.
    source : dict
        The decoded JSON.
    limits : Limits
        `max_schema_nesting` and `max_schema_nodes` bound the formats, too.
    compile_body : callable
    special_tokens : collection of str
        The names of special tokens that stand for these in texts.

    Returns
    -------
    Report
        Where which kind of body stands, and what free text is without.
    frozenset of (str or int)
        The special tokens that are named.

    Raises
    ------
    GrammarError
        Something in it is not known or not supported, or it cannot be told where a text ends; with a JSON pointer.
    LimitExceededError
    """
    marks = Marks(special_tokens)
    formats = _Formats(builder, limits, compile_body, marks)
    formats.run(Node(source, marks))
    named = frozenset(formats.named.union(*(part.named for part in formats.parts.values())))
    for pointer, part in formats.parts.items():
        check_texts(part, named, f"what stands at {pointer}")
    return formats.report, named


class _Around(NamedTuple):
    """What free text depends on.

    Attributes
    ----------
    ends : tuple of str
        The marks that end the tag that it is in; it has none of them.
    following : str or None
        The one that comes directly behind it.
    is_open : bool
        It is in a tag of which nothing tells where the text ends.
    """

    ends: tuple[str, ...] = ()
    following: str | None = None
    is_open: bool = False


_NOTHING = _Around()


class _Formats:
    def __init__(self, builder: Builder, limits: Limits, compile_body: Compile, marks: Marks):
        self.builder, self.limits, self.compile_body, self.marks = builder, limits, compile_body, marks
        self.report = Report()
        self.named: set[str | int] = set()
        self.parts: dict[str, Part] = {}  # compiled grammars, by pointer
        self.symbols: dict[tuple[str, _Around], Symbol] = {}
        self.waiting: list[tuple[Callable[..., None], Node, Symbol, _Around]] = []
        self.within_triggers: set[str] = set()  # characters of all triggers as they are written, but not their first
        self.n_nodes = 0

    def run(self, root: Node) -> None:
        self.within_triggers = {sign for trigger in triggers_in(root) for sign in trigger[1:]}
        if root.has("structures"):
            root.only(("type", "structures", "triggers"))
            start = self.wait(_Formats.structures, root, _NOTHING)
        else:
            root.only(("type", "format"))
            start = self.format(root.node("format"), _NOTHING)
        if root.get("type", str, "structural_tag") != "structural_tag":
            raise root.refuse('the type of a structural tag is "structural_tag"', "type")
        self.builder.start = start
        while self.waiting:
            rules_of, node, left, around = self.waiting.pop()
            rules_of(self, node, left, around)

    def format(self, node: Node, around: _Around) -> Symbol:
        """The symbol of a format, whose rules may be still to come."""
        self.count(node)
        kind = node.get("type", str)
        if kind in _REFUSED:
            raise node.refuse(f'"{kind}" is not supported: {_REFUSED[kind]}')
        if kind not in _KINDS:
            raise node.refuse(f"the type {kind!r:.80} is not known; known are {', '.join(_KINDS)}", "type")
        names, rules_of = _KINDS[kind]
        node.only(("type", *names), _NEVER.get(kind, ()))
        return self.wait(rules_of, node, _NOTHING if kind == "tag" else around)

    def tag_format(self, node: Node) -> Symbol:
        """A tag in a list of tags, which need not say that it is one."""
        if node.get("type", str, "tag") != "tag":
            raise node.refuse('the tags of a format are of the type "tag"', "type")
        self.count(node)
        node.only(("type", "begin", "content", "end"))
        return self.wait(_Formats.tag, node, _NOTHING)

    def wait(self, rules_of: Callable[..., None], node: Node, around: _Around) -> Symbol:
        key = node.pointer, around
        symbol = self.symbols.get(key)
        if symbol is None:
            symbol = self.symbols[key] = self.builder.nonterminal(node.get("type", str, "tag"), where=node.pointer)
            self.waiting.append((rules_of, node, symbol, around))
        return symbol

    def count_texts(self, node: Node, texts: Sequence[str]) -> None:
        """Texts that free text is without are compared, and made one automaton."""
        self.count(node, len(texts) * sum(map(len, texts)) // 16)

    def count(self, node: Node, n: int = 1) -> None:
        self.n_nodes += n
        for limit, value in (("max_schema_nodes", self.n_nodes), ("max_schema_nesting", node.depth)):
            most = getattr(self.limits, limit)
            if value > most:
                raise LimitExceededError(limit, most, where=node.pointer)

    # --- texts and bodies ---------------------------------------------------------------------------------------------------

    def const_string(self, node: Node, left: Symbol, around: _Around) -> None:
        self.builder.rule(left, self.mark(node.text("value")))

    def token(self, node: Node, left: Symbol, around: _Around) -> None:
        self.builder.rule(left, (self.lexeme(node.token("token")),))

    def any_text(self, node: Node, left: Symbol, around: _Around) -> None:
        if node.get("max_tokens", None, None) is not None:
            raise node.refuse("a grammar does not count tokens; max_chars counts characters", "max_tokens")
        excluded = node.texts("excludes", [])
        text = self.free(node, excluded, (), around)
        if node.get("max_chars", None, None) is not None:
            text = self.builder.intersect(text, self.builder.repeat(self.builder.char, 0, self.number(node, "max_chars")))
        self.builder.rule(left, (self.builder.lexeme(text, "free text"),))

    def json_schema(self, node: Node, left: Symbol, around: _Around) -> None:
        style, most_spaces = node.get("style", str, None), node.get("max_whitespace_cnt", None, None)
        if style is not None and style not in STYLES:
            raise node.refuse(f"the style {style!r:.80} is not supported; supported are {', '.join(STYLES)}", "style")
        if not all(map(self.marks.tokens, node.texts("excludes", []))):
            reason = "what strings of a schema are without is told by their `pattern` or `not`; special tokens, by `special_tokens`"
            raise node.refuse(reason, "excludes")
        options: dict[str, Any] = {} if style is None else {"style": style}
        if node.get("any_order", bool, False):
            options["property_order"] = "any"
        if most_spaces is not None:
            if self.number(node, "max_whitespace_cnt") > MOST_WHITESPACE:
                raise node.refuse(f"{most_spaces} is more than {MOST_WHITESPACE:,}", "max_whitespace_cnt")
            options["whitespace"] = most_spaces
        self.body(node, left, "json_schema", node.get("json_schema"), **options)

    def qwen_xml_parameter(self, node: Node, left: Symbol, around: _Around) -> None:
        self.body(node, left, "json_schema", node.get("json_schema"), style="qwen_xml")

    def regex(self, node: Node, left: Symbol, around: _Around) -> None:
        self.body(node, left, "pattern", node.get("pattern", str))

    def grammar(self, node: Node, left: Symbol, around: _Around) -> None:
        self.body(node, left, "grammar", node.get("grammar", str))

    def body(self, node: Node, left: Symbol, name: str, source: Any, **options: Any) -> None:
        pointer = f"{node.pointer}/{name}"
        if pointer not in self.parts:
            try:
                self.parts[pointer], report = self.compile_body(name, source, **options)
            except GrammarEngineError as error:
                hint = "; the options of schemas are `schema_options`" if isinstance(error, UnsupportedSchemaError) else ""
                error.tell(f"in what stands at {pointer} of the structural tag{hint}")
                raise
            if name == "pattern":
                report.notes = [note._replace(pointer=f"#{note.pointer}") for note in report.notes]  # places in its text
            self.report.take_over(report, self.place(name, pointer))
        self.builder.rule(left, (include(self.builder, self.parts[pointer], place=self.place(name, pointer)),))

    def place(self, name: str, pointer: str) -> str:
        """What goes before the places in a body: within a grammar these are no pointers but "line:column"."""
        return f"{pointer}#" if name == "grammar" else pointer

    # --- what is put together -----------------------------------------------------------------------------------------------

    def sequence(self, node: Node, left: Symbol, around: _Around) -> None:
        *before, last = node.nodes("elements")
        first = [self.format(element, around._replace(following=None)) for element in before]
        self.builder.rule(left, (*first, self.format(last, around)))

    def one_of(self, node: Node, left: Symbol, around: _Around) -> None:
        for element in node.nodes("elements"):
            self.builder.rule(left, (self.format(element, around),))

    def optional(self, node: Node, left: Symbol, around: _Around) -> None:
        self.builder.rule(left, ())
        self.builder.rule(left, (self.format(node.node("content"), around),))

    def star(self, node: Node, left: Symbol, around: _Around) -> None:
        self.times(node, left, around, 0, None)

    def plus(self, node: Node, left: Symbol, around: _Around) -> None:
        self.times(node, left, around, 1, None)

    def repeat(self, node: Node, left: Symbol, around: _Around) -> None:
        low, high = self.number(node, "min"), node.get("max", int)
        most = None if high == -1 else self.number(node, "max")
        if most is not None and most < low:
            raise node.refuse(f"max is {most}, and min is {low}", "max")
        self.times(node, left, around, low, most)

    def times(self, node: Node, left: Symbol, around: _Around, low: int, high: int | None) -> None:
        self.builder.repetition(left, self.format(node.node("content"), around._replace(following=None)), None, low, high)

    def tag(self, node: Node, left: Symbol, around: _Around) -> None:
        ends = node.texts("end", least=0) if isinstance(node.get("end"), list) else [node.mark("end")]
        begin, content = self.mark(node.mark("begin")), node.node("content")
        marks = tuple(end for end in ends if end)
        if not ends:
            raise node.refuse("an empty array", "end")
        self.count_texts(node, marks)
        endings = endings_of(marks, marks)
        for end in ends:  # most overlap with no other end and no trigger: then the content is the same before all of them
            following = end if end and (endings[end] or self.marks.written(end)[0] in self.within_triggers) else None
            self.builder.rule(left, (*begin, self.format(content, _Around(marks, following, not marks)), *self.mark(end)))

    def tags_with_separator(self, node: Node, left: Symbol, around: _Around) -> None:
        parts = self.mark(node.text("separator"))
        separator = self.any_of(node, [parts]) if len(parts) > 1 else parts[0] if parts else None
        tag = self.any_of(node, [(self.tag_format(tag),) for tag in node.nodes("tags")])
        low, high = int(node.get("at_least_one", bool, False)), 1 if node.get("stop_after_first", bool, False) else None
        self.builder.repetition(left, tag, separator, low, high)

    # --- tags in free text --------------------------------------------------------------------------------------------------

    def structures(self, node: Node, left: Symbol, around: _Around) -> None:
        triggers, begun = node.texts("triggers"), []
        for structure in node.nodes("structures"):
            structure.only(("begin", "schema", "end"))
            self.count(structure)
            begun.append((structure.text("begin"), self.wait(_Formats.structure, structure, _NOTHING)))
        self.triggered(node, left, around, triggers, begun)

    def structure(self, node: Node, left: Symbol, around: _Around) -> None:
        content = self.builder.nonterminal("schema", where=node.pointer)
        self.body(node, content, "schema", node.get("schema"))
        self.builder.rule(left, (*self.mark(node.text("begin")), content, *self.mark(node.text("end"))))

    def triggered_tags(self, node: Node, left: Symbol, around: _Around) -> None:
        triggers = node.texts("triggers")
        tags = [(tag, self.tag_format(tag)) for tag in node.nodes("tags")]
        self.triggered(node, left, around, triggers, [(tag.text("begin"), symbol) for tag, symbol in tags])

    def triggered(self, node: Node, left: Symbol, around: _Around, triggers: list[str], begun: list[tuple[str, Symbol]]) -> None:
        by_trigger: list[tuple[str, Symbol]] = []
        known, lengths = set(triggers), sorted(set(map(len, triggers)))
        for begin, tag in begun:
            trigger = next((begin[:n] for n in lengths if begin[:n] in known), None)
            if trigger is None:
                shown = self.marks.shown(begin)
                raise node.refuse(f"{shown:.80}, with which a tag begins, begins with none of the triggers", "triggers")
            by_trigger.append((trigger, tag))
        self.texts_and_tags(node, left, around, "triggers", triggers, by_trigger)

    def dispatch(self, node: Node, left: Symbol, around: _Around) -> None:
        """Its free text goes on where the end of the tag that it is in is written: `excludes` may have that."""
        by_pattern: list[tuple[str, Symbol]] = []
        behind = self.behind_rule(node, around)
        for i, (pattern, content) in enumerate(node.rules("rules")):
            pattern = node.as_mark(pattern, f"rules/{i}/0", 1)
            by_pattern.append((pattern, self.any_of(node, [(*self.mark(pattern), self.format(content, behind))])))
        patterns = [pattern for pattern, _ in by_pattern]
        self.texts_and_tags(node, left, _NOTHING, "rules", list(dict.fromkeys(patterns)), by_pattern, loop=node.get("loop", bool, True))

    def texts_and_tags(
        self,
        node: Node,
        left: Symbol,
        around: _Around,
        name: str,
        triggers: list[str],
        tags: Sequence[tuple[str, Symbol]],
        *,
        loop: bool = True,
    ) -> None:
        """Free text, in which tags begin where their triggers have been written."""
        excluded = node.texts("excludes", [])
        stops = [*triggers, *excluded, *around.ends]
        self.count_texts(node, stops)
        self.apart(node, name, triggers, [*excluded, *around.ends])
        endings = endings_of(stops, triggers)
        before = {trigger: self.builder.lexeme(self.without(stops, endings[trigger]), "free text") for trigger in triggers}
        last = self.builder.lexeme(self.free(node, excluded, triggers, around), "free text")
        self.report.enforced.append(Entry(node.pointer, name, "none in free text: " + ", ".join(map(self.marks.shown, stops))))
        self.choices(node, left, [((before[trigger],), tag) for trigger, tag in tags], (last,), loop=loop)

    def token_triggered_tags(self, node: Node, left: Symbol, around: _Around) -> None:
        triggers, tags = node.tokens("trigger_tokens"), []
        known = set(triggers)
        self.apart(node, "trigger_tokens", node.signs(triggers, "trigger_tokens"), around.ends)
        for tag in node.nodes("tags"):
            tags.append(self.tag_format(tag))
            if known.isdisjoint(self.marks.parts(tag.mark("begin"))[:1]):
                raise tag.refuse("it begins with none of the trigger_tokens", "begin")
        self.texts_and_tokens(node, left, around, tags)

    def token_dispatch(self, node: Node, left: Symbol, around: _Around) -> None:
        behind = self.behind_rule(node, around)
        tags = [
            self.any_of(node, [(self.lexeme(node.as_token(token, f"rules/{i}/0")), self.format(content, behind))])
            for i, (token, content) in enumerate(node.rules("rules"))
        ]
        self.texts_and_tokens(node, left, _NOTHING, tags, loop=node.get("loop", bool, True))

    def texts_and_tokens(self, node: Node, left: Symbol, around: _Around, tags: Sequence[Symbol], *, loop: bool = True) -> None:
        """Free text, and tags which special tokens begin. There are no other special tokens in it, whether they are excluded or not."""
        self.named.update(token.key for token in node.tokens("exclude_tokens", []))
        text = self.builder.lexeme(self.without(around.ends, ()), "free text")
        last = self.builder.lexeme(self.free(node, (), (), around), "free text")
        self.choices(node, left, [((text,), tag) for tag in tags], (last,), loop=loop)

    def choices(
        self, node: Node, left: Symbol, tags: Sequence[tuple[tuple[Symbol, ...], Symbol]], last: tuple[Symbol, ...], *, loop: bool
    ) -> None:
        """Text and tag, any number of times, and text; or fewer of them."""
        rule = self.builder.rule
        is_once = not loop or node.get("stop_after_first", bool, False)
        more = self.any_of(node, [(*text, tag) for text, tag in tags])
        any_more = () if is_once else (self.builder.list_of(more, None, 0, None, "tags"), *last)
        if node.get("at_least_one", bool, False):
            rule(left, (self.any_of(node, [(tag,) for _, tag in tags]), *any_more))
        elif is_once:
            rule(left, last)
            rule(left, (more,))
        else:
            rule(left, any_more)

    # --- helpers ------------------------------------------------------------------------------------------------------------

    def behind_rule(self, node: Node, around: _Around) -> _Around:
        """Around what a rule of a dispatch leads to: that is in the tag, too, and stands before more free text in a loop."""
        return around._replace(following=None) if node.get("loop", bool, True) else around

    def any_of(self, node: Node, ways: Sequence[Sequence[Symbol]]) -> Symbol:
        return self.builder.any_of("tag", ways, where=node.pointer)

    def free(self, node: Node, excluded: Sequence[str], triggers: Sequence[str], around: _Around) -> Expr:
        """Free text behind which no tag begins."""
        if around.is_open:
            raise node.refuse("free text in a tag needs an end")
        self.count(node, sum(map(len, around.ends)) // 32)  # each piece of free text has an automaton of them
        stops = [*triggers, *around.ends]
        endings = () if around.following is None else endings_of(stops, [around.following])[around.following]
        return self.without([*stops, *excluded], endings)

    def without(self, stops: Sequence[str], endings: Sequence[str]) -> Expr:
        """All texts without any of some marks, and that do not end with any of others."""
        self.named.update(token.key for stop in stops for token in self.marks.tokens(stop))
        of_text = [[mark for mark in marks if not self.marks.tokens(mark)] for marks in (stops, endings)]
        return free_text(self.builder, *of_text)

    def apart(self, node: Node, name: str, triggers: Sequence[str], others: Sequence[str]) -> None:
        """Refuse triggers that are always found before others, or never."""
        for part, whole in chain(within(triggers, triggers), within(triggers, others, whole=True), within(others, triggers)):
            raise node.refuse(f"{self.marks.shown(part)} is in {self.marks.shown(whole)}, and so would always be found first", name)

    def number(self, node: Node, name: str) -> int:
        value: int = node.get(name, int)
        if not 0 <= value < UNBOUNDED:
            raise node.refuse(f"{shown(value)} is not from 0 to {UNBOUNDED - 1:,}", name)
        return value

    def mark(self, mark: str) -> tuple[Symbol, ...]:
        """What it is spelt with: a lexeme for each of its parts."""
        return tuple(map(self.lexeme, self.marks.parts(mark)))

    def lexeme(self, part: str | Token) -> Symbol:
        if isinstance(part, str):
            return self.builder.lexeme(self.builder.string(part), f'"{part}"')
        self.named.add(part.key)
        return self.builder.lexeme(self.builder.bytes(part.spelling), str(part))


_SPECIAL = "that a token is any but some is no matter of texts; special tokens are allowed where they are named"
_REFUSED = {
    "any_tokens": f"{_SPECIAL}, and any_text is all others",
    "exclude_token": _SPECIAL,
}
_FREE = "tags", "at_least_one", "stop_after_first"
_KINDS: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
    "const_string": (("value",), _Formats.const_string),
    "token": (("token",), _Formats.token),
    "any_text": (("excludes", "max_chars"), _Formats.any_text),
    "json_schema": (("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"), _Formats.json_schema),
    "qwen_xml_parameter": (("json_schema",), _Formats.qwen_xml_parameter),
    "regex": (("pattern",), _Formats.regex),
    "grammar": (("grammar",), _Formats.grammar),
    "sequence": (("elements",), _Formats.sequence),
    "or": (("elements",), _Formats.one_of),
    "optional": (("content",), _Formats.optional),
    "star": (("content",), _Formats.star),
    "plus": (("content",), _Formats.plus),
    "repeat": (("min", "max", "content"), _Formats.repeat),
    "tag": (("begin", "content", "end"), _Formats.tag),
    "triggered_tags": (("triggers", *_FREE, "excludes"), _Formats.triggered_tags),
    "token_triggered_tags": (("trigger_tokens", *_FREE, "exclude_tokens"), _Formats.token_triggered_tags),
    "tags_with_separator": ((*_FREE, "separator"), _Formats.tags_with_separator),
    "dispatch": (("rules", "loop", "excludes"), _Formats.dispatch),
    "token_dispatch": (("rules", "loop", "exclude_tokens"), _Formats.token_dispatch),
}  # the members that each kind may have, and its rules
_NEVER = {"any_text": ("max_tokens",)}  # members that are refused by name
