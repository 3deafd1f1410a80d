"""The official JSON-Schema-Test-Suite, case by case."""
