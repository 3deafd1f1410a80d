"""From shapes to lexemes and rules.

emitter: a symbol for each shape; arrays, objects: their rules; other_keys: the keys that objects do not name; members, unique, compared:
what may stand in counted ones, and in those whose items all differ; layout: white space and punctuation.
"""
