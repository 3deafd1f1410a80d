"""The normal form of a schema, and what is done with it.

shape: a product over the JSON types; pieces: and, or, not of unions within one type;
exclusive: what exactly one of several shapes admits; cases: conditions on one key; dependents: keys that limit the value of another one;
many: unions of many scalars.
"""
