"""Hostile input: what the engine refuses, how, and that nothing else changes."""
