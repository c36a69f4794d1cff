"""One module for each provider, with all that is known of it: its events in, statements out.

This file lists the modules, `reader.py` recognises which provider an event is from. Some modules
are of frameworks, which send events of a provider in an envelope, or say the same in other words.
"""

from __future__ import annotations

from ..options import allow
from . import (
    ag_ui,
    anthropic,
    bedrock,
    claude_code,
    cohere,
    gemini,
    gemini_live,
    google_adk,
    jsonrill,
    langchain,
    langgraph,
    llama_index,
    mistral,
    ollama,
    openai_agents,
    openai_chat,
    openai_realtime,
    openai_responses,
    parts,
    pydantic_ai,
    vercel,
)
from .objects import plain
from .reader import PROVIDERS, Provider, Reader, recognise

__all__ = ["PROVIDERS", "Provider", "Reader", "plain", "recognise"]


# An event is offered to them in this order: those that recognise theirs most surely come first.
PROVIDERS.update(
    {
        "openai_chat": Provider(openai_chat.accepts, openai_chat.Chat),
        "anthropic": Provider(anthropic.accepts, lambda: anthropic.translate),
        "openai_realtime": Provider(openai_realtime.accepts, openai_realtime.Realtime),
        "openai_responses": Provider(openai_responses.accepts, openai_responses.ResponsesReader),
        "jsonrill": Provider(jsonrill.accepts, lambda: jsonrill.translate),
        "parts": Provider(parts.accepts, parts.PartEvents, ends=False),
        "gemini": Provider(gemini.accepts, lambda: gemini.translate),
        "bedrock": Provider(bedrock.accepts, lambda: bedrock.translate),
        "mistral": Provider(mistral.accepts, lambda: mistral.translate),
        "ag_ui": Provider(ag_ui.accepts, lambda: ag_ui.translate),
        "cohere": Provider(cohere.accepts, lambda: cohere.translate),
        "vercel": Provider(vercel.accepts, lambda: vercel.translate),
        "ollama": Provider(ollama.accepts, ollama.Ollama),
        "gemini_live": Provider(gemini_live.accepts, gemini_live.GeminiLive),
        "google_adk": Provider(google_adk.accepts, google_adk.GoogleADK),
        "openai_agents": Provider(openai_agents.accepts, openai_agents.OpenAIAgents),
        "claude_code": Provider(claude_code.accepts, claude_code.ClaudeCode),
        "pydantic_ai": Provider(pydantic_ai.accepts, pydantic_ai.PydanticAI),
        "langchain": Provider(langchain.accepts, langchain.LangChain),
        "llama_index": Provider(llama_index.accepts, llama_index.LlamaIndex),
        "langgraph": Provider(langgraph.accepts, langgraph.LangGraph),
    }
)
allow("provider", ["auto", *PROVIDERS])
