"""Near-JSON: the machine with rules for what models write instead of JSON.

The strict machine reads until a character fits nowhere. Only there a rule is tried: it says where
to read on and in which state, and it is reported as a `Repair`. So valid JSON never meets a rule.
Where the next characters decide, the text is held until they have come; how far a rule looks ahead
is bounded (`lookahead.py`), so nothing is read again and again and nothing emitted is taken back.
In the pieces `{'a': "say "hi` and `" now",}`:

    '       a quote that is not JSON's: `single-quotes`, the key ends at the next '
    "hi     the quote after `say ` is held: `hi` may still become a key. What follows shows that it
            does not, so the quote is text: `inner-quotes`
    " now   the same
    ",      a comma follows, so this quote ends the string
    }       a bracket after a comma: `trailing-commas`

rules.py      the rules, each with its reason and an example
lookahead.py  what the next characters may become
patterns.py   the other patterns; JavaScript has both from here
inside.py     `LenientMachine`, and the table of states and their readers
core.py       `Leniency`, its base: what all readers need
prose.py      text, fences and thoughts around the value
comments.py   comments, around the value and in it
tokens.py     a character between tokens: commas, fences, ellipses
words.py      words without quotes, numbers in other ways of writing
strings.py    the text of strings, in any quotes
escapes.py    backslashes that are text
quotes.py     where a string ends
brackets.py   brackets that contradict each other
by_schema.py  which reading a schema asks for
ending.py     the end of the text

The machine holds a reader for each of these, from `prose.py` on. A reader has its own state, gets
the machine with each call, and says where reading goes on.
"""
