"""One module for each provider, with all that is known of it: its events in, statements out.

This file lists the modules, `reader.py` recognises which provider an event is from. Some modules
are of frameworks, which send events of a provider in an envelope, or say the same in other words.
"""

from __future__ import annotations

from . import (
    ag_ui,
    anthropic,
    bedrock,
    cohere,
    gemini,
    jsonrill,
    langchain,
    langgraph,
    mistral,
    ollama,
    openai_agents,
    openai_chat,
    openai_responses,
    parts,
    pydantic_ai,
    vercel,
)
from .objects import plain
from .reader import PROVIDERS, ProviderPage, Reader, recognise

__all__ = ["PROVIDERS", "ProviderPage", "Reader", "plain", "recognise"]


# An event is offered to them in this order: those that recognise theirs most surely come first.
PROVIDERS.update(
    {
        "openai_chat": ProviderPage(openai_chat.accepts, openai_chat.ChatReader),
        "anthropic": ProviderPage(anthropic.accepts, lambda: anthropic.translate),
        "openai_responses": ProviderPage(
            openai_responses.accepts, openai_responses.ResponsesReader
        ),
        "jsonrill": ProviderPage(jsonrill.accepts, lambda: jsonrill.translate),
        "parts": ProviderPage(parts.accepts, parts.PartEvents, ends=False),
        "gemini": ProviderPage(gemini.accepts, lambda: gemini.translate),
        "bedrock": ProviderPage(bedrock.accepts, lambda: bedrock.translate),
        "mistral": ProviderPage(mistral.accepts, lambda: mistral.translate),
        "ag_ui": ProviderPage(ag_ui.accepts, lambda: ag_ui.translate),
        "cohere": ProviderPage(cohere.accepts, lambda: cohere.translate),
        "vercel": ProviderPage(vercel.accepts, lambda: vercel.translate),
        "ollama": ProviderPage(ollama.accepts, ollama.Ollama),
        "openai_agents": ProviderPage(openai_agents.accepts, openai_agents.OpenAIAgents),
        "pydantic_ai": ProviderPage(pydantic_ai.accepts, pydantic_ai.PydanticAI),
        "langchain": ProviderPage(langchain.accepts, langchain.LangChain),
        "langgraph": ProviderPage(langgraph.accepts, langgraph.LangGraph),
    }
)
