"""Requests to models, relayed to an upstream; what it answers is kept in a log, to be read again.

A room of its own: nothing imports it but the application, which adds its `ROUTES`.

    upstream.py    the answer of an upstream, and what it says
    upstreams.py   the upstreams, by the name of the model: settings, keys, headers, connections
    apis.py        the APIs that are relayed, and how each reports an error
    references.py  what a request may refer to
    generation.py  an upstream's events to the log of a run, across broken connections
    requests.py    POST /v1/chat/completions, /v1/responses, /v1/messages
    responses.py   a response that is read again, cancelled or deleted
    models.py      GET /v1/models
"""

from . import models, requests, responses
from .apis import CHAT, MESSAGES, RESPONSES
from .generation import take_over
from .upstreams import Upstreams

ROUTES = (
    ("POST", "/v1/chat/completions", requests.relayed(CHAT)),
    ("POST", "/v1/responses", requests.relayed(RESPONSES)),
    ("GET", "/v1/responses/{id}", responses.retrieve),
    ("DELETE", "/v1/responses/{id}", responses.delete),
    ("POST", "/v1/responses/{id}/cancel", responses.cancel),
    ("POST", "/v1/messages", requests.relayed(MESSAGES)),
    ("GET", "/v1/models", models.list_models),
    ("GET", "/v1/models/{name:path}", models.one_model),
)

__all__ = ["ROUTES", "Upstreams", "take_over"]
