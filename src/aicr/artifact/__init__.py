"""Where recipes and bundles live, and how they are read and written whole."""
