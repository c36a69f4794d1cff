"""The patterns of leniency, for both languages: tools/tables.py writes JavaScript's."""

from __future__ import annotations

import re
from typing import Final

# Around the value.
SPACE_OR_SEPARATOR: Final = re.compile(r"[ \t\n\r\x1e]*")
BREAKS_PROSE: Final = re.compile(r"[{\[`<◁]")
BREAKS_PROSE_OF_MANY: Final = re.compile(r"[{\[`<◁\n\x1e]")
BREAKS_TRAILING: Final = re.compile(r"[][{}`~<◁]")
WORD: Final = re.compile(r"\w")
# After a number, a word or a string: any other.
_LITERAL = r"(?<![A-Za-z_])(?:true|false|null|True|False|None)(?![A-Za-z_])"
SECOND_SCALAR: Final = re.compile(rf"[\"“”„«»\d]|(?<!\w)['‘]|{_LITERAL}")
# After a list or an object: a quote before all words, a member, or one at the end of the line of
# the value or alone in its line. (A heart is none.)
_LINE_ENDS = r"[.!]?[ \t\r]{0,8}(?:\n|\Z)"
_NUMBER = r"[-+]?\d(?:[.,eE\d]{0,22}\d)?"
_WHOLE = (
    rf"(?:\"[^\"\n]{{0,80}}\"|“[^”\n]{{0,80}}”|'[^'\n]{{0,80}}'|{_NUMBER}|{_LITERAL}"
    r"|\([\"'\d-][^()\n]{0,200}\))"
)
# Where words have no spaces between them, one may come right before it.
_BEFORE = r"(?:(?<![\w:=<])|(?<=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]))"
SECOND_IN_LINE: Final = re.compile(
    r"\A[\W\d_]{0,200}[\"'“‘]"
    r"|(?:\A|\n)[ \t]{0,40}\"[^\"\n]{1,80}\"[ \t]{0,8}:\s{0,8}"
    rf"(?:[\"'“‘{{\[]|{_NUMBER}|{_LITERAL})"
    rf"|(?:\A[^\n]{{0,40}}|\n(?:\d{{1,3}}[.)])?[^\w\n]{{0,40}}){_BEFORE}{_WHOLE}{_LINE_ENDS}"
)
# The text before a value, NUL, and that after it: the value is given a name, which a program uses.
USES_NAME: Final = re.compile(
    r"(?<!\w)([^\W\d_]\w{0,60})[ \t]?=[ \t]?\x00[^\x00]*?"
    r"(?:(?:[(,=][ \t]?|\bin[ \t])\1[^\w\s]|(?<!\w)\1(?:\.\w|[\[(]))"
)
# The text after a value takes it back.
TAKES_BACK: Final = re.compile(
    r"\A\W{0,16}(?:(?:(?:no,? )?wait|actually|oops|correction|scratch that"
    r"|ignore (?:this|that|the above)|moment|warte|hoppla|korrektur|attend(?:s|ez)|oups|espera"
    r"|corrección|подожди(?:те)?)(?!\w)|等等|不对|更正|訂正)",
    re.IGNORECASE,
)
# Before a bracket in the text after the value: it is part of a face, or meant as itself.
IN_FACE: Final = re.compile(r"(?:(?:\A|\s)[:;][-'^o]{0,2}|[^\s:：]\s`)\Z")
# In the text after a value: words after its sentence or its line.
LATER: Final = re.compile(r"[.!?。\n]\W{0,40}\w")
# Before a bracket there: it is a subscript (json{"a": 1} is none), or in a call.
_SUBSCRIPT = r"(?<!\\)[\w)\]$@#%](?<!\b[jJ][sS][oO][nN])"
PART: Final = re.compile(rf"(?:\w\W{{0,16}}\s|\n)\S{{0,80}}(?:{_SUBSCRIPT}|\w\()\Z")
TAG: Final = re.compile(r"[<◁\[]")
# Before a tick: a sentence.
IN_SENTENCE: Final = re.compile(r"[\w,;)] \Z")
# Before a bracket: a colon; or nothing else in its line, but for Markdown and tags.
ANNOUNCES: Final = re.compile(r"[:：][\s*_`]{0,8}\Z")
# Before numbers in brackets after a colon: they are sources or an interval.
CITES: Final = re.compile(
    r"\w:\Z|(?:\([^()\n]{0,120}"
    r"|\b(?:sources?|refs?|references?|citations?|footnotes?|notes?|see|cf|bibliography|domain|range"
    r"|intervals?|bounds?|support|ci|quellen?|siehe|vgl|belege?|zitate?|fußnoten?|literatur|intervalle?"
    r"|(?:werte)?bereich|fuentes?|referencias?|citas?|notas?|intervalos?|rango|dominio|références?"
    r"|voir|bibliographie|plage|domaine|fontes?|fonti|riferiment[oi]|intervallo|источники?|см|интервал"
    r"|диапазон)[.*_\s]{0,3}|(?:出典|来源|來源|参考|文献|引用|脚注|区间|區間|区間|范围|範圍|範囲)[*_]{0,3})"
    r"[:：][\s*_`]{0,8}\Z",
    re.IGNORECASE,
)
IN_LINE: Final = re.compile(
    r"(?:\A|\n)[ \t]{0,40}(?:(?:[-*+•>#`_]{1,3}|\d{1,3}[.)]|<[^<>\n]{1,60}>)[ \t]{0,8}){0,3}\Z"
)
DUE: Final = re.compile(f"{ANNOUNCES.pattern}|{IN_LINE.pattern}")
# The same in the text after a value: a sign announces one, too.
SECOND_DUE: Final = re.compile(rf"{DUE.pattern}|[=>→⇒][ \t]{{0,8}}\Z")
# From the beginning of the text, or from a bracket that might have been the value, to another: only
# a symbol and a word, three words, or one in a line of its own.
OPERAND: Final = re.compile(
    rf"(?:\A\s{{0,8}}(?:{_NUMBER}|{_LITERAL})|\[\])(?![-.:：!?。)\w])"
    r"(?:[ \t]{0,8}[^\w\s][^\w\n]{0,16}(?:\w{1,16}[^\w\n]{0,16})?"
    r"|(?:[ \t]{1,8}\w{1,16}[.]?){0,3}[ \t]{0,8}|\s{0,8}\n\w{1,16}\s{0,8})\Z"
)
# At the beginning of the text: it is a value, and something else.
SCALAR_FIRST: Final = re.compile(
    rf"(?:{_NUMBER}|{_LITERAL})[ \t]{{0,64}}[;|=<>≠≈~→⇒–—!?…]|{_LITERAL}[.]"
)
# In brackets, nothing or one number (perhaps cut off); and what begins with numbers.
EMPTY_OR_ONE: Final = re.compile(
    r"\[\s{0,32}(?:\]|[-+.]{0,2}\d[.eE\d]{0,20}\s{0,32}(?:\]|\Z))|\{\s{0,32}\}"
)
NUMBERS: Final = re.compile(r"\[[\s\[]{0,32}[-+.]{0,2}\d")
# At the beginning of a line: what a list of sources, or of things to do, has.
ENTRY: Final = re.compile(r"\[(?: |\d{1,3}\][ \t])")
# In prose, these must be announced; those in one line with a sentence after them are part of it.
# What `BRACKET` does not look at is not looked at here, either: it may not have come yet.
SCALAR_LIST: Final = re.compile(r"\[(?:\s{0,32}\[)?\s{0,32}[^\s\"'“‘{\[(]|\{\s{0,32}[}/#]")
BREAKS_ASIDE: Final = re.compile(r"[][{}\"]")
BREAKS_ASIDE_OF_MANY: Final = re.compile(r"[][{}\"\n\x1e]")
FENCE_NAME: Final = re.compile(r"[`\w./+-]{3,64}")
# Before a bracket: it is a subscript or in a quotation; an argument of a call in a program, a cell
# of a table, or the body of a declaration; or in YAML, or a member of an object without brackets.
# ("Answer:" begins a sentence.) And before a square one: a path, a formula, a footnote.
_YAML_KEY = r"[ \t]{0,40}(?:- )?[a-z_][\w-]{0,60}"
IN_CODE: Final = re.compile(
    rf"(?:{_SUBSCRIPT}|\"|(?:[(,`]|(?:\A|\n)[ \t])[ \t]{{0,40}}\w{{1,40}}="
    r"|(?:[.`]|=[ \t]{0,8})\w{1,60}\(|\n[^ \t\n]{0,100},|\w\([^()]{0,100},\s{0,40}"
    r"|[=!]=[ \t]{0,8}|\w=\{|\n[ \t]{1,40}return[ \t]"
    r"|\b(?:interface|type|class|struct|enum|namespace)[ \t]{1,8}\w{1,60}[ \t]{0,8}=?[ \t]{0,8}"
    rf"|(?:\A|\n){_YAML_KEY}(?::|[ \t]=)(?:[ \t][^\n]{{0,99}})?\n"
    rf"{_YAML_KEY}(?::|[ \t]=)?[ \t]{{1,8}}"
    rf"|:[ \t]{{0,8}}{_WHOLE},[ \t]{{0,8}}\w{{1,60}}:[ \t]{{0,8}})\Z"
)
NO_LIST: Final = re.compile(r"[^\s\w:：=>(,`*_•\u2010-\u2015\u3000-\u303f\uff00-\uff20-]\Z")
# In a bracket that begins no value: it is part of the prose. What begins otherwise is broken JSON.
ASIDE_BEGINS: Final = re.compile(r"[\w\\<$]|(?<=\[)[{\[]")

