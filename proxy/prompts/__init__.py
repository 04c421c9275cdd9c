"""The instructions that our own calls carry, one file a prompt, each with its version.

They are part of the product's behaviour: a change of wording is a change of version, and belongs in the CHANGELOG.
"""
