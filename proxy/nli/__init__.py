"""Natural language inference: does a premise entail or contradict a hypothesis? One file knows the runtime."""
