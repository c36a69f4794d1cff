"""Twenty minutes of mutated documents: the original, or refused; never another value.

MUTATION_SECONDS is the time for all kinds together. The counts are printed (pytest -s).
"""

from __future__ import annotations

import os
from time import time_ns

import pytest

from support.mutations import KINDS, run

SECONDS = float(os.environ.get("MUTATION_SECONDS", 1200))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_document_is_read_as_the_original_or_refused(kind: str) -> None:
    seed = time_ns()
    counts, wrong = run(kind, seed=seed, seconds=SECONDS / len(KINDS))
    print(f"\n{kind}, seed {seed}: {dict(counts.most_common())}")
    assert not wrong, f"{len(wrong)} of {counts.total()}: {wrong[:5]}"
