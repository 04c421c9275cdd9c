import json
import pathlib

import pytest


@pytest.mark.parametrize(
    "env,prog", [("langchain", "langchain_chat"), ("llamaindex", "llamaindex_chat"), ("litellm", "litellm_chat")]
)
def test_try(run_client, env, prog):
    c = run_client(env, prog)
    pathlib.Path(f"/tmp/compat/{env}.json").write_text(json.dumps(c.outcomes, indent=1))
    for k, v in c.outcomes.items():
        if isinstance(v, dict) and "raised" in v:
            print(k, v["raised"][-600:])
