"""From places to shapes: what each keyword means.

sorting (which keys of a schema count) -> values (what they hold) -> assertions (what a schema says by itself) -> applicators (schemas for
the same place) -> tracked, unevaluated (what the others left over), unions (of that, an `anyOf` in few pieces), closing (the option
`closed`) -> meaning (of any place) -> normaliser (each once) -> proofs about goals.
"""
