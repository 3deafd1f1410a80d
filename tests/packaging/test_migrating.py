"""docs/migrating.md is true: verdicts and calls of other engines, where they are installed, and ours beside them."""

from __future__ import annotations

import json
import pickle
import re
from array import array
from pathlib import Path

import pytest

import grammar_engine as ge

TEXT = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")
TABLE = re.search(r"<!-- verdicts -->(.*?)<!-- /verdicts -->", TEXT, re.DOTALL)
ENGINES = ("outlines_core", "llguidance", "xgrammar", "here")
TOKENS, EOS = [bytes((byte,)) for byte in range(256)] + [b""], 256
VOCABULARY = ge.Vocabulary(TOKENS, eos=[EOS])
PHONE = "[0-9]{3}-[0-9]{4}"
VERSIONS = {"outlines_core": "0.2.14", "llguidance": "1.9.1", "xgrammar": "0.2.8"}


def peer(name: str):
    """An engine, if it is the version that the document is about."""
    from importlib.metadata import version

    module = pytest.importorskip(name)
    if version(name) != VERSIONS[name]:
        pytest.skip(f"the document is about {name} {VERSIONS[name]}")
    return module


def rows() -> list[tuple[str, str, tuple[str, ...]]]:
    assert TABLE is not None
    found = re.findall(r"^\| (regex )?`(.*?)` \| `(.*?)` \| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$", TABLE[1], re.MULTILINE)
    assert len(found) == TABLE[1].count("\n") - 3
    return [(kind + source, text, tuple(verdicts)) for kind, source, text, *verdicts in found]


class _Bytes:
    """A tokenizer for llguidance, whose tokens are bytes."""

    tokens = [*TOKENS[:-1], b"</s>"]
    special_token_ids = [EOS]
    eos_token_id, bos_token_id = EOS, None

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


def outlines_vocabulary(outlines_core):
    return outlines_core.Vocabulary(EOS, {token: [i] for i, token in enumerate(TOKENS) if token})


def ll_tokenizer(llguidance):
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))


def compiler(xgrammar):
    info = xgrammar.TokenizerInfo(TOKENS, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[EOS])
    return xgrammar.GrammarCompiler(info, max_threads=1)


def read_by_outlines_core(kind: str, source: str, text: bytes) -> bool:
    outlines_core = peer("outlines_core")
    pattern = outlines_core.json_schema.build_regex_from_schema(source) if kind == "json_schema" else source
    guide = outlines_core.Guide(outlines_core.Index(pattern, outlines_vocabulary(outlines_core)))
    return guide.accepts_tokens(list(text)) and all(guide.advance(token) is not None for token in text) and guide.is_finished()


def read_by_llguidance(kind: str, source: str, text: bytes) -> bool:
    llguidance = peer("llguidance")
    grammar = getattr(llguidance.LLMatcher, f"grammar_from_{kind}")(source)
    matcher = llguidance.LLMatcher(ll_tokenizer(llguidance), grammar, log_level=0)
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    return matcher.try_consume_tokens(list(text)) == len(text) and matcher.is_accepting()


def read_by_xgrammar(kind: str, source: str, text: bytes) -> bool:
    xgrammar = peer("xgrammar")
    matcher = xgrammar.GrammarMatcher(getattr(compiler(xgrammar), f"compile_{kind}")(source))
    return matcher.accept_string(text) and matcher.is_completed()


def read_by_here(kind: str, source: str, text: bytes) -> bool:
    matcher = ge.Matcher(getattr(ge.Grammar, f"from_{kind}")(source), VOCABULARY)
    return matcher.accept_bytes(text) and matcher.is_complete


READERS = dict(zip(ENGINES, (read_by_outlines_core, read_by_llguidance, read_by_xgrammar, read_by_here)))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("source", "text", "verdicts"), rows())
def test_verdicts(engine: str, source: str, text: str, verdicts: tuple[str, ...]) -> None:
    kind, source = ("regex", source[6:]) if source.startswith("regex ") else ("json_schema", source)
    if kind == "json_schema":
        json.loads(source)
    try:
        found = "yes" if READERS[engine](kind, source, text.encode()) else "no"
    except (ValueError, RuntimeError):
        found = "refused"
    assert found == verdicts[ENGINES.index(engine)]


