"""Versions: SemVer, the range grammar of upgrade records, and the algebra of intervals."""
