"""The command line: `grammar-engine generate | check | mask | report | info`, also `python -m grammar_engine`.

Each command takes a grammar from exactly one of --schema, --regex, --lark, --gbnf, --structural-tag, --choices, and does one thing that the
library does; the text for people and the JSON for machines (--json, one object a line) say the same. Results go to stdout, complaints to
stderr. Here are the commands and what they print; the options that stand for arguments of the library are in `cli_options`, with its
messages in their words. `EXIT_CODES` tells how it ends.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .checks import check_ends
from .cli_options import (
    SCHEMA_OPTIONS,
    add_grammar,
    add_vocabulary,
    file_of,
    grammar_of,
    has_schemas,
    in_words,
    natural,
    option_of,
    place_of,
    read_bytes,
    read_source,
    report_of,
    seed,
    temperature,
    vocabulary_of,
)
from .errors import GrammarEngineError, GrammarError, LimitExceededError, visible
from .explanation import alternatives, ranges_of
from .limits import Limits
from .progress import progress
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    from .decoding import Generation
    from .grammar import Grammar
    from .matcher import Matcher

OK, REFUSED, BAD_INPUT, LIMIT, INTERRUPTED, UNREAD = 0, 1, 2, 3, 130, 141

_LESSONS = 2000  # texts that a tiny decoder learns from before it writes
_WITHOUT_NAMES = ("regex",), ("choice",)  # expected, but nobody sees from that what might come
# Before a model writes: in this time most states of a usual schema are found; and for texts by a stub, as all code is slow at first.
_WARM_SECONDS = 0.25

EXIT_CODES = """\
exit codes:
  0    done, and every text was valid
  1    a text was refused
  2    bad usage, an unreadable file, a bad grammar or vocabulary
  3    a limit was reached
  130  interrupted
  141  whoever read the output has closed it; `generate`: 0
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        The exit code.
    """
    options = _parse(arguments)
    if sys.stdout is None:
        return _complain(options, OSError("the standard output is closed"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        # JSON is UTF-8, whatever the locale. A lone surrogate, as in names of files, is escaped, as JSON has it.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = _run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:  # the output cannot be written: nor can what is left of it when the program ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            return _complain(options, error)  # what it writes to the output is lost
        return OK if options.run is _generate else UNREAD  # the reader has seen enough, as in `... | head`
    return code


def _run(options: argparse.Namespace) -> int:
    try:
        code: int = options.run(options)
    except BrokenPipeError:
        raise
    except (GrammarEngineError, OSError) as error:
        return _complain(options, error)
    return code


def _complain(options: argparse.Namespace, error: Exception) -> int:
    message = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else in_words(str(error))
    if isinstance(error, GrammarError) and (name := file_of(options)):
        message = f"{'standard input' if name == '-' else name}: {message}"
    _tell(f"grammar-engine: {message}")
    if options.json:
        _emit({"error": message, "type": type(error).__name__, **place_of(error)})
    return LIMIT if isinstance(error, LimitExceededError) else BAD_INPUT


# --- commands -------------------------------------------------------------------------------------------------------


def _generate(options: argparse.Namespace) -> int:
    from .matcher import Matcher
    from .sampling import Sampler

    if options.model is not None:
        return _generate_with_model(options)
    (grammar, told), vocabulary = _grammar(options, read_source(options), whitespace="compact"), vocabulary_of(options)
    check_ends(vocabulary)
    matcher = Matcher(grammar, vocabulary)
    sampler = Sampler(vocabulary, random.Random(options.seed))
    for index in progress(range(options.count)):
        text = sampler.write(matcher, options.length).decode("utf-8", "backslashreplace")
        if options.json:
            _emit({"index": index, "text": text, **told})
        else:
            print(text)
    return OK


def _generate_with_model(options: argparse.Namespace) -> int:
    try:
        from .decoding import Sampling, stream
        from .decoding.tiny.data import WHITESPACE
        from .matcher import Matcher

        sampling = Sampling(temperature=options.temperature)
        begun = time.perf_counter()
        source = read_source(options)
        grammar, told = _grammar(options, source, whitespace="compact" if options.model == "stub" else WHITESPACE)
        seconds_grammar = time.perf_counter() - begun
        model, vocabulary, encode = _model(options)
        check_ends(vocabulary)
        prompt = encode(_prompt(options, source)) or list(vocabulary.eos[:1])
        begun = time.perf_counter()
        n_masks = _warm(grammar, vocabulary, options.max_tokens)
        seconds_warm = time.perf_counter() - begun
        n_tokens, seconds, seconds_masks = 0, 0.0, 0.0
        matcher = Matcher(grammar, vocabulary)
        for index in range(options.count):
            seed = None if options.seed is None else options.seed + index
            begun = time.perf_counter()
            matcher.reset()
            seconds_masks += time.perf_counter() - begun
            run = stream(model, prompt, matcher, sampling=sampling, max_new_tokens=options.max_tokens, seed=seed)
            for _ in zip(progress(range(options.max_tokens)), run):
                pass
            done = run.generation
            n_tokens, seconds, seconds_masks = n_tokens + len(done.tokens), seconds + done.seconds, seconds_masks + done.seconds_masks
            _show(options, index, done, told)
    except (ValueError, ModuleNotFoundError) as error:  # a budget that is too small, a file that holds no model; numpy or torch is missing
        return _complain(options, error)
    if not options.json:
        share = seconds_masks / seconds
        compiled = f"loaded and compiled in {seconds_grammar * 1e3:,.0f} ms"
        before = f"{compiled}, {n_masks:,} masks made in {seconds_warm * 1e3:,.0f} ms before the first text"
        print(f"grammar: {before}", file=sys.stderr)
        print(f"{n_tokens:,} tokens, {n_tokens / seconds:,.0f} per second; {share:.1%} of the time was spent on masks", file=sys.stderr)
    return OK


def _show(options: argparse.Namespace, index: int, done: Generation, told: dict[str, Any]) -> None:
    """Print a text that a model has written; with --json its figures, too."""
    text = done.text.decode("utf-8", "backslashreplace")
    if options.json:
        figures = {"tokens_per_second": round(done.tokens_per_second, 1), "mask_share": round(done.seconds_masks / done.seconds, 4)}
        counts = {"tokens": len(done.tokens), "forced": done.forced, "passes": done.passes}
        _emit({"index": index, "text": text, **counts, **figures, **told})
    else:
        print(text)


def _warm(grammar: Grammar, vocabulary: Vocabulary, max_tokens: int) -> int:
    """What a server does before the first request; returns the number of masks.
    A limit that is reached here is met again where a text needs what it forbids.
    """
    from .decoding import stream
    from .decoding.models import NoiseModel

    before = grammar.stats.mask_builds
    with suppress(LimitExceededError):
        grammar.warm(vocabulary, seconds=_WARM_SECONDS)
        until = time.perf_counter() + _WARM_SECONDS
        for seed in count():
            steps = stream(
                NoiseModel(vocabulary.width, seed=seed), vocabulary.eos[:1], grammar, vocabulary, max_new_tokens=max_tokens, seed=seed
            )
            if any(time.perf_counter() > until for _ in steps):
                break
    return grammar.stats.mask_builds - before


def _model(options: argparse.Namespace) -> tuple[object, Vocabulary, Callable[[bytes], list[int]]]:
    """The model that is named, its vocabulary, and how its prompts are encoded."""
    if not options.model:
        raise ValueError("--model: the name is empty")
    if _is_pretrained(options):
        if options.vocabulary is not None:
            raise ValueError("--vocabulary: the model in a folder has its own")
        return _pretrained(options.model)
    if options.model == "stub":
        from .decoding.models import NoiseModel

        vocabulary = vocabulary_of(options)
        return NoiseModel(vocabulary.width, seed=options.seed or 0), vocabulary, vocabulary.encode_greedy
    from .decoding.tiny.data import tiny_vocabulary

    vocabulary = tiny_vocabulary() if options.vocabulary is None else vocabulary_of(options)
    if options.model != "tiny":
        from .decoding.tiny.model import load

        return load(options.model, vocabulary), vocabulary, vocabulary.encode_greedy
    return _trained(vocabulary, options.train_seconds), vocabulary, vocabulary.encode_greedy


def _is_pretrained(options: argparse.Namespace) -> bool:
    """Whether the model is a folder, as `transformers` saves them."""
    return options.model not in ("tiny", "stub") and Path(options.model).is_dir()


def _pretrained(folder: str) -> tuple[object, Vocabulary, Callable[[bytes], list[int]]]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    def load(kind: str, loader: Any) -> Any:
        try:
            return loader.from_pretrained(folder)
        except Exception as error:  # any: they raise whatever their readers run into, and seldom name the folder
            raise ValueError(f"{folder}: in this folder is no {kind} that transformers can load: {error}") from None

    tokenizer, model = load("tokenizer", AutoTokenizer), load("model", AutoModelForCausalLM)

    def encode(prompt: bytes) -> list[int]:
        return list(tokenizer(prompt.decode(errors="replace"))["input_ids"])

    return model.eval(), Vocabulary.from_transformers(tokenizer, width=model.config.get_text_config().vocab_size), encode


def _trained(vocabulary: Vocabulary, seconds: int) -> object:
    """A tiny decoder that has learnt for some seconds: what it writes is poor, but it is no noise."""
    import torch

    from .decoding.tiny.data import examples
    from .decoding.tiny.model import TinyDecoder
    from .decoding.tiny.train import train

    torch.manual_seed(0)
    model = TinyDecoder(vocabulary.width + 1)
    texts = [ids for example in examples(vocabulary, _LESSONS, seed=1) if len(ids := example.ids(vocabulary)) <= model.max_length]
    begin, bar, second = time.monotonic(), progress(range(seconds)), 0

    def done(_: int) -> float:
        nonlocal second
        elapsed = time.monotonic() - begin
        while second <= min(elapsed, seconds):
            second += 1
            next(bar, None)  # None at the end, where the bar goes away
        return elapsed / seconds

    train(model, texts, done)
    return model


def _prompt(options: argparse.Namespace, source: str) -> bytes:
    """What the model goes on from: by default, for a tiny decoder,
    the outline of the schema that it was trained with; for others, the schema.
    """
    if options.prompt is not None:
        return os.fsencode(options.prompt)
    if options.model == "stub" or options.schema is None:
        return b""
    if _is_pretrained(options):
        return source.encode() + b"\n"
    from .decoding.tiny.data import prompt_of

    return prompt_of(json.loads(source))


def _check(options: argparse.Namespace) -> int:
    from .matcher import Matcher

    source = read_source(options)
    (grammar, told), vocabulary = _grammar(options, source), vocabulary_of(options)
    matcher = Matcher(grammar, vocabulary)
    freer = cache(lambda: _freer(options, source, vocabulary))  # made where a text is refused
    code = OK
    for name in progress(options.texts):
        text = read_bytes(name)
        fault = _fault(matcher, text)
        if fault is not None:
            code = REFUSED
            with suppress(GrammarEngineError):
                if (other := freer()) is not None and _fault(other, text) is None:
                    fault["message"] += "; with --any-spelling it is valid"
        if options.json:
            _emit({"file": name, "valid": fault is None, **({} if fault is None else fault), **told})
        elif fault is None:
            print(f"{name}: valid")
        else:
            print(f"{name}:{fault['line']}:{fault['column']}: {fault['message']}\n{fault['snippet']}")
    return code


def _freer(options: argparse.Namespace, source: str, vocabulary: Vocabulary) -> Matcher | None:
    """A matcher of the same grammar with --any-spelling, unless that is the one at hand or cannot be made."""
    from .matcher import Matcher

    if options.any_spelling or not has_schemas(options, source):
        return None
    with suppress(GrammarEngineError):
        return Matcher(grammar_of(options, source, any_spelling=True), vocabulary)
    return None


def _mask(options: argparse.Namespace) -> int:
    from .matcher import Matcher

    (grammar, told), vocabulary = _grammar(options, read_source(options)), vocabulary_of(options)
    matcher = Matcher(grammar, vocabulary)
    text = options.text.encode("utf-8", "surrogateescape")
    if not matcher.accept_bytes(text):
        fault = _refusal(matcher, text)
        if options.json:
            _emit({"valid": False, **fault, **told})
        else:
            print(f"{fault['line']}:{fault['column']}: {fault['message']}\n{fault['snippet']}")
        return REFUSED
    allowed = matcher.allowed_tokens()
    shown = sorted(random.Random(options.seed).sample(allowed, min(options.sample, len(allowed))))
    if options.json:
        sample = [
            {"id": token, "text": _readable(vocabulary.token_bytes(token)), "eos": token in matcher.eos and matcher.is_complete}
            for token in shown
        ]
        forced = _readable(matcher.forced_bytes())
        counts = {"allowed": len(allowed), "size": vocabulary.size}
        _emit({**counts, "complete": matcher.is_complete, "forced": forced, "sample": sample, **told})
        return OK
    print(f"{len(allowed):,} of {vocabulary.size:,} tokens are allowed; the text may {'' if matcher.is_complete else 'not '}end here")
    if matcher.forced_bytes():
        print(f"what must come next: {_readable(matcher.forced_bytes())}")
    for token in shown:
        spelling = vocabulary.token_bytes(token)
        print(f"{token:>8}  {repr(_readable(spelling)) if spelling else vocabulary.special.get(token, '(end of text)')}")
    return OK


def _report(options: argparse.Namespace) -> int:
    report = report_of(grammar_of(options, read_source(options)))
    if options.json:
        _emit({field.name: [entry._asdict() for entry in getattr(report, field.name)] for field in fields(report)})
    else:
        print(visible(str(report)))
    return OK


def _info(options: argparse.Namespace) -> int:
    from importlib.metadata import version

    from . import _core, _native

    facts: dict[str, Any] = {
        "grammar-engine": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cffi": version("cffi"),
        "lark": version("lark"),
        "core": _native.version(),
        "core_file": str(_core.__file__),
        "build": _native.build(),
        "builtin_vocabulary": len(Vocabulary.builtin()),
        "limits": asdict(Limits()),
    }
    if options.json:
        _emit(facts)
        return OK
    for name, value in facts.items():
        if isinstance(value, dict):
            print(f"{name}:")
            for inner, number in value.items():
                print(f"  {inner:<26}{number:>16,}")
        else:
            print(f"{name:<20}{value}")
    return OK


# --- what refuses a text --------------------------------------------------------------------------------------------


def _fault(matcher: Matcher, text: bytes) -> dict[str, Any] | None:
    """None if `text` is a sentence, with or without the line end that editors put last; else where and why not."""
    for candidate in dict.fromkeys((text, text.removesuffix(b"\n"), text.removesuffix(b"\r\n"))):
        matcher.reset()
        if matcher.accept_bytes(candidate) and matcher.is_complete:
            return None
    matcher.reset()
    if matcher.accept_bytes(text):
        return _place(text, len(text), "the text ends too early", ())
    return _refusal(matcher, text)


def _refusal(matcher: Matcher, text: bytes) -> dict[str, Any]:
    """Where and why `text`, of which a part is refused by the matcher, is refused."""
    explanation = matcher.explain(text)
    message = f"{_standing(text, explanation.position)} is refused"
    if explanation.expected:
        message += f", expected {alternatives(explanation.expected)}"
    if explanation.expected in _WITHOUT_NAMES:
        message += f" (next {ranges_of(explanation.expected_bytes)})"
    return _place(text, explanation.position, message, explanation.expected)


def _standing(text: bytes, offset: int) -> str:
    """The character of which a byte is a part, or that byte where it is in none."""
    begin = offset
    while begin > max(offset - 3, 0) and text[begin] & 0xC0 == 0x80:
        begin -= 1
    for end in range(offset + 1, begin + 5):
        with suppress(UnicodeDecodeError):
            return repr(text[begin:end].decode())
    return repr(text[offset : offset + 1])[1:]


def _place(text: bytes, offset: int, message: str, expected: tuple[str, ...]) -> dict[str, Any]:
    line_begin = text.rfind(b"\n", 0, offset) + 1
    line_end = text.find(b"\n", offset)
    before = text[line_begin:offset].decode("utf-8", "replace")
    after = text[offset : len(text) if line_end < 0 else line_end].decode("utf-8", "replace")
    left = before[-50:].replace("\t", " ")
    return {
        "message": message,
        "offset": offset,
        "line": text.count(b"\n", 0, offset) + 1,
        "column": len(before) + 1,
        "expected": list(expected),
        "snippet": f"{visible(left + after[:30])}\n{' ' * len(left)}^",
    }


# --- inputs and outputs ---------------------------------------------------------------------------------------------


def _grammar(options: argparse.Namespace, source: str, whitespace: str | tuple[str, str] = "flexible") -> tuple[Grammar, dict[str, Any]]:
    """The grammar, after what it relaxes was told; and what every record says of that."""
    grammar = grammar_of(options, source, whitespace, any_spelling=getattr(options, "any_spelling", False))
    relaxed = report_of(grammar).relaxed
    for entry in relaxed:
        _tell(f"relaxed: {entry.pointer or '(root)'} {entry.keyword}: {entry.detail}")
    return grammar, {"relaxed": [entry._asdict() for entry in relaxed]} if options.lenient else {}


def _tell(line: str) -> None:
    if sys.stderr is not None:  # else it would be printed to the output
        print(visible(line), file=sys.stderr)


def _readable(spelling: bytes) -> str:
    return spelling.decode("utf-8", "backslashreplace")


def _emit(record: dict[str, Any]) -> None:
    print(json.dumps(record, ensure_ascii=False))


# --- arguments ------------------------------------------------------------------------------------------------------


_DEFAULTS = {"length": 120, "max_tokens": 256, "temperature": 1.0, "train_seconds": 30, "lenient": False, "any_spelling": False}


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, all of which do something: one that would not is bad usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    given = vars(options)
    model = given.get("model")
    uses = (
        ("a Lark or GBNF grammar", given.get("lark") is not None or given.get("gbnf") is not None, ("start",)),
        ("a Lark grammar", given.get("lark") is not None, ("lexing",)),
        ("a regular expression", given.get("regex") is not None, ("dialect",)),
        ("a structural tag or a --style", given.get("structural_tag") is not None or given.get("style") is not None, ("special_token",)),
        ("JSON Schemas", any(given.get(source) is not None for source in ("schema", "lark", "structural_tag")), SCHEMA_OPTIONS),
        ("texts without a model", model is None, ("length",)),
        ("texts by a model", model is not None, ("prompt", "max_tokens", "temperature")),
        ("--model tiny", model == "tiny", ("train_seconds",)),
    )
    for use, used, names in uses:
        for name in names:
            if not used and given.get(name) is not None:
                parser.error(f"{option_of(name)} is for {use}")
    for name, default in _DEFAULTS.items():
        if name in given and given[name] is None:
            given[name] = default
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="grammar-engine",
        description="Exact token masks for constrained decoding, from the command line.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"grammar-engine {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    generate = _command(commands, "generate", _generate, "write random texts of a grammar, with or without a model")
    generate.add_argument("--seed", type=seed, metavar="N", help="same seed, same texts (default: another one each time)")
    generate.add_argument("--count", type=natural, default=1, metavar="N", help="number of texts (default: 1)")
    generate.add_argument(
        "--length",
        type=natural,
        metavar="N",
        help="without a model: tokens after which a text comes to its end when it can (default: 120)",
    )
    model = generate.add_argument_group("with a model")
    model.add_argument(
        "--model",
        metavar="tiny|PATH|stub",
        help="a tiny decoder, trained now; a file of one (tiny/train.py), or a folder of transformers; noise (default: no model)",
    )
    model.add_argument(
        "--prompt",
        metavar="TEXT",
        help="what the model goes on from (default: an outline of the schema; of a folder, the schema; of stub, nothing)",
    )
    model.add_argument("--max-tokens", type=natural, metavar="N", help="the text is complete within N tokens (default: 256)")
    model.add_argument("--temperature", type=temperature, metavar="T", help="0 takes the best token (default: 1)")
    model.add_argument("--train-seconds", type=natural, metavar="N", help="for tiny (default: 30)")

    check = _command(commands, "check", _check, "say whether texts are sentences of a grammar, or where they are refused")
    check.add_argument(
        "texts", nargs="+", metavar="TEXT-FILE", help="file with one text; - is standard input; a final line end may be ignored"
    )
    check.add_argument(
        "--any-spelling",
        action="store_const",
        const=True,
        help="judge JSON that someone else wrote: --property-order any --number-style any --escapes all, where these are not given",
    )

    mask = _command(commands, "mask", _mask, "show which tokens may come next")
    mask.add_argument("--text", default="", help="the text so far (default: empty)")
    mask.add_argument("--sample", type=natural, default=10, metavar="N", help="allowed tokens to show (default: 10)")
    mask.add_argument("--seed", type=seed, default=0, metavar="N", help="which of them (default: 0)")

    _command(commands, "report", _report, "show what is enforced of a grammar, and what is not", vocabulary=False)

    info = commands.add_parser("info", help="versions and default limits", allow_abbrev=False)
    info.add_argument("--json", action="store_true", help="write JSON")
    info.set_defaults(run=_info)
    return parser


def _command(commands: Any, name: str, run: Any, description: str, *, vocabulary: bool = True) -> argparse.ArgumentParser:
    """A command that takes a grammar, and a vocabulary if it needs one."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=description,
        description=description[0].upper() + description[1:] + ".",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_grammar(parser)
    if vocabulary:
        add_vocabulary(parser)
    parser.add_argument("--json", action="store_true", help="write JSON, one object a line")
    parser.set_defaults(run=run)
    return parser