@pytest.mark.parametrize(("engine", "is_read"), list(zip(ENGINES, (False, False, True, False))))
def test_a_dot_and_a_line_feed(engine: str, is_read: bool) -> None:
    assert READERS[engine]("regex", "a.b", b"a\nb") == is_read
    assert READERS[engine]("regex", "a.b", b"axb")
    if engine == "here":
        assert read_by_here("regex", "a(?s:.)b", b"a\nb")


def test_special_tokens_in_structural_tags() -> None:
    xgrammar = peer("xgrammar")
    from xgrammar.structural_tag import ConstStringFormat, JSONSchemaFormat, StructuralTag, TagFormat

    info = xgrammar.TokenizerInfo([*TOKENS[:-1], b"<call>", b"<end>", b"</s>"], stop_token_ids=[EOS + 2])
    vocabulary = ge.Vocabulary([*TOKENS, b"", b""], eos=[EOS + 2], special={EOS: "<call>", EOS + 1: "<end>", EOS + 2: "</s>"})
    text, marked = [*b"<call>x", EOS + 1], [EOS, ord("x"), EOS + 1]
    tag = StructuralTag(format=TagFormat(begin="<call>", content=ConstStringFormat(value="x"), end="<end>"))
    theirs = xgrammar.GrammarCompiler(info).compile_structural_tag(tag)
    for ids, there, options, here in (
        (marked, True, {}, False),
        (marked, True, {"special_tokens": vocabulary.special.values()}, True),
        (text, True, {"special_tokens": vocabulary.special.values()}, False),
    ):
        one, two = xgrammar.GrammarMatcher(theirs), ge.Matcher(ge.Grammar.from_structural_tag(tag, **options), vocabulary)
        assert all(map(one.accept_token, ids)) == there and (two.accept_tokens(ids) == len(ids)) == here
    string = StructuralTag(format=JSONSchemaFormat(json_schema={"type": "string"}))
    one = xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(info).compile_structural_tag(string))
    assert all(map(one.accept_token, [ord('"'), EOS, ord('"')]))
    assert ge.Matcher(ge.Grammar.from_structural_tag(string), vocabulary).accept_tokens([ord('"'), EOS]) == 1


def test_added_tokens_that_are_text() -> None:
    vocabulary = ge.Vocabulary([*TOKENS, b"</think>"], eos=[EOS])
    for grammar in (
        ge.Grammar.from_lark("start: </think>"),
        ge.Grammar.from_structural_tag({"format": {"type": "token", "token": "</think>"}}),
        ge.Grammar.from_structural_tag({"format": {"type": "const_string", "value": "</think>"}}, special_tokens=["</think>"]),
    ):
        with pytest.raises(ge.VocabularyError, match="an ordinary text token: write it as text"):
            ge.Matcher(grammar, vocabulary)
    assert ge.Matcher(ge.Grammar.from_lark('start: "</think>"'), vocabulary).accept(EOS + 1)


def test_calls_of_outlines_core() -> None:
    outlines_core = peer("outlines_core")
    index = outlines_core.Index(PHONE, outlines_vocabulary(outlines_core))
    theirs, guide = outlines_core.Guide(index), ge.Guide(ge.TokenDFA.from_regex(PHONE, VOCABULARY))
    matcher = ge.Matcher(ge.Grammar.from_regex(PHONE), VOCABULARY)
    words = array("I", bytes(36))
    theirs.write_mask_into(words.buffer_info()[0], 9, 4)
    assert sorted(theirs.get_tokens()) == guide.get_tokens() == matcher.allowed_tokens() and words.tobytes() == matcher.mask()
    assert sorted(theirs.advance(53)) == guide.advance(53) and matcher.accept(53)
    for one in theirs, guide:
        with pytest.raises(ValueError):
            one.advance(ord("x"))
    assert not matcher.accept(ord("x"))
    assert theirs.accepts_tokens([53, 53]) and guide.accepts_tokens([53, 53]) and matcher.validate([53, 53]) == 2
    for one in theirs.rollback_state, guide.rollback_state, matcher.rollback:
        one(1)
    for token in b"555-1234":
        assert theirs.advance(token) is not None and guide.advance(token) is not None and matcher.accept(token)
    assert theirs.is_finished() and guide.is_finished() and matcher.is_complete
    assert pickle.loads(pickle.dumps(index)).get_initial_state() == index.get_initial_state()
    dfa = ge.TokenDFA.from_regex(PHONE, VOCABULARY)
    for one in index, dfa:
        state = one.get_next_state(one.get_initial_state(), 53)
        assert sorted(one.get_allowed_tokens(state)) == list(range(48, 58)) and one.get_next_state(state, 120) is None
        assert set(one.get_transitions()[state]) == set(range(48, 58)) and not one.is_final_state(state)
        assert [one.get_allowed_tokens(last) for last in one.get_final_states()] == [[EOS]]
    with pytest.raises(ValueError):
        theirs.advance(EOS)
    assert guide.advance(EOS) == [EOS] and matcher.accept(EOS)
    schema = '{"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}'
    pattern = outlines_core.json_schema.build_regex_from_schema(schema, whitespace_pattern="[ ]?")
    written = ge.Matcher(ge.Grammar.from_json_schema(schema, whitespace="[ ]?", closed=True), VOCABULARY)
    for text in '{"a":null}', '{ "a" : null }', '{"a":  null}', '{"a":\tnull}', ' {"a":null}', '{"a":null} ':
        written.reset()
        assert (written.accept_bytes(text.encode()) and written.is_complete) == (re.fullmatch(pattern, text) is not None), text


