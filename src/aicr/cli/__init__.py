"""The command line: one file a verb; ``main`` finds the verb and imports only its file."""
