"""Lab 02, exercise `project_qkv`."""

from autograder.declare import Case, Exercise, edit
from exercises.drawing import normal
from exercises.self_attention.shared import project_qkv


def _projections(*leading: tuple[int, ...], dtype: str = "float32", mode: str = "call"):
    def draw(rng) -> list[Case]:
        return [
            Case(
                {
                    "x": normal(rng, *batch, 5, 7, dtype=dtype),
                    "w_q": normal(rng, 7, 3, dtype=dtype),
                    "w_k": normal(rng, 7, 3, dtype=dtype),
                    "w_v": normal(rng, 7, 11, dtype=dtype),
                },
                mode=mode,
            )
            for batch in leading
        ]

    return draw


def _square_projections(rng) -> list[Case]:
    matrices = {name: normal(rng, 7, 7) for name in ("w_q", "w_k", "w_v")}
    return [Case({"x": normal(rng, 5, 7), **matrices})]


exercise = Exercise("project_qkv", returns=("q", "k", "v"))
exercise.formula(project_qkv)

exercise.group("right values", values=lambda rng: [*_projections(())(rng), *_square_projections(rng)])
exercise.group("leading dimensions", batched=_projections((2,), (2, 3)))
exercise.group(
    "arrays and tensors",
    types=lambda rng: [*_projections((2,), mode="tensor")(rng), *_projections((2,), dtype="float64")(rng)],
)

exercise.mistakes(
    one_matrix_for_all=edit(("(x, w_k)", "(x, w_q)"), ("(x, w_v)", "(x, w_q)"), see="02#q-k-v")
    | "Query, key and value are all made with w_q."
    | "The function gets three matrices. Where does each of them appear?",
    keys_with_w_q=edit("(x, w_k)", "(x, w_q)", see="02#q-k-v")
    | "The keys are made with w_q; w_k is not used."
    | "Which of the three matrices appears twice in your code?",
    values_with_w_k=edit("(x, w_v)", "(x, w_k)") | "The values are made with w_k; w_v is not used.",
    values_are_inputs=edit("projected(x, w_v)", "x") | "The values are the inputs themselves; w_v is not used.",
    order_q_v_k=edit(('"k":', '"v":'), ('"v":', '"k":'))
    | "Key and value come back in the wrong order: return (q, k, v).",
    order_k_q_v=edit(('"q":', '"k":'), ('"k":', '"q":'))
    | "Query and key come back in the wrong order: return (q, k, v).",
    weights_transposed=edit("'...td,dk->...tk', x, weight", "'...td,dk->...tk', x, weight.T")
    | "x is multiplied by the transposed weights: a weight is (D, d_k).",
)

exercise.advice(
    batched="The weights have two axes whatever x has: which product broadcasts over the leading axes of x?"
)
exercise.hints(
    values=(
        "Each token is multiplied by the same matrix: the tokens are the rows of x.",
        "(…, T, D) times (D, d_k) gives (…, T, d_k).",
    ),
    batched="`@` and `ops.matmul` multiply along the last two axes and leave the others as they are.",
    types="Arrays and tensors both go through `ops.matmul`.",
)
