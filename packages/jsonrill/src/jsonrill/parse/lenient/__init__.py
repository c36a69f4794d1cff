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
around.py     text, fences and thoughts around the value; what all rules need
by_schema.py  which reading a schema asks for
words.py      literals of other languages, keys and strings without quotes
numbers.py    numbers in other ways of writing
strings.py    the text of strings, in any quotes
quotes.py     where a string ends
brackets.py   brackets that contradict each other
inside.py     `LenientMachine`: the rule for a character between tokens, commas, the end

The machine is one object. Each module from `around.py` on adds a class to the one before it, with
the fields that it alone changes.
"""
