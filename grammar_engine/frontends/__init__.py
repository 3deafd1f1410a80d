"""Front ends: each turns one kind of source into the IR (`grammar_engine.ir`) and knows nothing of the engine's tables."""