# Brackets.
# In prose, right before a value.
KEY_BEFORE: Final = re.compile(
    r"""(?:\A|[\n,{(])[ \t]{0,40}(?:["'][^"'\n]{1,60}["']|[a-z_$][\w$-]{0,60})[ \t]{0,8}:\s*\Z"""
)
NEXT_OBJECT: Final = re.compile(r"\s*,\s*\{")

# Quotes.
TUPLE_ENDS: Final = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*\)")
ENDS_IN_NUMBER: Final = re.compile(r"\d\Z")
# A length, as it may be written: not in `v1.0`, `10:30`, `$5`, `2024`, and no whole number alone.
LENGTH: Final = re.compile(r"(?:[\s(~≈]|\A(?=\d+[./'’]))(?:\d{1,3}['’.,/x×-]){0,2}\d{1,3}\Z")
# A number that says which one, not how long.
LABEL: Final = re.compile(
    r"\b(?!(?:the|and|for|with|about|are|was|has)[ \t])[^\W\d_]{3,}[ \t]\d+\Z"
)
# After the last quote of a list that is cut off: half a number or a word.
LAST_SCALAR: Final = re.compile(r"[ \t]+(?:-|-?[0-9][-+.eE0-9]*|[A-Za-z]+)\s*\Z")
# A curly or a low quote that is not closed.
OPEN_CURLY: Final = re.compile(r'[„‘][^„“”‘"]*\Z|(?:\A|[“”‘"])[^„“”‘"]*“[^„“”‘"]*\Z')
# After these a quote opens no quotation.
CLOSE_QUOTATION: Final = re.compile(r"[\w)\]}.!?%…]")
# Before these, too.
NO_QUOTATION: Final = re.compile(r"[\s,:;}\]).!?]|\Z")
NEXT_ELEMENT: Final = re.compile(r",\s*[{\[]\Z")
# A key that has nothing else of JSON in it than its colon.
PLAIN_KEY: Final = re.compile(r"[^:{}\[\],]+:\Z")

