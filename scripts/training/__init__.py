"""The training of the embedded NLI model: data aimed at the job, and a training that can be interrupted."""
