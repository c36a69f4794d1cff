"""Upstreams for tests: a server on loopback that answers as a script or as a provider would.

`Upstream` is the server. What it sends is a `Script` (these bytes, pauses and cuts) or a
`FakeAnswer` (this text, reasoning and these `Call`s, in the protocol of the request), and for each
request there is an `Exchange`: what was asked, how much was sent, and whether the client left.
`Provider` is the reply of a server with several models, background responses that can be resumed,
and `/models`.

Without a server: `FakeAnswer.events` are the events of a provider, `beginnings` and `cuttings` cut
streams and texts in every place.
"""

from .answers import Call, FakeAnswer
from .cutting import beginnings, cuttings
from .provider import Provider
from .script import Cut, Script, Step, Token
from .upstream import Exchange, Upstream

__all__ = [
    "FakeAnswer",
    "Call",
    "Cut",
    "Exchange",
    "Provider",
    "Script",
    "Step",
    "Token",
    "Upstream",
    "beginnings",
    "cuttings",
]
