"""Corrigenda: a drop-in proxy for OpenAI's chat API that corrects false claims in the answers.

The package is named for what it is, a proxy; the distribution and the command are `corrigenda`.
Start reading at `pipeline.verify_completion`, the whole story of one request on one screen.
"""

__version__ = "0.1.0"
