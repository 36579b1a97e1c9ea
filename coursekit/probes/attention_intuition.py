"""Probes of lab 01, attention intuition."""

from coursekit.probes.driving import answers, function, layer, value

SCORES = ("scores",)

PROBES = {
    "softmax": function("softmax", "x", optional=("axis",)),
    "attention_pooling": function(
        "attention_pooling", "query", "keys", "values", optional=("bandwidth",), returns=("output", "weights")
    ),
    "dot_score": function("dot_score", "q", "k", returns=SCORES),
    "scaled_dot_score": function("scaled_dot_score", "q", "k", returns=SCORES),
    "general_score": function("general_score", "q", "k", "w", returns=SCORES),
    "cosine_score": function("cosine_score", "q", "k", returns=SCORES),
    "additive_score": function("additive_score", "q", "k", "w_q", "w_k", "v", returns=SCORES),
    "attend": function("attend", "scores", "values", optional=("mask",), returns=("context", "weights")),
    "hard_attention": function("hard_attention", "weights"),
    "BahdanauAttention": layer(
        "BahdanauAttention",
        init=("units",),
        call=("query", "values"),
        weights=("query_proj.kernel", "value_proj.kernel", "score_proj.kernel"),
        returns=("context", "weights"),
    ),
    "SpatialAttention": layer(
        "SpatialAttention",
        init=("filters",),
        call=("features", "global_features"),
        optional=(),
        weights=("local_conv.kernel", "global_conv.kernel", "score_conv.kernel"),
        returns=("attended", "map"),
        unknown_axes=(0,),
    ),
    "answers": answers(),
    "find_the_bug": function(
        "find_the_bug", "queries", "keys", "values", optional=("bandwidth",), returns=("output", "weights")
    ),
    "predict": value("predict"),
}
