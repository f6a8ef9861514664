"""A cluster of this machine with the operator in it: for a first look, for tests and for benchmarks."""
