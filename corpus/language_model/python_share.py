"""Lab 10, exercise `python_share`: solutions as different students write them, right and wrong."""

from corpus.language_model.shared import edited

PLAIN = """
def python_share(prompts, bodies, ended):
    n = len(prompts)
    parses, lines = np.zeros(n, dtype=bool), np.zeros(n, dtype=int)
    bound, used = np.full(n, np.nan), np.full(n, np.nan)
    for i in range(n):
        for line in bodies[i].splitlines():
            if line.strip() != "":
                lines[i] += 1
        if not ended[i]:
            continue
        try:
            tree = ast.parse(prompts[i] + bodies[i])
        except (SyntaxError, ValueError):
            continue
        if len(tree.body) != 1:
            continue
        parses[i] = True
        function = tree.body[0]
        names = names_read(function)
        small = [name for name in names if name[0].islower()]
        exist = bound_names(function)
        if small:
            bound[i] = sum(name in exist for name in small) / len(small)
        parameters = [name for name in parameter_names(function) if name not in ("self", "cls")]
        if parameters:
            used[i] = sum(name in names for name in parameters) / len(parameters)
    return {"parses": parses, "lines": lines, "bound": bound, "used": used}
"""
LISTS = """
def share(hits):
    return np.mean(hits) if len(hits) > 0 else float("nan")


def judge(prompt, body, end):
    count = len([line for line in body.split("\\n") if line.strip()])
    try:
        module = ast.parse(prompt + body)
    except SyntaxError:
        module = None
    if module is None or not end or len(module.body) > 1:
        return False, count, np.nan, np.nan
    function = module.body[0]
    reads = []
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                reads.append(node.id)
    exists = bound_names(function)
    wanted = set(parameter_names(function)) - {"self", "cls"}
    return True, count, share([r in exists for r in reads if r[0].islower()]), share([w in reads for w in wanted])


def python_share(prompts, bodies, ended):
    rows = [judge(*each) for each in zip(prompts, bodies, ended)]
    return {name: [row[k] for row in rows] for k, name in enumerate(("parses", "lines", "bound", "used"))}
"""

CORRECT = [
    PLAIN,
    LISTS,
    edited(PLAIN, ('return {"parses": parses', 'return {"parses": parses.astype(float)')),
    edited(PLAIN, ("if name[0].islower()", "if 'a' <= name[0] <= 'z'"), ("dtype=int", "dtype='float32'")),
    edited(PLAIN, ('"bound": bound, "used": used}', '"bound": tf.constant(bound), "used": tf.constant(used)}')),
    edited(PLAIN, ("if len(tree.body) != 1:", "if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):")),
    edited(LISTS, ("return {name: [row[k] for row in rows] for k, name in enumerate((\"parses\", \"lines\", \"bound\", \"used\"))}", "return dict(zip(('parses', 'lines', 'bound', 'used'), map(np.array, zip(*rows))))")),
    edited(PLAIN, ('return {"parses": parses', 'return {"prompts": prompts, "parses": parses'), ("except (SyntaxError, ValueError):", "except Exception:")),
    edited(LISTS, ("    try:\n", "    import warnings\n    warnings.simplefilter('ignore')\n    try:\n"), ("float(\"nan\")", "np.float32('nan')")),
]  # fmt: skip

