"""The counter of lines of code: what it counts, and that a package that is too large is named."""

from __future__ import annotations

from pathlib import Path

import lines
import pytest

PYTHON = '''\
"""A docstring
of two lines."""

import os  # a comment beside code

# a comment
TEXT = """not
# a comment: the text of a string
"""


class A:
    """A docstring."""

    def f(self):
        """Another."""
        return (
            1
        )
'''


def test_python_without_comments_blank_lines_and_docstrings() -> None:
    # import, three of the string, class, def, three of return
    assert lines.in_python(PYTHON) == 9


@pytest.mark.parametrize(
    ("suffix", "text", "count"),
    [
        (".js", "/** a\n * b */\nlet a = 1; // c\n\n// d\nlet b = '/*'; /* e */\nlet c = 2;\n", 3),
        (".js", 'let url = "http://x"; // y\nlet p = /[/*]/g;\nlet q = `// z\n/* in a text`;\n', 4),
        (".js", "/* a */ let b = 1;\n/* c */\n", 1),
        (".css", "/* a\n b */\np { color: red; }\n\n", 1),
        (".html", "<!-- a\n b -->\n<p>\n  text <!-- c -->\n</p>\n", 3),
        (".svg", "<svg/>", 0),
    ],
)
def test_other_languages(suffix: str, text: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_text(text)
    assert lines.count(path) == count


def test_tests_and_recordings_are_left_out(tmp_path: Path) -> None:
    for folder in ("", "tests", "demo/recordings", "inner"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "a.py").write_text("a = 1\n")
    assert lines.total([tmp_path]) == 2


def test_a_package_above_its_ceiling_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    small = lines.Package("packages/jsonrill-batch/src", 100, 100)
    monkeypatch.setattr(lines, "PACKAGES", {"batch": small})
    (message,) = lines.report()
    assert message.startswith("batch has ") and message.endswith(" more than 100")
