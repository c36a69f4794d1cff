"""Upstreams for tests: a server on loopback that answers as a script or as a provider would.

`Upstream` is the server. What it sends is a `Script` (these bytes, pauses and cuts) or an `Answer`
(this text, reasoning and these `Call`s, in the protocol of the request), and for each request there
is an `Exchange`: what was asked, how much was sent, and whether the client left.
"""

from .answers import Answer, Call
from .script import Cut, Script, Step, Token
from .upstream import Exchange, Upstream

__all__ = ["Answer", "Call", "Cut", "Exchange", "Script", "Step", "Token", "Upstream"]
