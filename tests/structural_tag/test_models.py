"""The structural tags that XGrammar makes for models, over a tokenizer that has their marks as special tokens.

XGrammar takes special tokens for text. So the same is asked of it with one private character for each of them, which no free text and no
string of a schema has: then both say the same of each text, right or wrong. Where a `style` writes special tokens it is asked as it is.
"""

from __future__ import annotations

import json
import random
from importlib.metadata import version
from itertools import product
from typing import Any

import pytest

from grammar_engine import Grammar, Matcher, Vocabulary

xgrammar = pytest.importorskip("xgrammar")
tokenizers = pytest.importorskip("tokenizers")
if version("xgrammar") != "0.2.8":
    pytest.skip("the tags are those of xgrammar 0.2.8", allow_module_level=True)

Format = dict[str, Any]
THINKING = ["<think>", "</think>"]
CALLS = ["<tool_call>", "</tool_call>"]
DEEPSEEK = [f"<\uff5ctool\u2581{name}\uff5c>" for name in ("calls\u2581begin", "calls\u2581end", "call\u2581begin", "call\u2581end", "sep")]
KIMI = [f"<|tool_{name}|>" for name in ("calls_section_begin", "calls_section_end", "call_begin", "call_argument_begin", "call_end")]
HARMONY = [f"<|{name}|>" for name in ("channel", "message", "constrain", "call", "end", "return", "start")]
SPECIAL = {
    "llama": [],
    "kimi": KIMI,
    "kimi_k3": ["<|open|>", "<|close|>", "<|sep|>"],
    "deepseek_r1": DEEPSEEK,
    "deepseek_v3_1": [*DEEPSEEK, *THINKING],
    "qwen_3": [*CALLS, *THINKING],
    "qwen_3_5": CALLS,
    "qwen_3_coder": CALLS,
    "mimo": CALLS,
    "exaone": CALLS,
    "harmony": HARMONY,
    "minimax": ["<minimax:tool_call>", "</minimax:tool_call>"],
    "minimax_m3": [],
    "glm_4_7": [*CALLS, *THINKING],
    "deepseek_v3_2": [],
    "deepseek_v4": [],
    "deepseek_v4_1": [],
    "cohere": ["<|START_THINKING|>", "<|END_THINKING|>"],
}  # of those that a model has, some as special tokens and some as text, so that both are seen
IN_STYLES = ("kimi_k3",)  # models of which a style writes special tokens
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key], "additionalProperties": False},
        },
    }
    for name, key in (("get_weather", "city"), ("search", "query"))
]
FORCED = {"type": "function", "function": {"name": "search"}}
OPTIONS = list(product(["auto", "required", FORCED, "none"], ["enabled", "disabled", "auto"], [True, False]))


def tokenizer_of(special: list[str]) -> Any:
    """A fast tokenizer of bytes, with added tokens: special ones, and the thinking as text."""
    signs = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={sign: i for i, sign in enumerate(signs)}, merges=[]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens([tokenizers.AddedToken(name, special=True, normalized=False) for name in [*special, "<|end_of_text|>"]])
    text = [name for name in THINKING if name not in special]
    tokenizer.add_tokens([tokenizers.AddedToken(name, special=False, normalized=False) for name in text])
    return tokenizer


def arguments(rng: random.Random, shape: Format) -> str:
    """What the schema of a tool is met by."""
    key, value = shape["json_schema"]["required"][0], rng.choice(["Oslo", "a b", ""])
    if shape["style"].startswith("deepseek"):
        tag = f"\uff5cDSML\uff5c{' ' * ('v4_1' in shape['style'])}parameter"
        return f'<{tag} name="{key}" string="true">{value}</{tag}>'
    return {
        "json": json.dumps({key: value}),
        "kimi_k3_xml": f'<|open|>argument key="{key}" type="string"<|sep|>{value}<|close|>argument<|sep|>',
        "cohere_xml": f'<cofl:value name="{key}" type="raw">{value}</cofl:value>',
        "minimax_m3_xml": f"]<]minimax[>[<{key}>{value}]<]minimax[>[</{key}>",
        "qwen_xml": f"<parameter={key}>{value}</parameter>",
        "minimax_xml": f'<parameter name="{key}">{value}</parameter>',
        "glm_xml": f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    }[shape["style"]]


def written(rng: random.Random, shape: Format) -> str:
    """A text that a format reads."""
    kind = shape["type"]
    if kind == "json_schema":
        return arguments(rng, shape)
    if kind in ("const_string", "regex", "any_text"):
        return shape["value"] if kind == "const_string" else str(rng.randint(0, 20)) if kind == "regex" else rng.choice(["", "hm", "ok ?"])
    if kind == "or":
        return written(rng, rng.choice(shape["elements"]))
    if kind == "sequence":
        return "".join(written(rng, element) for element in shape["elements"])
    if kind == "optional":
        return rng.choice(["", written(rng, shape["content"])])
    if kind == "tag":
        end = rng.choice(shape["end"]) if isinstance(shape["end"], list) else shape["end"]
        return shape["begin"] + written(rng, shape["content"]) + end
    n = rng.randint(int(shape["at_least_one"]), 1 if shape["stop_after_first"] else 3)
    tags = [written(rng, rng.choice(shape["tags"])) for _ in range(n)]
    if kind == "tags_with_separator":
        return shape["separator"].join(tags)
    before, behind = "" if shape["at_least_one"] else "hm", "" if shape["stop_after_first"] and n else "bye"
    return before + rng.choice(["", "x"] if n > 1 else [""]).join(tags) + behind


