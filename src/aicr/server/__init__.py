"""The REST API and its page: the functions of ``aicr.library`` over HTTP."""
