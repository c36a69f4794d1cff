"""Values that nobody expects, to put where others belong."""

from __future__ import annotations

from hypothesis import strategies as st

JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["id", "index", "x"]), inner, max_size=2),
    ),
    max_leaves=4,
)


ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 13),
        st.text(max_size=4),
        st.sampled_from(["StartObject", "Key", "root", "root.a", "{", "}", '{"a":1}', "complete"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                "tool_call_id index function_name function_args json_update_fragments status"
                " error encoding args kind path textValue value".split()
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=10,
)
