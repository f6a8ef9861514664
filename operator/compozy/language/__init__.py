"""Documents of both dialects, read into one compiled plan; every problem has a code and a path."""
