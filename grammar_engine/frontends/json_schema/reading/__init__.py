"""From what the user hands over to places: the subschemas where they stand.

load (text, dict or model -> decoded schema) -> resources (schemas with a URI of their own) -> document (how one place is reached from
another) -> places. keywords: the registry, what is done with each keyword, by draft. spellings: which schemas are written alike. options,
report: what goes in beside the schema, and out.
"""
