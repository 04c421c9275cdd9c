"""The offline upstream: a real small LLM on the CPU behind a real OpenAI-compatible HTTP server.

In: nothing but the extra `embedded`. Out: a base URL for as long as a block runs. It stands apart because the proxy
talks to it like to any other upstream, over HTTP; nothing else here knows that there is a model inside.
"""

from proxy.embedded.launcher import MODEL_NAME, run_embedded_upstream

__all__ = ["MODEL_NAME", "run_embedded_upstream"]
