"""Everything that is only a demonstration.

models.py       simulated models
generations.py  simulated models that write to streams of a server
examples.py     JSON for a JSON Schema
requests.py     what a request to a provider's API asks for
answering.py    what a simulated model answers
scripts.py      the response of a simulated model to a request, as timed bytes
"""
