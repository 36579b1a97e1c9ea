"""Probes of lab 02, self-attention."""

from coursekit.probes.driving import answers, function, layer, record

PROBES = {
    "self_attention_loops": function("self_attention_loops", "x"),
    "self_attention_matrix": function("self_attention_matrix", "x"),
    "project_qkv": function("project_qkv", "x", "w_q", "w_k", "w_v", returns=("q", "k", "v")),
    "scaled_dot_product_attention": function(
        "scaled_dot_product_attention", "q", "k", "v", optional=("mask",), returns=("output", "weights")
    ),
    "SelfAttention": layer(
        "SelfAttention",
        init=("d_k", "d_v"),
        call=("x",),
        weights=("w_q.kernel", "w_k.kernel", "w_v.kernel"),
        with_weights="weights",
    ),
    "attention_cost": record("attention_cost", "length", "d_model", fields=("multiply_adds", "weights_entries")),
    "answers": answers(),
}