WRONG = [
    ("unended_counted", edited(PLAIN, ("        if not ended[i]:\n            continue\n", ""))),
    ("body_alone", edited(PLAIN, ("ast.parse(prompts[i] + bodies[i])", "ast.parse(bodies[i])"))),
    ("several_statements", edited(PLAIN, ("        if len(tree.body) != 1:\n            continue\n", ""))),
    ("each_name_once", edited(PLAIN, ("small = [name for name in names if", "small = [name for name in set(names) if"))),
    ("zero_for_nan", edited(PLAIN, ("        if small:\n", "        bound[i] = used[i] = 0\n        if small:\n"))),
    ("self_counted", edited(PLAIN, (' if name not in ("self", "cls")', ""))),
    ("", edited(PLAIN, ("np.full(n, np.nan), np.full(n, np.nan)", "np.zeros(n), np.zeros(n)"))),
    ("", edited(PLAIN, ("np.full(n, np.nan), np.full(n, np.nan)", "np.ones(n), np.ones(n)"))),
    ("cls_counted", edited(PLAIN, ('name not in ("self", "cls")', 'name != "self"'))),
    ("capitals_counted", edited(PLAIN, (" if name[0].islower()]", "]"))),
    ("small_throughout", edited(PLAIN, ("name[0].islower()", "name.islower()"))),
    ("lines_of_spaces_counted", edited(PLAIN, ('line.strip() != ""', 'line != ""'))),
    ("blank_lines_counted", edited(PLAIN, ("bodies[i].splitlines()", "bodies[i].strip().splitlines()"), ('if line.strip() != "":', "if True:"))),
    ("", edited(PLAIN, ("name[0].islower()", "name[0].isupper()"))),
    ("", edited(PLAIN, ('if line.strip() != "":', "if True:"))),
    ("", edited(PLAIN, ("bodies[i].splitlines()", "(prompts[i] + bodies[i]).splitlines()"))),
    ("", edited(PLAIN, ("bodies[i].splitlines()", "[bodies[i]]"))),
    ("", edited(PLAIN, ("names = names_read(function)", "names = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]"))),
    ("", edited(PLAIN, ("names = names_read(function)", "names = [node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)]"))),
    ("", edited(PLAIN, ("name in exist for", "name not in exist for"))),
    ("used_is_bound", edited(PLAIN, ("name in names for", "name in exist for"))),
    ("", edited(PLAIN, ("exist = bound_names(function)", "exist = set(parameter_names(function))"))),
    ("", edited(PLAIN, ("/ len(small)", ""))),
    ("", edited(PLAIN, ("/ len(parameters)", "/ len(names)"))),
    ("", edited(PLAIN, ("/ len(small)", "/ len(names)"))),
    ("", edited(PLAIN, ("used[i] = sum(name in names for name in parameters) / len(parameters)", "used[i] = float(all(name in names for name in parameters))"))),
    ("", edited(PLAIN, ("        try:\n            tree = ast.parse(prompts[i] + bodies[i])\n        except (SyntaxError, ValueError):\n            continue\n", "        tree = ast.parse(prompts[i] + bodies[i])\n"))),
    ("", edited(PLAIN, ("        parses[i] = True\n", ""))),
    ("", edited(PLAIN, ("            continue\n        try", "            break\n        try"))),
    ("", edited(PLAIN, ('return {"parses": parses', 'return {"parses": parses.mean()'))),
    ("", edited(PLAIN, (', "used": used}', "}"))),
    ("", edited(PLAIN, ('return {"parses": parses, "lines": lines, "bound": bound, "used": used}', "return parses, lines, bound, used"))),
    ("", edited(PLAIN, ('"bound": bound, "used": used', '"bound": used, "used": bound'))),
    ("", edited(PLAIN, ("np.full(n, np.nan), np.full(n, np.nan)", "[None] * n, [None] * n"))),
    ("", edited(LISTS, ("reads.append(node.id)", "reads.append(node.id.lower())"))),
    ("", edited(PLAIN, ("sum(name in names for name in parameters)", "sum(name in small for name in parameters)"))),
    ("line_between", edited(PLAIN, ("prompts[i] + bodies[i]", 'prompts[i] + "\\n" + bodies[i]'))),
    ("underscore_counted", edited(PLAIN, ("name[0].islower()", "not name[0].isupper()"))),
    ("", edited(PLAIN, ("for line in bodies[i].splitlines():", 'for line in range(bodies[i].count("\\n")):'), ('if line.strip() != "":', "if True:"))),
]  # fmt: skip
