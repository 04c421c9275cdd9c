"""Numbers, dates and measures in texts, and what two texts say about each other's."""
