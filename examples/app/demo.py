"""The app with a simulated model, which needs no key: `make example`."""

import json
import os
from pathlib import Path

import uvicorn

from jsonrill.testing import Call, FakeAnswer, Upstream

TRIP = {
    "title": "Four days in the Alps",
    "days": [
        {
            "city": city,
            "activities": [
                {"time": "09:30", "title": f"Walk through the old town of {city}"},
                {"time": "13:00", "title": lunch},
                {"time": "16:00", "title": walk},
            ],
        }
        for city, lunch, walk in (
            ("Zürich", "Rösti at the market hall", "A swim in the lake"),
            ("Luzern", "A picnic on the ferry", "The cogwheel railway to the top"),
            ("Chur", "Capuns at the station", "The vineyards above the Rhine"),
            ("Sankt Moritz", "Nut cake and coffee", "Around the lake before sunset"),
        )
    ],
}
CALLS = [
    Call("book", {"what": "hotel", "city": "Zürich", "date": "2027-05-03"}),
    Call("book", {"what": "train", "city": "Luzern", "date": "2027-05-04"}),
    Call("book", {"what": "hotel", "city": "Sankt Moritz", "date": "2027-05-06"}),
]
THOUGHT = "Mountains and lakes, by train, and not too much for one day."
PACE = float(os.environ.get("PACE", "0.03"))

if __name__ == "__main__":
    answer = FakeAnswer(json.dumps(TRIP, ensure_ascii=False), THOUGHT, CALLS, pace=PACE)
    os.chdir(Path(__file__).parent)
    with Upstream(answer) as model:
        os.environ["OPENAI_BASE_URL"] = f"{model.url}/v1"
        os.environ["OPENAI_API_KEY"] = "none"
        uvicorn.run("app:app", port=int(os.environ.get("PORT", "8000")))
