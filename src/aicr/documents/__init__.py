"""YAML and JSON in and out: limits, duplicate keys, text of scalars, deterministic emission."""
