"""Lab 02, exercise `project_qkv`."""

from autograder.declaring import Case, Exercise, wrong
from coursekit.generator import Generator
from exercises.drawing import normal
from exercises.self_attention.shared import project_qkv


def _projections(*leading: tuple[int, ...], dtype: str = "float32", mode: str = "call"):
    def draw(rng: Generator) -> list[Case]:
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


def _square_projections(rng: Generator) -> list[Case]:
    matrices = {name: normal(rng, 7, 7) for name in ("w_q", "w_k", "w_v")}
    return [Case({"x": normal(rng, 5, 7), **matrices})]


exercise = Exercise("project_qkv", call=("x", "w_q", "w_k", "w_v"), returns=("q", "k", "v"))
exercise.formula(project_qkv)


@exercise.group("right values", points=1)
def values(rng: Generator) -> list[Case]:
    return [*_projections(())(rng), *_square_projections(rng)]


@exercise.group(
    "leading dimensions",
    points=1,
    advice="The weights have two axes whatever x has: which product broadcasts over the leading axes of x?",
)
def batched(rng: Generator) -> list[Case]:
    return _projections((2,), (2, 3))(rng)


@exercise.group("arrays and tensors", points=1)
def types(rng: Generator) -> list[Case]:
    return [*_projections((2,), mode="tensor")(rng), *_projections((2,), dtype="float64")(rng)]


exercise.mistakes(
    one_matrix_for_all=wrong(
        "Query, key and value are all made with w_q.",
        ("(x, w_k)", "(x, w_q)"),
        ("(x, w_v)", "(x, w_q)"),
        hint="The function gets three matrices. Where does each of them appear?",
        see="02#q-k-v",
    ),
    keys_with_w_q=wrong(
        "The keys are made with w_q; w_k is not used.",
        ("(x, w_k)", "(x, w_q)"),
        hint="Which of the three matrices appears twice in your code?",
        see="02#q-k-v",
    ),
    values_with_w_k=wrong("The values are made with w_k; w_v is not used.", ("(x, w_v)", "(x, w_k)")),
    values_are_inputs=wrong("The values are the inputs themselves; w_v is not used.", ("projected(x, w_v)", "x")),
    order_q_v_k=wrong(
        "Key and value come back in the wrong order: return (q, k, v).", ('"k":', '"v":'), ('"v":', '"k":')
    ),
    order_k_q_v=wrong(
        "Query and key come back in the wrong order: return (q, k, v).", ('"q":', '"k":'), ('"k":', '"q":')
    ),
    weights_transposed=wrong(
        "x is multiplied by the transposed weights: a weight is (D, d_k).",
        ("'...td,dk->...tk', x, weight", "'...td,dk->...tk', x, weight.T"),
    ),
)


exercise.hints(
    "Each token is multiplied by the same matrix: the tokens are the rows of x.",
    "(…, T, D) times (D, d_k) gives (…, T, d_k).",
)
exercise.hints(
    "`@` and `ops.matmul` multiply along the last two axes and leave the others as they are.", group="batched"
)
exercise.hints("Arrays and tensors both go through `ops.matmul`.", group="types")
