"""Measures of the proxy's own stages on labelled data. It imports `proxy`; nothing of `proxy` knows it."""
