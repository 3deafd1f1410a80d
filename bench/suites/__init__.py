"""What the benchmarks walk: grammars and texts. All of it is made here; nothing is downloaded, and nothing depends on the machine."""
