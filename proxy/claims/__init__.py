"""From a draft to atomic claims: `segment` finds sentences, `decompose` (LLM) or `local` splits them."""
