"""Token automata: regular grammars compiled ahead of time to a table over a vocabulary."""
