"""A worker process: reads tasks from standard input and writes their outcomes, one JSON a line.

Run as `python -m jsonrill_batch.engines.worker`. It exits when its standard input ends, even in
the middle of a shard: the process that started it is gone, and no process reads the outcome.
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
    # Ctrl-C is for the process that started this one, and which then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a validator prints must not mix with the answers.
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