# The text of strings.
INFO_STRING: Final = re.compile(r"[\w.+-]{0,40}[ \t]{0,8}(?:\r?\n)")
INFO_STRING_CUT: Final = re.compile(r"[\w.+-]{0,40}[ \t]{0,8}\r?\Z")
LINE_BREAK: Final = re.compile(r"\r?\n")
# In a string that is cut off: what may come after the value.
AFTER_VALUE: Final = re.compile(
    r"\n[ \t\r]*(?:\n|```)|<\|[\w.-]{1,40}\|>|</s>|<(?:end_of_turn|eos)>"
    r"|</(?:answer|final|final_answer|json|output|response|result|tool_calls?|function(?:_calls?)?"
    r"|invoke|parameter)>|[}\]](?:[ \t\r]{0,40}```|\s{0,200}\n)|```\s{0,8}\Z"
)
# A curly quote that may end a string, and what may follow it up to the next string.
CURLY_TAIL: Final = re.compile(
    r"[”’][ \t\r\n,}\]]{0,200}(?:,[ \t\r\n]{0,40}[{\[][ \t\r\n]{0,40})?\Z"
)
TEXT_BRACKET: Final = re.compile(r"[][{}]")

# Numbers in other ways of writing, and the characters of one.
NUMBER_REST: Final = re.compile(r"[-+._eE0-9]{0,64}")
ODD_NUMBER: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*(?:_[0-9]+)*)(?:\.|(?:\.[0-9]+(?:_[0-9]+)*)?(?:[eE][+-]?[0-9]+)?)"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?)\Z"
)

