"""`serve --demo`: GET /demo/models lists the simulated models, POST /demo/streams starts one.

The models also answer the requests of providers' clients.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from jsonrill.testing import EVENT_STREAM

from ..access.permissions import config_of, require_subject
from ..demo.generations import Demo, Order
from ..demo.scripts import response_to, script_bytes
from ..problems import Problem
from .publish import body_as, read_body, urls_of


def demo_of(request: Request) -> Demo:
    demo: Demo = request.app.state.demo
    return demo


async def list_models(request: Request) -> Response:
    """GET /demo/models: the list of simulated models."""
    require_subject(request)
    return JSONResponse({"models": [model.to_json() for model in demo_of(request).models.values()]})


async def start(request: Request) -> Response:
    """POST /demo/streams: a model begins to write; the answer is that of POST /v1/streams."""
    owner, demo = require_subject(request), demo_of(request)
    order = await body_as(request, Order)
    if order.model not in demo.models:
        raise Problem(422, "BAD_OPTION", f"model is one of {', '.join(demo.models)}")
    stream = await demo.start(owner, order)
    urls = urls_of(request, stream)
    body = {"id": stream, "urls": urls, "model": demo.models[order.model].to_json()}
    return JSONResponse(body, 201, {"location": urls["stream"]})


async def answer(request: Request) -> Response:
    """Answer a request to a provider's API with a simulated model; nothing is stored."""
    require_subject(request)
    agent = request.headers.get("user-agent", "")
    body = await read_body(request, config_of(request).body_bytes)
    script = response_to(request.method, request.scope["path"], body, agent)
    if script.headers.get("content-type") == EVENT_STREAM["content-type"]:
        return StreamingResponse(script_bytes(script), media_type=EVENT_STREAM["content-type"])
    content = b"".join([data async for data in script_bytes(script)])
    return Response(content, script.status, dict(script.headers))


ROUTES = (
    ("GET", "/demo/models", list_models),
    ("POST", "/demo/streams", start),
    ("GET", "/v1/models", answer),
    ("POST", "/v1/chat/completions", answer),
    ("POST", "/v1/responses", answer),
    ("POST", "/v1/messages", answer),
)
