"""A worker: tasks come in on standard input, one JSON a line, and what came of them goes out.

Run as `python -m jsonrill.batch.engines.worker`. It ends when its standard input does, in the
middle of a shard too: whoever started it is gone, and nobody would ever ask for the result.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from queue import SimpleQueue
from threading import Thread

from .task import do_task


def main() -> None:
    # Ctrl-C is for the one who started us, who then ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a validator prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf8")
    os.dup2(2, 1)
    tasks: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(tasks,), daemon=True).start()
    while True:
        answer = do_task(json.loads(tasks.get()))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _listen(tasks: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        tasks.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
