"""The marks of parameters in XML: how each style writes an object.

    qwen_xml        <parameter=city>Oslo</parameter>
    minimax_xml     <parameter name="city">Oslo</parameter>
    minimax_m3_xml  *<city>Oslo*</city>, where * is ]<]minimax[>[, and so on within arrays and objects: *<days>*<item>1*</item>*</days>
    glm_xml         <arg_key>city</arg_key><arg_value>Oslo</arg_value>
    deepseek_xml    <*parameter name="city" string="true">Oslo</*parameter>, where * is DSML between fullwidth bars
    deepseek_v4_1_xml, where a space is behind them
    kimi_k3_xml     <|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|>
    cohere_xml      <cofl:value name="city" type="raw">Oslo</cofl:value>, and so on within arrays (without names) and objects

Special tokens. What the user has named as such is the token, wherever a mark has it, and not its letters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ....ir import Builder, Expr
from ....tags import Token

KINDS = "string", "number", "boolean", "null", "array", "object"  # of values
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Marks(NamedTuple):
    """What a style writes around names and values.

    Attributes
    ----------
    open : str
        Before the name of a member.
    between : tuple of str
        Between it and the value; between these parts white space may stand.
    close : str
        Behind a value.
    kinds : mapping of str to str
        What stands behind `between` before a value of each of `KINDS`; empty if the marks do not tell what a value is.
    item : str
        Before an item of an array (and before its kind), if arrays and objects are written in marks, too; otherwise they are JSON.
    behind_name : str
        If the name stands in the mark behind the value: what follows it there. An item has the name "item" there.
    stop : str
        What no string has, if that is not the mark behind it.
    is_exact : bool
        White space around a scalar is a part of it. (Around a string it always is, where the marks tell what a value is.)
    has_entities : bool
        Names are written with the entities of XML.
    """

    open: str
    between: tuple[str, ...]
    close: str
    kinds: Mapping[str, str] = {}
    item: str = ""
    behind_name: str = ""
    stop: str = ""
    is_exact: bool = False
    has_entities: bool = False

    def texts(self) -> tuple[str, ...]:
        """All that is written of them without a name between."""
        close_item = f"{self.close}item{self.behind_name}" if self.behind_name else ""
        return self.open, *self.between, self.close, *self.kinds.values(), self.item, self.behind_name, close_item

    def end(self) -> str:
        """What no string has."""
        return self.stop or self.close

    def name(self, name: str) -> str:
        """A name, as it stands in marks."""
        return name.translate(_ENTITIES) if self.has_entities else name


def _dsml(space: str) -> Marks:
    tag = f"\uff5cDSML\uff5c{space}parameter"
    return Marks(f'<{tag} name="', ('" string="',), f"</{tag}>", {kind: 'true">' if kind == "string" else 'false">' for kind in KINDS})


_M3 = "]<]minimax[>["
_COHERE = {"string": "raw", "array": "list", "object": "dict"}
STYLES = {
    "qwen_xml": Marks("<parameter=", (">",), "</parameter>"),
    "minimax_xml": Marks('<parameter name="', ('">',), "</parameter>"),
    "minimax_m3_xml": Marks(f"{_M3}<", (">",), f"{_M3}</", item=f"{_M3}<item>", behind_name=">", stop=_M3, is_exact=True),
    "glm_xml": Marks("<arg_key>", ("</arg_key>", "<arg_value>"), "</arg_value>"),
    "deepseek_xml": _dsml(""),
    "deepseek_v4_1_xml": _dsml(" "),
    "kimi_k3_xml": Marks('<|open|>argument key="', ('" type="',), "<|close|>argument<|sep|>", {kind: f'{kind}"<|sep|>' for kind in KINDS}),
    "cohere_xml": Marks(
        '<cofl:value name="',
        ('" type="',),
        "</cofl:value>",
        {kind: f'{_COHERE.get(kind, "json")}">' for kind in KINDS},
        item='<cofl:value type="',
        has_entities=True,
    ),
}


class Spelling:
    """How the marks of one grammar are spelt.

    Parameters
    ----------
    builder : Builder
    marks : Marks
    special_tokens : collection of str
        What is a special token wherever a mark has it: of several that begin at one place the longest. They may be all of a vocabulary.

    Attributes
    ----------
    named : set of str
        The special tokens that were met.
    """

    def __init__(self, builder: Builder, marks: Marks, special_tokens: Collection[str]):
        self._builder = builder
        texts = "\n".join(marks.texts())  # no name has a line end
        names = sorted((name for name in special_tokens if name in texts), key=len, reverse=True)
        self._names = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None
        self.named: set[str] = set()

    def parts(self, text: str) -> list[str | Token]:
        """Texts and special tokens of a mark, none of them empty."""
        if self._names is None:
            return [text] if text else []
        return [Token(part) if i % 2 else part for i, part in enumerate(self._names.split(text)) if part]

    def __call__(self, text: str) -> Expr:
        """The expression of a mark."""
        b, found = self._builder, list[Expr]()
        for part in self.parts(text):
            if isinstance(part, Token):
                self.named.add(str(part.key))
                found.append(b.bytes(part.spelling))
            else:
                found.append(b.string(part))
        return b.concat(*found)

    def has_token(self, text: str) -> bool:
        """Whether a special token is in a mark."""
        return any(isinstance(part, Token) for part in self.parts(text))