def test_calls_of_llguidance() -> None:
    llguidance, numpy = peer("llguidance"), pytest.importorskip("numpy")
    import llguidance.numpy as arrays  # llguidance.torch has the same names, and compiles itself when it is imported

    from grammar_engine.decoding import apply_mask

    tokenizer, grammar = ll_tokenizer(llguidance), llguidance.LLMatcher.grammar_from_regex(PHONE)
    theirs, matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0), ge.Matcher(ge.Grammar.from_regex(PHONE), VOCABULARY)
    mask, ours = arrays.allocate_token_bitmask(2, 257), ge.allocate_masks(2, VOCABULARY, "numpy")
    arrays.fill_next_token_bitmask(theirs, mask, 1)
    assert matcher.fill_mask(ours, 1) and numpy.array_equal(mask, ours) and theirs.compute_bitmask() == matcher.mask()
    logits, same = numpy.zeros((1, 257), numpy.float32), numpy.zeros((1, 257), numpy.float32)
    arrays.apply_token_bitmask_inplace(logits, mask[1:])
    apply_mask(same, ours[1:])
    assert numpy.array_equal(logits, same)
    assert theirs.consume_token(53) and matcher.accept(53)
    assert theirs.try_consume_tokens([53, 53, 120]) == matcher.accept_tokens([53, 53, 120]) == 2
    assert theirs.validate_tokens([45, 49, 120]) == matcher.validate([45, 49, 120]) == 2
    assert theirs.compute_ff_tokens() == matcher.forced_tokens() == [45] and theirs.compute_ff_bytes() == matcher.forced_bytes() == b"-"
    assert theirs.deep_copy().rollback(1) and matcher.fork().rollback(1) is None
    assert theirs.consume_tokens(list(b"-1234")) and matcher.accept_bytes(b"-1234")
    assert theirs.is_accepting() and matcher.is_complete and theirs.is_stopped() and not matcher.is_terminated
    assert theirs.stop_reason() == "NoExtension" and matcher.allowed_tokens() == [EOS]
    assert matcher.accept(EOS) and matcher.is_terminated
    theirs.reset()
    assert not theirs.consume_token(120) and theirs.is_error() and not theirs.consume_token(53)
    matchers = [llguidance.LLMatcher(tokenizer, grammar, log_level=0) for _ in range(2)]
    executor = llguidance.LLExecutor()
    arrays.fill_next_token_bitmask_par(executor, [(one, i) for i, one in enumerate(matchers)], mask)
    twins = [ge.Matcher(ge.Grammar.from_regex(PHONE), VOCABULARY) for _ in range(2)]
    assert ge.fill_masks(twins, ours) == [True, True] and numpy.array_equal(mask, ours)
    assert arrays.consume_token_par(executor, [(one, token) for one, token in zip(matchers, (53, 120))]) == [True, False]
    assert ge.step_masks(twins, (53, 120), ours).accepted == [True, False]
    assert llguidance.LLMatcher.validate_grammar(llguidance.LLMatcher.grammar_from_lark('start: "a'), tokenizer)
    with pytest.raises(ge.GrammarError):
        ge.Grammar.from_lark('start: "a')
    for defaults, whitespace in (
        ({"whitespace_flexible": False}, "compact"),
        ({"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}, (", ", ": ")),
        ({"whitespace_pattern": "[ ]"}, "[ ]?"),
    ):
        schema = '{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false}'
        one = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(schema, defaults=defaults), log_level=0)
        two = ge.Matcher(ge.Grammar.from_json_schema(schema, whitespace=whitespace), VOCABULARY)
        for text in b'{"a":null,"b":null}', b'{"a": null, "b": null}', b'{"a" :null}', b'{"a":  null}', b' {"a":null}':
            assert one.deep_copy().validate_tokens(list(text)) == two.validate(list(text)), text


def test_tags_of_llguidance() -> None:
    llguidance = peer("llguidance")
    schema = {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False}
    tags = [llguidance.StructTag(trigger="<f", begin=f"<f={name}>", grammar=schema, end="</f>") for name in "xy"]
    source = llguidance.StructTag.to_grammar(tags, assume_special=False)
    grammar = ge.Grammar.from_tags([ge.Tag(f"<f={name}>", schema, "</f>") for name in "xy"], triggers=["<f"])
    tokenizer = ll_tokenizer(llguidance)
    for text in b"so", b'so <f=x>{"a":null}</f> and <f=y>{}</f>', b"<f=z>", b"<f=x>{}":
        one, two = llguidance.LLMatcher(tokenizer, source, log_level=0), ge.Matcher(grammar, VOCABULARY)
        assert not one.is_error(), one.get_error()
        read = one.try_consume_tokens(list(text))
        assert read == two.accept_tokens(list(text)) and one.is_accepting() == two.is_complete, text
    assert tokenizer.greedy_tokenize("ab") == VOCABULARY.encode_greedy(b"ab")
    assert ge.Vocabulary.builtin(slices=["[a-z]+"]).slices == ("[a-z]+",) and tokenizer.with_slices(["[a-z]+"])


def test_calls_of_xgrammar() -> None:
    xgrammar, torch = peer("xgrammar"), pytest.importorskip("torch")
    from grammar_engine.decoding import apply_mask

    engine, cache = compiler(xgrammar), ge.GrammarCache()
    compiled, grammar = engine.compile_regex(PHONE), cache.from_regex(PHONE)
    theirs, matcher = xgrammar.GrammarMatcher(compiled), ge.Matcher(grammar, VOCABULARY)
    mask, ours = xgrammar.allocate_token_bitmask(2, 257), ge.allocate_masks(2, VOCABULARY, "torch")
    assert theirs.fill_next_token_bitmask(mask, 1) and matcher.fill_mask(ours, 1) and torch.equal(mask, ours)
    logits, same = torch.zeros(2, 257), torch.zeros(2, 257)
    xgrammar.apply_token_bitmask_inplace(logits, mask, indices=[1])
    apply_mask(same, ours[[1]], [1])
    assert torch.equal(logits, same)
    assert theirs.accept_token(53) and matcher.accept(53) and not theirs.accept_token(120) and not matcher.accept(120)
    assert theirs.accept_string("55") and matcher.accept_bytes(b"55")
    assert theirs.find_jump_forward_string() == "-" and matcher.forced_bytes() == b"-"
    assert theirs.rollback(1) is matcher.rollback(1) is None
    assert theirs.accept_string("55-1234") and matcher.accept_bytes(b"55-1234")
    assert theirs.is_completed() and matcher.is_complete and not theirs.is_terminated() and not matcher.is_terminated
    assert theirs.accept_token(EOS) and matcher.accept(EOS) and theirs.is_terminated() and matcher.is_terminated
    with pytest.raises(RuntimeError):
        theirs.fill_next_token_bitmask(mask)
    assert matcher.fill_mask(ours) and matcher.allowed_tokens() == [EOS] and matcher.accept(EOS)
    assert theirs.fork().is_terminated() and matcher.fork().is_terminated
    theirs.reset()
    copy = xgrammar.CompiledGrammar.deserialize_json(compiled.serialize_json(), compiled.tokenizer_info)
    assert xgrammar.GrammarMatcher(copy).accept_string("555")
    assert ge.Matcher(ge.Grammar.from_bytes(grammar.to_bytes()), VOCABULARY).accept_bytes(b"555")
    pair, twins = [xgrammar.GrammarMatcher(compiled) for _ in range(2)], [ge.Matcher(grammar, VOCABULARY) for _ in range(2)]
    xgrammar.BatchGrammarMatcher(max_threads=1).batch_fill_next_token_bitmask(pair, mask)
    assert ge.fill_masks(twins, ours) == [True, True] and torch.equal(mask, ours)
    assert xgrammar.BatchGrammarMatcher.batch_accept_token(pair, [53, 120]) == [True, False]
    assert ge.step_masks(twins, [53, 120], ours).accepted == [True, False]
    ended = xgrammar.GrammarMatcher(compiled, override_stop_tokens=[10])
    assert ended.accept_string("555-1234") and ended.accept_token(10) and ended.is_terminated()
    alone = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=True)
    assert alone.accept_string("555-1234") and alone.is_terminated()
    null, regex = '{"type": "null"}', xgrammar.Grammar.from_regex("a+")
    formats = [{"type": "regex", "pattern": "a+"}, {"type": "json_schema", "json_schema": json.loads(null)}]
    for name, kind in ("union", "or"), ("concat", "sequence"):
        joined = engine.compile_grammar(getattr(xgrammar.Grammar, name)(regex, xgrammar.Grammar.from_json_schema(null)))
        both = cache.from_structural_tag({"format": {"type": kind, "elements": formats}})
        for text in b"aa", b"null", b"aanull", b"nullaa":
            one, two = xgrammar.GrammarMatcher(joined), ge.Matcher(both, VOCABULARY)
            assert (one.accept_string(text) and one.is_completed()) == (two.accept_bytes(text) and two.is_complete)
    free, any_json = engine.compile_builtin_json_grammar(), cache.from_json_schema({"type": ["object", "array"]})
    for text in b"5", b"{}", b'[1, {"a": [null, "b", 1e5]}]', b'{"a":1,"a":2}', b"[1":
        one, two = xgrammar.GrammarMatcher(free), ge.Matcher(any_json, VOCABULARY)
        assert (one.accept_string(text) and one.is_completed()) == (two.accept_bytes(text) and two.is_complete)
    assert free.memory_size_bytes and engine.get_cache_size_bytes() and any_json.stats.bytes and cache.stats.bytes
    for one in engine.clear_cache, cache.clear:
        one()
    schema = '{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false}'
    for settings, options in (
        ({"any_whitespace": False}, {"whitespace": (", ", ": ")}),
        ({"any_whitespace": False, "separators": (",", ":")}, {"whitespace": "compact"}),
        ({"any_order": True}, {"property_order": "any"}),
    ):
        for text in b'{"a":null,"b":null}', b'{"a": null, "b": null}', b'{"b":null,"a":null}':
            one = xgrammar.GrammarMatcher(engine.compile_json_schema(schema, **settings))
            assert one.accept_string(text) == ge.Matcher(ge.Grammar.from_json_schema(schema, **options), VOCABULARY).accept_bytes(text)


