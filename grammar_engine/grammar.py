"""Grammars: a source text compiled once, shared by any number of matchers in any number of threads.

Idea. A front end (`grammar_engine.frontends`) turns its source into the IR; the core compiles that. For each vocabulary that a grammar
meets, an *engine* of the core grows the automata as they are walked: lexer states, Earley rows, configurations and their masks. All
matchers over one (grammar, vocabulary) share it, so what one request has warmed up serves the next.

Generations. An engine only grows. Past `Limits.max_generation_bytes` the grammar begins a fresh one for new matchers; those
that are alive keep theirs, and the old one goes with the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakSet, ref

from ._native import NativeExpressions, NothingError, lib, new_grammar
from .checks import check_special_tokens
from .engine import Engine, Stats, Switches
from .errors import GrammarError, InternalError
from .inclusion import Part
from .ir import Builder, Symbol, SymbolInfo
from .limits import Limits, or_default
from .locks import new_lock
from .portable import Portable, Records, from_bytes, to_bytes
from .report import Report
from .tags import Tag
from .vocabulary import Vocabulary

_is_full = lib.ge_engine_is_full
_LOCK = new_lock()  # of the engines of all grammars; held while one is looked up or made


def _none() -> None:
    """A reference to nothing."""


class Grammar:
    """A compiled grammar. Made by one of the `from_*` constructors.

    Immutable in meaning, growing inside; any number of threads may use it at once.

    Attributes
    ----------
    report : Report
        What is enforced, what is annotation, what `lenient=True` relaxed.
    limits : Limits
        The ceilings it was compiled with.

    Examples
    --------
    >>> grammar = Grammar.from_json_schema({"type": "integer", "minimum": 0}, whitespace="compact")
    >>> matcher = Matcher(grammar, Vocabulary.bytes())
    >>> matcher.accept_bytes(b"4"), matcher.is_complete
    (True, True)
    >>> matcher.accept_bytes(b"x")
    False
    """

    report: Report
    limits: Limits
    _kind: str
    _lexemes: list[SymbolInfo]
    _records: Records
    _nonterminals: list[SymbolInfo]
    _named: frozenset[str | int]  # special tokens, by name or id
    _origins: Mapping[Symbol, str | None]  # the first places of symbols that are in several, for errors; none after `from_bytes`
    _handle: Any
    _live: WeakSet[Engine]
    _latest: Callable[[], Engine | None]

    def __init__(self, *args: object, **options: object) -> None:
        raise TypeError(
            "a Grammar is made by Grammar.from_json_schema, from_regex, from_lark, from_gbnf, from_choices, from_tags, from_structural_tag "
            "or from_bytes"
        )

    # --- constructors -----------------------------------------------------------------------------------------------

    @classmethod
    def from_json_schema(
        cls,
        schema: Any,
        *,
        whitespace: str | int | tuple[str, str] = "flexible",
        lenient: bool = False,
        escapes: str = "minimal",
        property_order: str = "schema",
        number_style: str = "canonical",
        unique_keys: bool = False,
        formats: str = "known",
        resources: Mapping[str, Any] | None = None,
        style: str = "json",
        closed: bool = False,
        discriminators: str | None = None,
        nullable: bool = False,
        special_tokens: Iterable[str] = (),
        limits: Limits | None = None,
    ) -> Grammar:
        r"""Compile a JSON Schema: the JSON texts of its instances.

        Parameters
        ----------
        schema : dict, bool, str, bytes, pydantic model class or TypeAdapter
            `str` and `bytes` are JSON text; numbers in it keep their exact decimal value.
        whitespace : {"flexible", "bounded", "compact"}, int, (str, str) or str
            Any JSON white space between JSON tokens; a bounded amount (see the documentation of the JSON Schema front end); none; at most
            so many characters; exactly this (item separator, key separator) and no other; or what a regular expression matches, as
            ``r"( |\n {0,8})?"``.
        lenient : bool
            Drop keywords that cannot be enforced instead of refusing the schema; each is listed in `report.relaxed`.
        escapes : {"minimal", "all"}
            How characters of strings may be spelt: raw where JSON allows it and by the one necessary escape elsewhere (its hexadecimal
            digits in either case), or in every way that RFC 8259 allows (``\u0041``, ``\/``, surrogate pairs).
        property_order : {"schema", "any"}
            The keys of an object come in the order of `properties`, then those only in `required`, then others; or in any order.
        number_style : {"canonical", "any"}
            How numbers may be spelt: as a model should write them (an integer in digits only), or in every way that RFC 8259 allows.
        unique_keys : bool
            No key occurs twice in an object. Otherwise keys that the schema does not name may, as the standard leaves it.
        formats : {"known", "strict", "annotation"}
            Known formats are enforced, and an unknown one is an annotation, listed in the report; or an unknown one is refused; or no
            format is enforced, as the standard has it by default since 2019-09.
        resources : mapping of str to schema, optional
            The schemas that references to other documents mean, by URI. Nothing is ever fetched.
        style : str
            "json"; or objects as parameters in XML, as models write the arguments of tool calls (``<parameter=city>Oslo</parameter>``):
            "qwen_xml", "minimax_xml", "minimax_m3_xml", "glm_xml", "deepseek_xml", "deepseek_v4_1_xml", "kimi_k3_xml" or "cohere_xml".
        closed : bool
            Objects have no keys but those that the schema names, and arrays whose first items it describes no others, as if it said
            `unevaluatedProperties: false` and `unevaluatedItems: false` for each value; see the documentation of the front end.
        discriminators : {"annotation", "required"}, optional
            What the `propertyName` of a `discriminator` (OpenAPI, pydantic) says: nothing, as JSON Schema has it, or that objects have that
            key. By default "required" where the schema is a model class or TypeAdapter, as pydantic has it, else "annotation".
        nullable : bool
            Read `nullable: true` beside `type` as OpenAPI 3.0 does: null is admitted, too. In JSON Schema it is no keyword.
        special_tokens : iterable of str
            Names of special tokens of the vocabulary: where what a `style` writes around names and values has one, it is the token.
        limits : Limits, optional

        Raises
        ------
        SchemaError
            `UnsupportedSchemaError` (valid, but not enforceable), `UnsatisfiableSchemaError` (no instance), or malformed; with a JSON
            pointer.
        LimitExceededError
        """
        from .frontends import json_schema

        limits = or_default(limits)
        decoded = json_schema.load(schema, limits)
        if discriminators is None:
            discriminators = "required" if json_schema.is_of_pydantic(schema) else "annotation"
        options = json_schema.Options(
            whitespace,
            lenient,
            escapes,
            property_order,
            number_style,
            unique_keys,
            formats,
            resources,
            style,
            closed,
            check_special_tokens(special_tokens),
            discriminators,
            nullable,
        )

        def compiled(schema: Any, options: json_schema.Options) -> Grammar | None:
            builder = Builder()
            expressions = NativeExpressions(builder, limits)
            built = json_schema.build(builder, schema, options, limits, expressions)
            try:
                return cls._compile(builder, expressions, built[0], limits, "JSON Schema", built[1]) if built else None
            except NothingError:
                return None

        grammar = compiled(decoded, options)
        if grammar is None:
            raise json_schema.unsatisfiable(decoded, options, compiled)
        return grammar

    @classmethod
    def from_regex(cls, pattern: str, *, dialect: str = "python", limits: Limits | None = None) -> Grammar:
        r"""Compile a regular expression; the whole text must match.

        Parameters
        ----------
        pattern : str
        dialect : {"python", "ecma"}
            The meaning of `re`, to which ``\p{...}``, ``\u{...}`` and ``(?<name>...)`` are added, or of ECMA-262 with the ``u`` flag.
        limits : Limits, optional

        Raises
        ------
        GrammarSyntaxError, UnsupportedRegexError
            With the offset in the pattern. Back-references are refused, and look-around where no automaton stands for it (docs/regex.md).
        LimitExceededError
        """
        from .frontends import regex

        limits = or_default(limits)
        builder = Builder()
        report = regex.build(builder, pattern, dialect=dialect)
        return cls._from_builder(builder, report, limits, "regular expression")

    @classmethod
    def from_lark(
        cls,
        text: str,
        *,
        start: str = "start",
        lexing: str = "exact",
        schema_options: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Compile a grammar in the language of the `lark` package.

        Its rules may also have special tokens, ``<think>`` or ``<[1000]>``, JSON Schemas, ``%json {"type": "integer"}``, and the attributes
        ``lazy`` and ``suffix``: ``text[suffix="</a>"]: /(?s:.)*/``.

        Parameters
        ----------
        text : str
        start : str
            The start rule.
        lexing : {"exact", "longest"}
            "exact": a text is a sentence if *some* way of cutting it into terminals parses. "longest": the discipline of a classic scanner,
            in which a shorter match lives only until a longer one is reached; grammars that may run into dead ends are noted in `report`.
        schema_options : mapping of str to value, optional
            Options of `from_json_schema` for the schemas in it, as ``{"whitespace": "compact"}``.
        limits : Limits, optional

        Raises
        ------
        GrammarSyntaxError
            With line, column and a caret.
        GrammarError
            There is no start rule, or no text is a sentence.
        SchemaError
            Of a JSON Schema in it, with a JSON pointer.
        LimitExceededError
        """
        from .frontends import lark

        limits = or_default(limits)
        options = cls._checked(schema_options)
        builder = Builder()
        expressions = NativeExpressions(builder, limits)
        report, named, schemas = lark.build(builder, text, start=start, lexing=lexing, limits=limits, questions=expressions)
        if builder.longest:
            lark.note_dead_ends(builder, expressions, report)
        if schemas:
            expressions.update_lexemes()  # what is wrong with a pattern has its place in this builder only
            from .frontends.lark.schemas import with_schemas  # here, as it loads the front end for schemas

            def compile_schema(schema: Any) -> tuple[Part, Report]:
                grammar = cls.from_json_schema(schema, limits=limits, **options)
                return grammar._as_part(), grammar.report

            builder, of_schemas = with_schemas(builder, schemas, compile_schema, limits, report)
            named |= of_schemas
            expressions = NativeExpressions(builder, limits)
        try:
            return cls._compile(builder, expressions, report, limits, "Lark", named)
        except NothingError:
            raise GrammarError(f"no text at all is a sentence of this grammar: the rule {start!r} can never be completed") from None

    @classmethod
    def from_gbnf(cls, text: str, *, start: str = "root", limits: Limits | None = None) -> Grammar:
        r"""Compile a grammar in GBNF, the language of llama.cpp.

        Parameters
        ----------
        text : str
        start : str
            The start rule.
        limits : Limits, optional

        Raises
        ------
        GrammarSyntaxError
            With line, column and a caret.
        GrammarError
            There is no start rule, or no text is a sentence.
        LimitExceededError

        Examples
        --------
        >>> grammar = Grammar.from_gbnf('''
        ... root ::= pair ("," pair)*
        ... pair ::= [a-z]+ "=" [0-9]{1,3}
        ... ''')
        >>> matcher = Matcher(grammar, Vocabulary.bytes())
        >>> matcher.accept_bytes(b"a=1,bc=23"), matcher.is_complete
        (True, True)
        """
        from .frontends import gbnf

        limits = or_default(limits)
        builder = Builder()
        expressions = NativeExpressions(builder, limits)
        report, named = gbnf.build(builder, text, start=start, limits=limits, questions=expressions)
        try:
            return cls._compile(builder, expressions, report, limits, "GBNF", named)
        except NothingError:
            raise GrammarError(f"no text at all is a sentence of this grammar: the rule {start!r} can never be completed") from None

    @classmethod
    def from_choices(cls, choices: Iterable[str | bytes], *, limits: Limits | None = None) -> Grammar:
        """Compile a list of texts, one of which is to be written.

        Parameters
        ----------
        choices : iterable of str or bytes
            `str` stands for its UTF-8 encoding. Cost is in proportion to the total length; 50,000 choices are fine.
        limits : Limits, optional

        Raises
        ------
        GrammarError
            There is no choice.
        """
        from .frontends import choices as choices_frontend

        limits = or_default(limits)
        builder = Builder()
        report = choices_frontend.build(builder, choices)
        return cls._from_builder(builder, report, limits, "choices")

    @classmethod
    def from_tags(
        cls,
        tags: Iterable[Tag],
        *,
        choice: str = "auto",
        parallel: bool = True,
        text: str = "around",
        separator: str = "",
        triggers: Iterable[str] | None = None,
        excluded: Iterable[str] = (),
        thinking: Tag | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Compile tags: regions of structure in free text, such as tool calls.

        Parameters
        ----------
        tags : iterable of Tag
            What begins a region, what is in it, what ends it.
        choice : str
            "auto": any number of tags; "required": at least one; "none": none; or the name of one: at least one of those that have it.
        parallel : bool
            False: at most one tag.
        text : {"around", "before", "never"}
            Where free text may stand: around all tags; before the first one, and if there is none; nowhere.
        separator : str
            What stands between two tags, where no free text may.
        triggers : iterable of str, optional
            With which texts tags begin, as ``<function=`` in ``<function=f>`` and ``<function=g>``. Free text has none of them, so where
            one is written a tag goes on. Default: all that a tag begins with, up to its first special token.
        excluded : iterable of str
            What else no free text has, that of bodies included.
        thinking : Tag, optional
            What may come before all the rest, and must if its beginning is empty, as it is where the prompt has it.
        limits : Limits, optional

        Raises
        ------
        GrammarError
            A tag could not be told from free text, a body has no text, or has `lexing="longest"`. From a body that is a schema: what
            `from_json_schema` raises.
        LimitExceededError

        Notes
        -----
        A `Matcher` over a grammar with a `Token` needs a vocabulary with that special token, for which the first one makes a second trie.
        Where it speaks of bytes, `Token.spelling` stands for it.

        Examples
        --------
        >>> call = Tag("<call>", {"type": "integer"}, "</call>")
        >>> matcher = Matcher(Grammar.from_tags([call]), Vocabulary.bytes())
        >>> matcher.accept_bytes(b"Let me see: <call>12</call>. Done."), matcher.is_complete
        (True, True)
        >>> matcher.accept_bytes(b"<call>x")
        False
        """
        from .frontends import tags as frontend

        limits = or_default(limits)

        def compile_body(body: Any) -> tuple[Part, Report]:
            if isinstance(body, (str, bytes, bytearray, memoryview, int, float, list)) and not isinstance(body, bool):
                raise TypeError(f"the body of a tag is a Grammar, a JSON Schema (dict or bool) or None, not {type(body).__name__}")
            grammar = body if isinstance(body, Grammar) else cls.from_json_schema(body, limits=limits)
            return grammar._as_part(), grammar.report

        options = frontend.Options.of(choice, parallel, text, separator, triggers, excluded)
        asked = frontend.read(tags, thinking, options, compile_body)
        named = frontend.named_in(asked)
        builder = Builder()
        report = frontend.build(builder, asked, limits)
        return cls._from_builder(builder, report, limits, "tags", named)

    @classmethod
    def from_structural_tag(
        cls,
        source: Any,
        *,
        special_tokens: Iterable[str] = (),
        schema_options: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Compile a structural tag, as requests to servers have it in JSON: the formats of XGrammar, and their older form.

        Parameters
        ----------
        source : dict, str, bytes or pydantic model
            ``{"type": "structural_tag", "format": {...}}``, or with "structures" and "triggers"; text is JSON. A model, as
            `xgrammar.StructuralTag`, is what it would be sent as.
        special_tokens : iterable of str
            Names of special tokens. Wherever a text of the tag itself has one (what begins and ends tags, triggers, constants, separators,
            what is excluded), it stands for that token, and not for its letters; of several at one place it is the longest. So it is in
            what a `style` writes. Otherwise schemas, patterns and grammars in it are as they are. ``vocabulary.special.values()`` are all
            of a vocabulary.
        schema_options : mapping of str to value, optional
            Options of `from_json_schema` for the schemas in it, as ``{"whitespace": "compact"}``. What a format says itself goes first;
            `special_tokens` add to those above.
        limits : Limits, optional
            `max_schema_nesting` and `max_schema_nodes` bound the formats, too.

        Raises
        ------
        GrammarError
            Something in it is not known or not supported, with a JSON pointer; or what `from_json_schema`, `from_regex` or `from_gbnf`
            raises for a part.
        LimitExceededError

        Examples
        --------
        >>> number = {"type": "json_schema", "json_schema": {"type": "integer"}}
        >>> call = {"type": "tag", "begin": "<call>", "content": number, "end": "</call>"}
        >>> text = {"type": "triggered_tags", "triggers": ["<call"], "tags": [call]}
        >>> matcher = Matcher(Grammar.from_structural_tag({"type": "structural_tag", "format": text}), Vocabulary.bytes())
        >>> matcher.accept_bytes(b"Let me see: <call>12</call>. Done."), matcher.is_complete
        (True, True)
        """
        from .frontends import structural_tag

        limits = or_default(limits)
        of_schemas = cls._checked(schema_options)

        def compile_body(kind: str, source: Any, **options: Any) -> tuple[Part, Report]:
            if kind == "pattern":
                grammar = cls.from_regex(source, dialect="ecma", limits=limits)
            elif kind == "grammar":
                grammar = cls.from_gbnf(source, limits=limits)
            else:
                grammar = cls.from_json_schema(source, limits=limits, **{**of_schemas, **options})
            return grammar._as_part(), grammar.report

        names = check_special_tokens(special_tokens)
        of_schemas = {**of_schemas, "special_tokens": names.union(of_schemas.get("special_tokens", ()))}
        builder, loaded = Builder(), structural_tag.load(source, limits)
        report, named = structural_tag.build(builder, loaded, limits, compile_body, special_tokens=names)
        return cls._from_builder(builder, report, limits, "structural tag", named)

    @staticmethod
    def _checked(schema_options: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if schema_options is None:
            return {}
        from .frontends.json_schema import Options  # here, as few grammars need the front end for schemas

        return Options.check_named(schema_options)

    def _as_part(self) -> Part:
        return Part(self._records, self._lexemes, self._nonterminals, self._named)

    @classmethod
    def _from_builder(
        cls,
        builder: Builder,
        report: Report | None = None,
        limits: Limits | None = None,
        kind: str = "IR",
        named: frozenset[str | int] = frozenset(),
    ) -> Grammar:
        limits = or_default(limits)
        try:
            return cls._compile(builder, NativeExpressions(builder, limits), report or Report(), limits, kind, named)
        except NothingError:
            raise GrammarError(f"no text at all is a sentence of this grammar ({kind})") from None

    @classmethod
    def _compile(
        cls,
        builder: Builder,
        expressions: NativeExpressions,
        report: Report,
        limits: Limits,
        kind: str,
        named: frozenset[str | int] = frozenset(),
    ) -> Grammar:
        self = object.__new__(cls)
        self.report = report
        self.limits = limits
        self._kind = kind
        self._lexemes = builder.lexemes
        self._nonterminals = builder.nonterminals
        self._named = named
        self._origins = builder.origins
        expressions.update_lexemes()
        self._records = Records.of(builder)
        self._handle = new_grammar(builder, self._records, expressions)
        self._live = WeakSet()
        self._latest = _none
        return self

    # --- as bytes ---------------------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The compiled grammar for another process: for a file, a cache, a worker. Pickling does the same.

        Returns
        -------
        bytes
            Some kilobytes for a common schema. The same source gives the same bytes.

        Notes
        -----
        States and masks are not in it: the other process makes its own.
        """
        return to_bytes(Portable(self._records, self._lexemes, self._nonterminals, self.report, self._kind, self._named))

    @classmethod
    def from_bytes(cls, content: bytes, *, limits: Limits | None = None) -> Grammar:
        """Take a grammar from `to_bytes`, without the work of a front end.

        Parameters
        ----------
        content : bytes
        limits : Limits, optional
            They are not among the bytes (pickling keeps them).

        Raises
        ------
        GrammarError
            They are no compiled grammar, damaged, or of another version of this library.
        LimitExceededError

        Examples
        --------
        >>> grammar = Grammar.from_regex("[a-z]+")
        >>> Grammar.from_bytes(grammar.to_bytes())
        <Grammar from regular expression: 1 lexemes, 1 nonterminals>
        """
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError(f"a compiled grammar is bytes, not {type(content).__name__}")
        told = from_bytes(bytes(content))
        limits = or_default(limits)
        builder = told.records.builder(told.lexemes, told.nonterminals)
        try:
            return cls._compile(builder, NativeExpressions(builder, limits), told.report, limits, told.kind, told.named)
        except (InternalError, NothingError) as error:  # no front end makes such
            raise GrammarError(f"these bytes are not taken for a grammar: {error}") from None

    # --- engines ----------------------------------------------------------------------------------------------------

    def _engine(self, vocabulary: Vocabulary, switches: Switches) -> Engine:
        """The engine for new matchers: the present one, or a fresh one if that is full."""
        if self._named:
            vocabulary = vocabulary._naming(self._named)
        latest = self._latest()  # most often the one that is asked for again
        if latest is not None and latest.vocabulary is vocabulary._native and latest.switches is switches and not _is_full(latest.handle):
            return latest
        if not isinstance(switches, Switches):
            raise TypeError(f"switches is a Switches, not {type(switches).__name__}")
        vocabulary._make_ready()  # may take long, which nobody else has to wait for
        with _LOCK:
            engines = vocabulary._engines.setdefault(self, {})
            engine: Engine | None = engines.get(switches)
            if engine is None or _is_full(engine.handle):
                engine = engines[switches] = Engine(self, vocabulary, switches, engine.generation + 1 if engine else 1)
                self._live.add(engine)
            self._latest = ref(engine)  # the vocabulary holds it: an engine goes when grammar or vocabulary do
            return engine

    def _fresh_engine(self, vocabulary: Vocabulary, full: Engine, is_shared: bool) -> Engine | None:
        """For a matcher that has met a ceiling in `full`: the engine of new matchers, if that is another one and has room; or (not
        `is_shared`) one of its own, which is to be offered to others when the matcher is done with it.
        """
        if self._named:
            vocabulary = vocabulary._naming(self._named)
        with _LOCK:
            present: Engine | None = vocabulary._engines.setdefault(self, {}).get(full.switches)
            if is_shared:
                return None if present is None or present is full or _is_full(present.handle) else present
            engine = Engine(self, vocabulary, full.switches, max(full.generation, present.generation if present else 0) + 1)
            self._live.add(engine)
            return engine

    def _offer(self, vocabulary: Vocabulary, engine: Engine) -> None:
        """From now on new matchers use it, unless theirs has room."""
        if self._named:
            vocabulary = vocabulary._naming(self._named)
        with _LOCK:
            engines = vocabulary._engines.setdefault(self, {})
            present: Engine | None = engines.get(engine.switches)
            if present is None or _is_full(present.handle):
                engines[engine.switches] = engine

    def warm(self, vocabulary: Vocabulary, seconds: float = 1.0, *, examples: Iterable[str | bytes] = (), seed: int = 0) -> int:
        """Compute states and masks before they are needed: along example texts, and then along random sentences.

        Never needed: what is not there is made when a text asks for it. For servers that would rather pay before the first request. What is
        forced after a text, and how short it may be closed, is found along with its mask; in random sentences that takes at most half of
        the time.

        Parameters
        ----------
        vocabulary : Vocabulary
        seconds : float
            The budget: after that time no further random sentence is begun. It ends before, once some sentences have needed nothing new.
            (Not counted: the first call for a vocabulary takes 0.1 s more for 131,072 tokens, to see which are words and which end
            something.)
        examples : iterable of str or bytes
            Texts as the model will write them; read as far as they are sentences. They are read whatever the time.
        seed : int
            Of the random sentences.

        Returns
        -------
        int
            How many masks were computed.

        Raises
        ------
        TypeError, ValueError
            An argument is none that it may be; nothing has been computed.
        LimitExceededError
        """
        from .warming import warm

        return warm(self, vocabulary, seconds, examples, seed)

    @property
    def stats(self) -> Stats:
        """Counters of all generations that are alive, over all vocabularies: sums, and maxima where the name says so."""
        with _LOCK:
            parts = [engine.stats() for engine in self._live]
        totals = Stats()
        for part in parts:
            totals = totals._and(part)
        return totals

    def _n_bytes(self) -> int:
        """`stats.bytes` and `stats.mask_bytes`, without the rest."""
        with _LOCK:
            engines = list(self._live)
        return sum(engine.n_bytes() for engine in engines)

    def __copy__(self) -> Grammar:
        """The same object: a grammar never changes in meaning."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Grammar:
        return self

    def __reduce__(self) -> Any:
        return _unpickled, (self.to_bytes(), self.limits)

    def __repr__(self) -> str:
        return f"<Grammar from {self._kind}: {len(self._lexemes)} lexemes, {len(self._nonterminals)} nonterminals>"


def _unpickled(content: bytes, limits: Limits) -> Grammar:
    return Grammar.from_bytes(content, limits=limits)
