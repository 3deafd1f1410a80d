r"""White space and punctuation: how the parts of a JSON text are put together.

Idea. Insignificant white space belongs to the lexeme before it, so between two lexemes there is never a choice: `{`, `,`, a key with its
colon, and each scalar end with a *gap*. What a gap may be is the option `whitespace`:

    "flexible"     any white space of RFC 8259, any amount; before and after the value as well
    "bounded"      in each gap at most two spaces, or one line end and at most 40 spaces or tabs; nothing before or after the value
    "compact"      none
    n              at most so many characters of white space in each gap; nothing before or after the value
    a pattern      what this regular expression matches as a whole in each gap; nothing before or after the value
    (item, key)    after each item exactly `item` (it contains the comma), after each key exactly `key` (it contains the colon);
                   no other white space: (", ", ": ") is what `json.dumps` writes

A pattern matches nothing but white space, and the empty text: `reading/options` has seen to that. Under "bounded" a gap has at most 41
bytes (42 with `\r\n`); there is one after each bracket (but the last), comma, scalar and key, and one after each colon. So the white space
of a text is bounded by what it says.

Invariant. Punctuation lexemes are made once. Under "bounded", a number and a pattern the last lexeme of the text has no gap: `close` and
`after` know by `last`.
"""

from __future__ import annotations

from functools import lru_cache

from ....ir import PYTHON_FULL, Builder, Expr, Symbol
from ..reading.options import WHITESPACE, WORDS, Whitespace

BOUNDED_SPACES = 2
BOUNDED_INDENT = 40


class Layout:
    """The punctuation of one grammar.

    Parameters
    ----------
    builder : Builder
    whitespace : "flexible", "bounded", "compact", int, (str, str) or str
        As `Options.check` has passed it.
    """

    def __init__(self, builder: Builder, whitespace: Whitespace):
        b = self.builder = builder
        self.is_bounded = whitespace not in ("flexible", "compact") and not isinstance(whitespace, tuple)
        self.is_flexible = whitespace == "flexible"
        self.is_pattern = isinstance(whitespace, str) and whitespace not in WORDS
        item, key = ",", ":"
        space = b.byte_set(WHITESPACE)
        self.gap = b.empty
        if self.is_flexible:
            self.gap = b.repeat(space, 0, None)
        elif whitespace == "bounded":
            line_end = b.concat(b.optional(b.bytes(b"\r")), b.bytes(b"\n"))
            indented = b.concat(line_end, b.repeat(b.byte_set(b" \t"), 0, BOUNDED_INDENT))
            self.gap = b.union(b.repeat(b.bytes(b" "), 0, BOUNDED_SPACES), indented)
        elif isinstance(whitespace, tuple):
            item, key = whitespace
        elif not isinstance(whitespace, str):
            self.gap = b.repeat(space, 0, int(whitespace))
        elif self.is_pattern:
            self.gap = b.pattern(whitespace, PYTHON_FULL)
        self._colon = b.concat(self.gap, b.string(key), self.gap)
        self.comma = b.lexeme(b.concat(b.string(item), self.gap), ",")
        self.open_object = b.lexeme(b.concat(b.bytes(b"{"), self.gap), "{")
        self.open_array = b.lexeme(b.concat(b.bytes(b"["), self.gap), "[")
        self._close = {
            (bracket, last): b.lexeme(self.after(b.string(bracket), last), bracket) for bracket in "}]" for last in {False, self.is_bounded}
        }
        self.before = b.lexeme(b.repeat(space, 1, None), "white space") if self.is_flexible else None

    @classmethod
    def begin(cls, builder: Builder, whitespace: Whitespace, escapes: int) -> Layout:
        """The punctuation of a grammar of which there is nothing yet:
        a copy of one that was made before, with strings of any characters.
        """
        begun = _begun(tuple(whitespace) if isinstance(whitespace, list) else whitespace, escapes)
        builder.begin(begun.builder)
        layout = cls.__new__(cls)
        layout.__dict__ |= begun.__dict__ | {"builder": builder}
        return layout

    def open_compared(self, repeated: bool) -> Symbol:
        """The opening bracket of an array whose items the engine compares: they all differ, or two are equal."""
        bracket = self.builder.concat(self.builder.bytes(b"["), self.gap)
        return self.builder.lexeme(bracket, "[", unique=not repeated, repeated=repeated)

    def close(self, bracket: str, last: bool) -> Symbol:
        """The closing bracket; `last` when the text ends with it."""
        return self._close[bracket, last and self.is_bounded]

    def after(self, expr: Expr, last: bool = False) -> Expr:
        """A scalar with its gap; `last` when the text ends with it."""
        return expr if last and self.is_bounded else self.builder.concat(expr, self.gap)

    def key(self, quoted: Expr) -> Expr:
        """A key, which is quoted already, with its colon and gaps."""
        return self.builder.concat(quoted, self._colon)


@lru_cache(maxsize=16)
def _begun(whitespace: Whitespace, escapes: int) -> Layout:
    b = Builder()
    layout = Layout(b, whitespace)
    quote = b.bytes(b'"')
    string = b.concat(quote, b.json(b.text, escapes), quote)
    layout.key(string)
    layout.after(string)
    b.pack()  # here, as threads share it
    return layout
