"""The same with a fake model, which needs no key: `python demo.py`, then open http://127.0.0.1:8000."""

import os

import uvicorn

from jsonrill.testing import Call, Exchange, FakeAnswer, Upstream

PACE = float(os.environ.get("PACE", "0.03"))


def reply(exchange: Exchange) -> FakeAnswer:
    """What comes next is told by what the conversation has already."""
    asked = exchange.body.decode()
    if "booked" in asked or "interrupted" in asked or "refused" in asked:
        return FakeAnswer("That is all I can do. Have a good trip.", pace=PACE)
    if "degrees" in asked:
        wish = {"city": "Rome", "nights": 7}
        return FakeAnswer(
            "Rome is warmest.", calls=[Call("book", wish, "call_3")], pace=PACE, id="2"
        )
    cities = [Call("weather", {"city": it}, f"call_{at}") for at, it in enumerate(("Rome", "Oslo"))]
    return FakeAnswer("I look where it is warm.", "Two cities.", cities, pace=PACE)


if __name__ == "__main__":
    with Upstream(reply) as model:
        os.environ |= {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}
        os.environ |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"}
        os.environ |= {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "none"}
        uvicorn.run("app:app", port=int(os.environ.get("PORT", "8000")), log_level="warning")
