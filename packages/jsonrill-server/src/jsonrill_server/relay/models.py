"""GET /v1/models: the models of all upstreams, in the form that the client knows."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from ..access.permissions import hub_of, require_subject
from ..problems import Problem
from .apis import in_form, is_anthropic, no_model, note
from .requests import json_response, upstreams_of
from .upstream import UpstreamFailed, json_object
from .upstreams import Upstream, Upstreams

Json = dict[str, Any]
# Anthropic lists 20 models unless it is asked for more.
LIST: Final = {"x-api-key": "/models?limit=1000"}


@in_form()
async def list_models(request: Request) -> Response:
    """GET /v1/models: the list of models."""
    models = [_shown(request, model) for model in await _models(request)]
    if not is_anthropic(request):
        return json_response({"object": "list", "data": models})
    first, last = (models[0]["id"], models[-1]["id"]) if models else (None, None)
    return json_response({"data": models, "has_more": False, "first_id": first, "last_id": last})


@in_form()
async def one_model(request: Request) -> Response:
    """GET /v1/models/{name}: one model."""
    name = str(request.path_params["name"])
    for model in await _models(request):
        if model["id"] == name:
            return json_response(_shown(request, model))
    raise no_model(name)


async def _models(request: Request) -> list[Json]:
    """All models, each with the name that chooses its upstream.

    An upstream that cannot be asked is left out and logged, unless there is no other.
    """
    require_subject(request)
    upstreams = upstreams_of(request)
    if not upstreams.all:
        raise Problem(404, "not_configured", "no upstream is configured")
    asking = [_models_of(upstreams, one) for one in upstreams.all]
    lists = await asyncio.gather(*asking, return_exceptions=True)
    by_id: dict[str, Json] = {}
    failed: list[UpstreamFailed] = []
    for upstream, models in zip(upstreams.all, lists, strict=True):
        if isinstance(models, UpstreamFailed):
            failed.append(models)
            note(hub_of(request), models.code, f"[{upstream.name}] {models.message}")
            continue
        if isinstance(models, BaseException):
            raise models
        for model in models:
            chosen = upstreams.choose(model["id"])
            # Of a model that several have, only the one is shown that requests go to.
            if chosen is not None and chosen.upstream is upstream:
                by_id.setdefault(model["id"], model)
    if failed and not by_id:
        raise failed[0]
    return [*by_id.values()]


async def _models_of(upstreams: Upstreams, upstream: Upstream) -> list[Json]:
    """The models of one upstream; those that are named in full need no request."""
    if upstream.models and not any(name.endswith("*") for name in upstream.models):
        return [_model(upstream, {"id": name}) for name in upstream.models]
    received = await upstreams.send(upstream, "GET", LIST.get(upstream.auth, "/models"))
    body = json_object(await received.read())
    if received.status >= 300 or body is None:
        message = f"its list of models has the status {received.status}"
        raise UpstreamFailed(502, "upstream_error", message)
    items = body.get("data")
    return [
        _model(upstream, item)
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    ]


def _model(upstream: Upstream, item: Json) -> Json:
    return {"owned_by": upstream.name, **item, "id": upstream.prefix + item["id"]}


def _shown(request: Request, model: Json) -> Json:
    """The model with the fields that the client's type of it has; when it was made may be new."""
    if is_anthropic(request):
        since = {"created_at": "1970-01-01T00:00:00Z"}
        return {"type": "model", "display_name": model["id"], **since, **model}
    return {"object": "model", "created": 0, **model}
