"""Why an export stops: one class, whose text is the one line that the user sees, with what to do about it."""

from __future__ import annotations


class ExportFailed(Exception):
    """The model cannot be exported; nothing was written."""