def test_gbnf_by_way_of_llguidance() -> None:
    peer("llguidance")
    from llguidance.gbnf_to_lark import gbnf_to_lark

    text = gbnf_to_lark('root ::= "[" (v ("," ws v)*)? "]"\nv ::= [0-9]+ | "\\"" [^"\\\\]* "\\""\nws ::= [ \\t\\n]{0,3} # comment\n')
    assert text.startswith("%llguidance {}\n")
    grammar = ge.Grammar.from_lark(re.sub(r"\{(\d+),(\d+)\}", r"~\1..\2", text))
    assert ge.Matcher(grammar, VOCABULARY).accept_bytes(b'[12, "a"]') and not ge.Matcher(grammar, VOCABULARY).accept_bytes(b"[,")


SPECIAL = ["<think>", "</think>", "</s>"]  # behind the bytes
CALL = '"t" %json {"type": "array", "items": {"const": 1}, "maxItems": 2} "u"'
IDS = {"T": EOS, "U": EOS + 1}


class _WithSpecial(_Bytes):
    tokens = [*TOKENS[:-1], *(b"\xff" + name.encode() for name in SPECIAL)]
    special_token_ids = [EOS, EOS + 1, EOS + 2]
    eos_token_id = EOS + 2


@pytest.mark.parametrize(
    ("grammar", "text", "there", "here"),
    [
        ("start: <think> /[a-z<>]*/ </think>", "T<think>U", True, True),
        ("start: <think> /[a-z<>]*/ </think>", "<think>U", False, False),
        (f"start: <[{EOS}]>", "T", True, True),
        (f"start: <[{EOS}-{EOS + 1}]>", "U", True, True),
        ("start: <[97]>", "a", True, ge.VocabularyError),
        ("start: <[*]>", "a", True, ge.GrammarSyntaxError),
        (f"start: <[^{EOS}]>", "a", True, ge.GrammarSyntaxError),
        (f"start: {CALL}", "t[1, 1]u", True, True),
        (f"start: {CALL}", "t[1, 1, 1]u", False, False),
        (f'start: {CALL}\n%ignore "_"', "t[1, 1]_u", True, True),
        (f'start: {CALL}\n%ignore "_"', "t_[1, 1]u", False, True),
        (f'start: {CALL}\n%ignore "_"', "t[1,_1]u", False, False),
        ('start: "a"\n%ignore "_"', "_a", False, True),
        ('start: %lark {\n start: "a"\n}', "a", True, ge.GrammarSyntaxError),
        ('start: %regex {"substring_words": "a b"}', "a", True, ge.GrammarSyntaxError),
        ('%llguidance {}\nstart: "a"', "a", True, True),
        ('%llguidance {"no_forcing": true}\n%llguidance {"allow_initial_skip": true}\nstart: "a"\n%ignore "_"', "_a", True, True),
        ('%llguidance {"allow_invalid_utf8": true}\nstart: "a"', "a", True, ge.GrammarSyntaxError),
        ('start: p::0x0\np::_: "" %if is_ones([0:1]) | "a" p::set_bit(0) %if bit_clear(0)', "a", True, ge.GrammarSyntaxError),
        (r'start: "\/"', "/", True, False),
        (r'start: "\/"', r"\/", False, True),
        (r'start: "\b"', "\b", True, False),
        (r'start: "\b"', r"\b", False, True),
        (r'start: "\ud83d\ude00"', "\xf0\x9f\x98\x80", True, True),  # the bytes of the character
        (r"start: /\p{L}\P{L}\pN/", "a-1", True, True),
        (r"start: /(?i)\p{Lu}[\p{Lu}]/", "aA", True, True),
        (r"start: /(?i)\P{Lu}/", "a", False, False),
        (r"start: /(?i)\P{Lu}/", "A", False, False),
        (r"start: /(?i)[^\P{Lu}]/", "a", True, True),
        (r"start: /(?<name>\u{61})/", "a", True, True),
        ("start: /[a-z&&[^x]]/", "c", True, False),
        ("start: /[a-z&&[^x]]/", "c]", False, True),
        ("start: x\nx[lazy]: /[ab]*b/", "ab", True, True),
        ("start: x\nx[lazy]: /[ab]*b/", "abab", False, False),
        ('start: x\nx[suffix="b"]: /[ab]*/', "ab", True, True),
        ('start: x\nx[suffix="b"]: /[ab]*/', "abab", False, False),
        ('start: x "a"\nx[suffix=/b+/]: /[ab]*/', "aba", True, True),
        ('start: x "b"\nx[stop="b"]: /a*/', "ab", True, ge.GrammarSyntaxError),
        ("start: x\nx[max_tokens=2]: /a*/", "a", True, ge.GrammarSyntaxError),
        ("start: x\nx[capture]: /a*/", "a", True, ge.GrammarSyntaxError),
        ('start: "a"{2,3}', "aa", True, ge.GrammarSyntaxError),
        ('start: a-b\na-b: "a"', "a", True, ge.GrammarSyntaxError),
        ("start: A\nA: /a+/ & ~/aa/", "a", True, True),
        ("start: A\nA: /a+/ & ~/aa/", "aa", False, False),
        ('start: A\nA: "b" | /[ab]/ & ~"a"~2 /b?/', "b", True, True),
        ('start: A "b"\nA: ("a" | "b" & ~"b")', "bb", False, False),
        ('start: "a" & "a"', "a", False, ge.GrammarSyntaxError),
    ],
)
def test_what_llguidance_adds_to_lark(grammar: str, text: str, there: bool, here: bool | type[Exception]) -> None:
    ids = [IDS.get(letter, ord(letter)) for letter in text]
    llguidance = peer("llguidance")
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer(llguidance.TokenizerWrapper(_WithSpecial())), grammar)
    assert (matcher.try_consume_tokens(ids) == len(ids) and matcher.is_accepting()) == there
    vocabulary = ge.Vocabulary([*TOKENS, b"", b""], eos=[EOS + 2], special=dict(enumerate(SPECIAL, EOS)))
    if not isinstance(here, bool):
        with pytest.raises(here):
            ge.Matcher(ge.Grammar.from_lark(grammar), vocabulary)
        return
    ours = ge.Matcher(ge.Grammar.from_lark(grammar), vocabulary)
    assert (ours.accept_tokens(ids) == len(ids) and ours.is_complete) == here
