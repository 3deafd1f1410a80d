"""The JSON Schema front end: tables for each keyword, laws on random schemas, and two collections of real ones."""
