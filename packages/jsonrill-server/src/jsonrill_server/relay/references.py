"""What a request may refer to at its upstream: what its owner has there, and nothing of others.

All owners share the upstream's key, so the upstream gives each of them what any of them made: a
client that knows the id of a response can continue it, and so read it. Here an owner may continue
the responses in his own logs. What the upstream keeps beside responses has no owner that this
server knows, and cannot be referred to while there are several.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from jsonrill.dialects.native import split_response_id

from ..access.permissions import credentials_of, hub_of
from ..problems import Problem
from ..runs.options import StreamOptions
from ..store import UnknownStream
from .apis import RESPONSES, logged, response_id


async def check_references(request: Request, owner: str, value: dict[str, Any]) -> None:
    """Raise a Problem for a request that refers to what may be another owner's."""
    if not credentials_of(request).has_several_owners:
        return
    for field in ("conversation", "container"):
        named = value.get(field)
        if named and (not isinstance(named, dict) or named.get("id")):
            raise _shared(field)
    listed = value.get("input")
    if isinstance(listed, list):
        if any(isinstance(it, dict) and it.get("type") == "item_reference" for it in listed):
            raise _shared("item_reference")
    before = value.get("previous_response_id")
    if before is not None and not await _owns(request, owner, before):
        message = f"there is no response with the id {before!r} of yours here to continue"
        raise Problem(404, "previous_response_not_found", message)


def _shared(field: str) -> Problem:
    message = (
        f"{field} names what several owners share at the upstream: send the input instead,"
        " or continue a response of yours with previous_response_id"
    )
    return Problem(400, "not_yours", message)


async def _owns(request: Request, owner: str, id: Any) -> bool:
    """True if a response is in a log of this owner."""
    own, run = split_response_id(id) if isinstance(id, str) else ("", "")
    hub = hub_of(request)
    try:
        status = await hub.store.status(run)
        kept = StreamOptions.from_bytes(status.meta)
        if not run or status.owner != owner or kept.notes.get("api") != RESPONSES.name:
            return False
        # The log says which response it is: the id may join another's with the name of one's own.
        async for event in logged(hub, run, status.last):
            if isinstance(event, dict) and (named := response_id(event)):
                return named == own
    except UnknownStream:
        pass
    return False
