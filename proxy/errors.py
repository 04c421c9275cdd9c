"""Every error of ours, and the one table that turns it into an HTTP answer.

    CorrigendaError
    +-- BadControl            a header or `verify` key that cannot be used
    +-- NliFailed             the NLI model gave no usable result
    |   +-- NliBusy           its queue is full
    +-- LlmCallFailed         one of our own calls to the model failed

More classes join the tree where a stage needs them.
"""


class CorrigendaError(Exception):
    """Root of the tree; `str(error)` is safe to show: it holds no prompt, key or answer text."""


class NliFailed(CorrigendaError):
    """The NLI model gave no usable result."""


class NliBusy(NliFailed):
    """The NLI queue is full."""


class LlmCallFailed(CorrigendaError):
    """One of our own calls to the model failed."""