def in_private_characters(value: Any, signs: dict[str, str]) -> Any:
    """A format with one character for each special token, and none of these in free text but as a trigger."""

    def text(mark: str) -> str:
        for name in sorted(signs, key=len, reverse=True):
            mark = mark.replace(name, signs[name])
        return mark

    if isinstance(value, list):
        return [in_private_characters(inner, signs) for inner in value]
    shape = {
        name: in_private_characters(inner, signs) if name in ("elements", "tags", "content") else inner for name, inner in value.items()
    }
    for name in {"begin", "value", "separator", "end"} & set(shape):
        shape[name] = [text(end) for end in shape[name]] if isinstance(shape[name], list) else text(shape[name])
    own = set(signs.values())
    if shape["type"] == "triggered_tags":
        triggers = [text(trigger) for trigger in shape["triggers"]]
        shape["triggers"] = [trigger[0] if trigger[0] in own else trigger for trigger in triggers]
    if shape["type"] in ("triggered_tags", "any_text", "json_schema") and shape.get("style") not in ("cohere_xml", "minimax_m3_xml"):
        shape["excludes"] = sorted(({*map(text, shape["excludes"])} | own) - {*shape.get("triggers", [])})
    return shape


def changed(rng: random.Random, tokens: list[int], vocabulary: Vocabulary, special: list[int], has_letters: bool) -> list[int]:
    """Tokens of which one is left out, written twice (no white space, of which JSON has any here), another special one, or in letters."""
    marks = [at for at, token in enumerate(tokens) if token in special]
    at = rng.choice(marks) if marks and rng.random() < 0.6 else rng.randrange(len(tokens))
    letters = [vocabulary.tokens.index(bytes([byte])) for byte in vocabulary.special.get(tokens[at], "").encode()]
    new = rng.choice(
        [[], [tokens[at]] * (1 if vocabulary.token_bytes(tokens[at]).isspace() else 2), [rng.choice(special)], letters or [tokens[at]]][
            : None if has_letters else -1
        ]
    )
    return tokens[:at] + new + tokens[at + 1 :]


@pytest.mark.parametrize("model", sorted(SPECIAL))
def test_tags_of_models(model: str) -> None:
    tokenizer = tokenizer_of(SPECIAL[model])
    vocabulary = Vocabulary.from_tokenizers(tokenizer, eos=["<|end_of_text|>"])
    assert sorted(vocabulary.special.values()) == sorted([*SPECIAL[model], "<|end_of_text|>"])
    signs = {name: name if model in IN_STYLES else chr(0xE000 + i) for i, name in enumerate(SPECIAL[model])}
    special = [token for token, name in vocabulary.special.items() if name in signs]
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)]))
    rng, n_read, n_refused, n_tags = random.Random(model), 0, 0, 0
    for choice, reasoning, parallel in OPTIONS:
        tag = xgrammar.get_model_structural_tag(model, TOOLS, tool_choice=choice, reasoning=reasoning, parallel_tool_calls=parallel)
        grammar = Grammar.from_structural_tag(tag, special_tokens=vocabulary.special.values())
        n_tags += 1
        shape = tag.model_dump()["format"]
        there = compiler.compile_structural_tag(json.dumps({"type": "structural_tag", "format": in_private_characters(shape, signs)}))
        for _ in range(4):
            right = tokenizer.encode(written(rng, shape), add_special_tokens=False).ids
            for tokens in (
                right,
                *(changed(rng, right, vocabulary, special or [0], model not in IN_STYLES) for _ in range(4 if right else 0)),
            ):
                matcher, theirs = Matcher(grammar, vocabulary), xgrammar.GrammarMatcher(there)
                is_read = matcher.accept_tokens(tokens) == len(tokens) and matcher.is_complete
                spelt = b"".join(vocabulary.token_bytes(token) or signs[vocabulary.special[token]].encode() for token in tokens)
                is_text = spelt.decode(errors="ignore").encode() == spelt  # theirs takes parts of characters for text
                expected = is_text and (not spelt or theirs.accept_string(spelt)) and theirs.is_completed()
                assert is_read == expected, (choice, reasoning, parallel, spelt)
                assert is_read or tokens != right
                n_read, n_refused = n_read + is_read, n_refused + (not is_read)
    assert n_tags == len(OPTIONS) and n_read > 4 * n_tags and n_refused > n_tags
    assert "<|end_of_text|>" not in tokenizer.decode(right)


def test_a_special_token_within_words_of_marks() -> None:
    name = "\uff5cDSML\uff5c"
    tokenizer = tokenizer_of([name])
    vocabulary = Vocabulary.from_tokenizers(tokenizer, eos=["<|end_of_text|>"])
    tag = xgrammar.get_model_structural_tag("deepseek_v4", TOOLS, reasoning=False)
    grammar = Grammar.from_structural_tag(tag, special_tokens=vocabulary.special.values())
    text = (
        f'<{name}tool_calls>\n<{name}invoke name="search">\n<{name}parameter name="query" string="true">{{}}</{name}parameter>\n'
        f"</{name}invoke>\n</{name}tool_calls>"
    )
    tokens = tokenizer.encode("Well.\n\n" + text, add_special_tokens=False).ids
    n_special = sum(token in vocabulary.special for token in tokens)
    assert n_special == 6
    for changed in range(-1, n_special):
        at = [at for at, token in enumerate(tokens) if token in vocabulary.special][changed]
        letters = [vocabulary.tokens.index(bytes([byte])) for byte in name.encode()]
        written = tokens if changed < 0 else [*tokens[:at], *letters, *tokens[at + 1 :]]
        matcher = Matcher(grammar, vocabulary)
        assert (matcher.accept_tokens(written) == len(written) and matcher.is_complete) == (changed < 0), changed
