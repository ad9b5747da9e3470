"""The catalog: its model, loading, layering and compiled form."""
