"""The reduced path: system models, joint models, and the algorithms over them in generalized coordinates."""
