"""Learn the built-in vocabulary: `python tools/train_builtin.py` rewrites `grammar_engine/data/builtin.merges`.

Byte-pair encoding as first described: the words of the corpus start as bytes, and the most frequent adjacent pair becomes a token, again
and again. Words are counted once and only those that contain the merged pair are touched, so the run takes seconds. Ties go to the pair
with the smaller ids: the result does not depend on the machine.

The file has one merge a line, "left right": the ids of two earlier tokens.
Ids 0 to 255 are the bytes, 256 is the first merge; the end-of-text token comes last.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

from builtin_corpus import documents

SIZE = 6144  # tokens, with the bytes and the end-of-text token
TARGET = Path(__file__).parent.parent / "grammar_engine" / "data" / "builtin.merges"
HEADER = "# Merges of the built-in vocabulary, made by tools/train_builtin.py: ids of two earlier tokens; 0 to 255 are the bytes.\n"

# A merge never crosses a border between these: words and numbers with the space before, runs of punctuation, white space.
WORDS = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?(?:[^\w\s]|_)+|\s*\n+ *|\s+")

Pair = tuple[int, int]


def learn(counts: dict[bytes, int], n_merges: int) -> list[Pair]:
    """The first `n_merges` merges of a corpus given as word counts; fewer where every word is one token before that."""
    words = [list(word) for word in counts]
    weights = list(counts.values())
    totals: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)  # pair -> words that contained it at some time
    for number, word in enumerate(words):
        for pair in pairwise(word):
            totals[pair] += weights[number]
            places[pair].add(number)
    heap = [(-total, pair) for pair, total in totals.items()]
    heapq.heapify(heap)
    merges: list[Pair] = []
    while heap and len(merges) < n_merges:
        total, best = heapq.heappop(heap)
        if -total != totals[best] or not totals[best]:  # out of date: a newer entry is in the heap
            continue
        merged = 256 + len(merges)
        merges.append(best)
        changed: set[Pair] = set()
        for number in places.pop(best):
            before, words[number] = words[number], _merge(words[number], best, merged)
            for sign, word in ((-1, before), (1, words[number])):
                for pair in pairwise(word):
                    totals[pair] += sign * weights[number]
                    changed.add(pair)
                    if sign > 0:
                        places[pair].add(number)
        for pair in changed:
            if totals[pair] > 0:
                heapq.heappush(heap, (-totals[pair], pair))
    return merges


def _merge(word: list[int], pair: Pair, merged: int) -> list[int]:
    result: list[int] = []
    at = 0
    while at < len(word):
        if tuple(word[at : at + 2]) == pair:
            result.append(merged)
            at += 2
        else:
            result.append(word[at])
            at += 1
    return result


def main() -> None:
    counts: Counter[bytes] = Counter()
    for document in documents():
        counts.update(word.encode() for word in WORDS.findall(document))
    merges = learn(counts, SIZE - 257)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(HEADER + "".join(f"{left} {right}\n" for left, right in merges), encoding="ascii")
    print(f"{len(counts):,} distinct words, {len(merges):,} merges, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
