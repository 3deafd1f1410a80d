"""From shapes to lexemes and rules.

emitter: a symbol for each shape; arrays, objects: their rules; members, unique: what may stand in counted ones, and in those whose items
all differ; layout: white space and punctuation.
"""