# Words without quotes.
BARE_START: Final = re.compile(r"[\w$]")
BARE_KEY: Final = re.compile(r"[\w$-]*")
# Before a quote that may open the next key.
ONE_WORD: Final = re.compile(r"[^\W\d_]\S*[ \t]+\Z")
BARE_VALUE: Final = re.compile(r'[^,}\]\n\r"{\[:`#();/]*')

# Backslashes that are text: in a regular expression, a path, a formula.
# What an escape may have been in the text before it; and what text hardly ever has.
CONTROL: Final = re.compile(r"[\b\f\n\r\t]")
RARE: Final = re.compile(r"[\b\f]")
HAS_CODE: Final = re.compile(r"[^\\]*(?:\\[^u][^\\]*)*\\u")
# Text of a string before a backslash: the beginning of a path of a network, if its first backslash
# was not escaped, either.
NETWORK: Final = re.compile(r"\\[\w.$~-]+\Z")
# Before a backslash: it is part of a regular expression.
IN_REGEX: Final = re.compile(r"[\[(|^]\Z")
# After a backslash: a code of Python's, or half of one of JSON's.
PYTHON_CODE: Final = re.compile(r"x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|u(?:[0-9a-fA-F]{0,2}[0-9]|\W)")
PYTHON_CODE_CUT: Final = re.compile(r"(?:x[0-9a-fA-F]?|U[0-9a-fA-F]{0,7})\Z")
REGEX: Final = re.compile(
    r"\\[dDwWsSBAZzpPkKQEhHRVXG1-9](?:[-+*?{}()\[\]|$^.,:]|\\[dDwWsS])|[\^(\[|]\\[dDwWsSB]"
)
REGEX_AFTER: Final = re.compile(r"[+*?{}()\[\]|$^\"']|\\[dDwWsSB]")
BACKSLASH_LAST: Final = re.compile(r"\\[dDwWsSBAZz]\Z")
PATH: Final = re.compile(r"(?:\A|[\w.:%~)/\\-])(?:\\[\w.$~-]+)+\Z")
PATH_AFTER: Final = re.compile(r"[\w.$~-]{2,80}[\"'\\]")
PATH_CUT: Final = re.compile(r"[\w.$~-]{0,80}\Z")
TEX_NAME: Final = re.compile(r"[A-Za-z]{1,24}")
TEX: Final = re.compile(
    r"\\(?:[A-Za-z]+[{_^]|(?:alpha|approx|array|arcsin|ast|chi|cdot|cdots|cap|cup|circ|cos|cosh|delta"
    r"|Delta|dots|ddots|det|div|ell|epsilon|equiv|eta|exists|exp|gamma|Gamma|ge|geq|gg|hat|hbar|hline"
    r"|hspace|in|inf|infty|int|iota|item|kappa|lambda|Lambda|land|langle|large|ldots|le|left"
    r"|leftarrow|leq|lim|ll|ln|log|lor|lVert|mathbb|mathbf|mathrm|max|mid|min|mod|mp|mu|oint"
    r"|omega|Omega|oplus|otimes|overline|partial|perp|phi|Phi|pi|Pi|pm|prime|prod|propto|psi|Psi|qquad"
    r"|quad|sec|sigma|Sigma|sim|simeq|sin|sinh|sqrt|star|subset|subseteq|sum|sup|supset|varepsilon"
    r"|varphi|vartheta|vec|vdots|vee|wedge|widehat|Rightarrow|xi|Xi|zeta)(?![A-Za-z]))"
)
