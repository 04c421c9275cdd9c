"""The official Python SDK, any of its major versions, as an application uses it.

In: where the proxy listens (command line). Out: what the SDK made of each scene, as one line of JSON.
"""

from compat.clients.openai_python import chat, failures, rest, streams, structured
from compat.clients.outcomes import report_outcomes

report_outcomes(*chat.SCENES, *streams.SCENES, *structured.SCENES, *failures.SCENES, *rest.SCENES)
