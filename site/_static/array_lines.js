// Lines of Python on arrays, computed as NumPy computes them, in float64. They are parsed here: nothing is handed to `eval`.
(() => {
  // What these lines say is not understood here.
  class CannotJudge extends Error {}

  // What Python or NumPy raises at these lines; `like` is the kind of the mistake.
  class Raised extends Error {
    constructor(message, like = "") {
      super(message);
      this.like = like;
    }
  }

  const MOST = 200_000; // numbers in an array
  const RANKS = "bif"; // kinds of numbers, the widest last: bool, int, float

  class Numbers {
    // `bare`: a number of Python itself, which belongs to no array.
    constructor(shape, data, kind = "f", bare = false) {
      if (data.length > MOST) throw new CannotJudge(`an array of ${data.length} numbers is too large here`);
      Object.assign(this, { shape, data, kind, bare });
    }

    get size() {
      return this.data.length;
    }
  }

  const bare = (value, kind = Number.isInteger(value) ? "i" : "f") => new Numbers([], [value], kind, true);
  const count = (shape) => shape.reduce((all, each) => all * each, 1);
  const tupled = (shape) => `(${shape.join(",")}${shape.length === 1 ? "," : ""})`;
  const widest = (...arrays) => RANKS[Math.max(...arrays.map(({ kind }) => RANKS.indexOf(kind)))];

  function numbers(value, what = "this") {
    if (value instanceof Numbers) return value;
    if (!Array.isArray(value)) throw new CannotJudge(`${what} is no array here`);
    const parts = value.map((each) => numbers(each, what));
    const shape = parts[0]?.shape ?? [];
    if (parts.some((each) => String(each.shape) !== String(shape))) throw new CannotJudge("a list of unequal parts");
    return new Numbers([parts.length, ...shape], parts.flatMap((each) => [...each.data]), parts.length ? widest(...parts) : "f");
  }

  function whole(value, what) {
    const found = numbers(value, what);
    if (found.size !== 1) throw new Raised(`TypeError: only integer scalar arrays can be converted to a scalar index`);
    if (found.kind === "f") throw new Raised("TypeError: 'float' object cannot be interpreted as an integer", "whole");
    return found.data[0];
  }

  function commonShape(arrays) {
    const rank = Math.max(...arrays.map(({ shape }) => shape.length));
    return Array.from({ length: rank }, (_, axis) => {
      const sizes = arrays.map(({ shape }) => shape[shape.length - rank + axis] ?? 1);
      const size = sizes.find((each) => each !== 1) ?? 1;
      if (sizes.some((each) => each !== 1 && each !== size))
        throw new Raised(
          `ValueError: operands could not be broadcast together with shapes ${arrays.map((each) => tupled(each.shape)).join(" ")}`,
          "broadcast",
        );
      return size;
    });
  }

  const stridesOf = (shape) => shape.map((_, axis) => count(shape.slice(axis + 1)));

  // The numbers of an array at all places of `shape`, from steps that each axis of it makes in the array.
  function gather({ data }, shape, steps, start = 0) {
    let places = [start];
    shape.forEach((size, axis) => {
      if (places.length * size > MOST) throw new CannotJudge("an array as large as this");
      places = places.flatMap((place) => Array.from({ length: size }, (_, at) => place + at * steps[axis]));
    });
    return places.map((place) => data[place]);
  }

  function spread(array, shape) {
    const own = stridesOf(array.shape);
    const missing = shape.length - array.shape.length;
    return gather(array, shape, shape.map((_, axis) => (array.shape[axis - missing] > 1 ? own[axis - missing] : 0)));
  }

  function apply(compute, kind, ...arrays) {
    const shape = commonShape(arrays);
    const [first, ...others] = arrays.map((each) => spread(each, shape));
    return new Numbers(
      shape,
      first.map((each, at) => Number(compute(each, ...others.map((other) => other[at])))),
      kind,
      arrays.every((each) => each.bare),
    );
  }

  const refuse = (name, word) => {
    throw new Raised(`TypeError: ufunc '${name}' not supported for the input types${word ?? ""}`);
  };
  const modulo = (x, y) => x - y * Math.floor(x / y);
  const asWhole = (compute) => (x, y) => Number(compute(BigInt(x), BigInt(y)));

  const BINARY = {
    "+": (x, y) => arithmetic(x, y, (a, b) => a + b, Math.max),
    "-": (x, y) => arithmetic(x, y, (a, b) => a - b),
    "*": (x, y) => arithmetic(x, y, (a, b) => a * b, Math.min),
    "/": (x, y) => apply((a, b) => a / divisor(x, y, b), "f", x, y),
    "//": (x, y) => apply((a, b) => Math.floor(a / divisor(x, y, b)), widest(x, y), x, y),
    "%": (x, y) => apply((a, b) => modulo(a, divisor(x, y, b)), widest(x, y), x, y),
    "**": power,
    "@": matmul,
    "&": (x, y) => bitwise("bitwise_and", x, y, (a, b) => a & b),
    "|": (x, y) => bitwise("bitwise_or", x, y, (a, b) => a | b),
    "^": (x, y) => bitwise("bitwise_xor", x, y, (a, b) => a ^ b),
    "<": (x, y) => apply((a, b) => a < b, "b", x, y),
    ">": (x, y) => apply((a, b) => a > b, "b", x, y),
    "<=": (x, y) => apply((a, b) => a <= b, "b", x, y),
    ">=": (x, y) => apply((a, b) => a >= b, "b", x, y),
    "==": (x, y) => apply((a, b) => a === b, "b", x, y),
    "!=": (x, y) => apply((a, b) => a !== b, "b", x, y),
  };

  // Sums, differences and products; `ofTruths` is what two arrays of truth values give instead.
  function arithmetic(x, y, compute, ofTruths) {
    const kind = widest(x, y);
    if (kind !== "b") return apply(compute, kind, x, y);
    if (x.bare && y.bare) return apply(compute, "i", x, y);
    if (!ofTruths)
      throw new Raised(
        "TypeError: numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.",
      );
    return apply(ofTruths, "b", x, y);
  }

  function divisor(x, y, value) {
    if (x.bare && y.bare && value === 0) throw new Raised("ZeroDivisionError: division by zero");
    return value;
  }

  function power(x, y) {
    const negative = y.kind !== "f" && y.data.some((each) => each < 0);
    const kind = negative && x.bare && y.bare ? "f" : widest(x, y, bare(1));
    if (kind === "i" && negative) throw new Raised("ValueError: Integers to negative integer powers are not allowed.");
    return apply((a, b) => a ** b, kind, x, y);
  }

  function bitwise(name, x, y, compute) {
    const kind = widest(x, y);
    if (kind === "f") refuse(name);
    return apply(asWhole(compute), kind, x, y);
  }

  const UNARY = {
    "+": (x) => x,
    "-": (x) => {
      if (x.kind === "b" && !x.bare)
        throw new Raised(
          "TypeError: The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.",
        );
      return apply((a) => 0 - a, x.kind === "b" ? "i" : x.kind, x);
    },
    "~": (x) => {
      if (x.kind === "f") refuse("invert");
      return x.kind === "b" && !x.bare ? apply((a) => !a, "b", x) : apply((a) => -1 - a, "i", x);
    },
  };

  const CORES = "with gufunc signature (n?,k),(k,m?)->(n?,m?)";

  function matmul(x, y) {
    [x, y].forEach(({ shape }, which) => {
      if (!shape.length)
        throw new Raised(
          `ValueError: matmul: Input operand ${which} does not have enough dimensions (has 0, gufunc core ${CORES.slice(12)} requires 1)`,
          "matmul",
        );
    });
    const [left, right] = [x.shape.length === 1 ? [1, ...x.shape] : x.shape, y.shape.length === 1 ? [...y.shape, 1] : y.shape];
    const [[rows, inner], [other, columns]] = [left.slice(-2), right.slice(-2)];
    if (inner !== other)
      throw new Raised(
        `ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0, ${CORES} (size ${other} is different from ${inner})`,
        "matmul",
      );
    const lead = commonShape([{ shape: left.slice(0, -2) }, { shape: right.slice(0, -2) }]);
    const [a, b] = [
      spread(new Numbers(left, x.data), [...lead, rows, inner]),
      spread(new Numbers(right, y.data), [...lead, inner, columns]),
    ];
    const data = [];
    for (let stack = 0; stack < count(lead); stack += 1)
      for (let i = 0; i < rows; i += 1)
        for (let j = 0; j < columns; j += 1) {
          let sum = 0;
          for (let k = 0; k < inner; k += 1)
            sum += a[(stack * rows + i) * inner + k] * b[(stack * inner + k) * columns + j];
          data.push(sum);
        }
    const shape = [...lead, ...(x.shape.length === 1 ? [] : [rows]), ...(y.shape.length === 1 ? [] : [columns])];
    return new Numbers(shape, data, widest(x, y));
  }

  // `np.einsum` with its letters written out; an ellipsis stands for the axes in front.
  function einsum(formula, ...arrays) {
    if (typeof formula !== "string" || !/^[a-z.,]+->[a-z.]*$/.test(formula.replaceAll(" ", "")))
      throw new CannotJudge("`np.einsum` without a text such as \"ts,sd->td\"");
    const [from, to] = formula.replaceAll(" ", "").split("->");
    const operands = arrays.map((each) => numbers(each));
    const parts = from.split(",");
    if (parts.length !== operands.length) throw new CannotJudge("`np.einsum` with another number of arrays than its text names");
    let most = 0;
    const labels = parts.map((part, which) => {
      const more = operands[which].shape.length - part.replace("...", "").length;
      if (more < 0 || (more > 0 && !part.includes("...")))
        throw new Raised(`ValueError: einstein sum subscripts string contains too many or few subscripts for operand ${which}`);
      most = Math.max(most, more);
      return part.replace("...", "0123456789".slice(10 - more));
    });
    const out = to.replace("...", "0123456789".slice(10 - most));
    const sizes = {};
    labels.forEach((part, which) =>
      [...part].forEach((label, axis) => {
        const size = operands[which].shape[axis];
        if (sizes[label] > 1 && size > 1 && sizes[label] !== size)
          throw new Raised(`ValueError: operands could not be broadcast together with remapped shapes: axis ${label} is ${sizes[label]} and ${size}`, "broadcast");
        sizes[label] = Math.max(sizes[label] ?? 1, size);
      }),
    );
    if ([...out].some((label) => !sizes[label])) throw new CannotJudge("`np.einsum` with a letter that no array has");
    const all = [...out, ...Object.keys(sizes).filter((label) => !out.includes(label))];
    const shape = all.map((label) => sizes[label]);
    const taken = operands.map((each, which) => {
      const own = stridesOf(each.shape);
      const steps = all.map((label) =>
        [...labels[which]].reduce((sum, mine, axis) => sum + (mine === label && each.shape[axis] > 1 ? own[axis] : 0), 0),
      );
      return gather(each, shape, steps);
    });
    const kept = [...out].map((label) => sizes[label]);
    const data = new Array(count(kept)).fill(0);
    const inner = count(shape) / data.length;
    taken[0].forEach((_, at) => (data[Math.floor(at / inner)] += taken.reduce((product, each) => product * each[at], 1)));
    return new Numbers(kept, data, widest(...operands));
  }

  function axesOf(axis, rank) {
    const given = axis === null ? [...Array(rank).keys()] : Array.isArray(axis) ? axis : [axis];
    return given.map((each) => {
      const at = typeof each === "number" ? each : whole(each, "an axis");
      if (at < -rank || at >= rank) throw new Raised(`AxisError: axis ${at} is out of bounds for array of dimension ${rank}`, "axis");
      return (at + rank) % rank;
    });
  }

  function permuted(x, axes) {
    const own = stridesOf(x.shape);
    const shape = axes.map((axis) => x.shape[axis]);
    return new Numbers(shape, gather(x, shape, axes.map((axis) => own[axis])), x.kind);
  }

  // One number for each list of those that lie along `axis`.
  function reduced(x, axis, keepdims, compute, kind) {
    const alone = !x.shape.length && axis instanceof Numbers && [0, -1].includes(axis.data[0]); // as NumPy takes it
    const axes = alone ? [] : axesOf(axis, x.shape.length);
    const kept = [...x.shape.keys()].filter((each) => !axes.includes(each));
    const moved = permuted(x, [...kept, ...axes]);
    const size = count(axes.map((each) => x.shape[each]));
    const shape = isTrue(keepdims) ? x.shape.map((each, at) => (axes.includes(at) ? 1 : each)) : kept.map((each) => x.shape[each]);
    const data = Array.from({ length: count(shape) }, (_, at) => compute(moved.data.slice(at * size, (at + 1) * size)));
    return new Numbers(shape, data, kind);
  }

  const isTrue = (value) => value === true || (value instanceof Numbers && value.size === 1 && value.data[0] !== 0);
  const total = (values) => values.reduce((all, each) => all + each, 0);
  const mean = (values) => total(values) / values.length;
  const variance = (values, less) => {
    const middle = mean(values);
    return total(values.map((each) => (each - middle) ** 2)) / (values.length - less);
  };
  const ofArray = (x) => (x instanceof Numbers ? new Numbers(x.shape, x.data, x.kind) : x);
  const counted = ({ kind }) => (kind === "b" ? "i" : kind);

  // An array and an axis of it; of a number alone NumPy takes a sum over axis 0, and no mean.
  function averaged(x, axis) {
    axesOf(axis, numbers(x).shape.length);
    return [numbers(x), axis];
  }

  function softmax(x, axis) {
    const shifted = BINARY["-"](ofArray(x), reduced(x, axis, true, (each) => Math.max(...each), x.kind));
    const powers = apply(Math.exp, "f", shifted);
    return BINARY["/"](powers, reduced(powers, axis, true, total, "f"));
  }

  function reshaped(x, given) {
    const sizes = given.map((each) => whole(each, "a size"));
    const known = count(sizes.filter((each) => each !== -1));
    const shape = sizes.map((each) => (each === -1 ? x.size / known : each));
    if (sizes.filter((each) => each === -1).length > 1 || count(shape) !== x.size || shape.some((each) => !Number.isInteger(each) || each < 0))
      throw new Raised(`ValueError: cannot reshape array of size ${x.size} into shape ${tupled(sizes)}`, "reshape");
    return new Numbers(shape, [...x.data], x.kind);
  }

  const shapeOf = (given) => (given.length === 1 && Array.isArray(given[0]) ? given[0] : given);

  function filled(given, value, kind = "f") {
    const shape = (Array.isArray(given) ? given : [given]).map((each) => whole(each, "a size"));
    return new Numbers(shape, new Array(Math.min(count(shape), MOST + 1)).fill(value), kind);
  }

  // Where column − row is at most `most`, as `np.tri` counts.
  function triangle(rows, columns, most, keep) {
    const data = Array.from({ length: rows * columns }, (_, at) => Number(keep((at % columns) - Math.floor(at / columns), most)));
    return new Numbers([rows, columns], data);
  }

  function triangled(x, offset, keep) {
    const [rows, columns] = x.shape.slice(-2);
    return apply((kept, value) => (kept ? value : 0), x.kind, triangle(rows, columns, whole(offset), keep), x);
  }

  function typed(x, type) {
    const name = type?.type ?? type?.name?.replace("np.", "") ?? type;
    if (/^bool/.test(name)) return apply((each) => each !== 0, "b", x);
    if (/^float/.test(name)) return new Numbers(x.shape, [...x.data], "f");
    if (/^int/.test(name)) return apply(Math.trunc, "i", x);
    throw new CannotJudge("a type other than bool, int or float");
  }

  function joined(parts, axis) {
    const arrays = parts.map((each) => numbers(each));
    const [at] = axesOf(axis, arrays[0].shape.length);
    const rest = ({ shape }) => String(shape.filter((_, each) => each !== at));
    if (arrays.some((each) => rest(each) !== rest(arrays[0]))) throw new Raised("ValueError: all the input array dimensions except for the concatenation axis must match exactly", "join");
    const first = [at, ...[...arrays[0].shape.keys()].filter((each) => each !== at)];
    const moved = arrays.map((each) => permuted(each, first));
    const shape = [moved.reduce((all, each) => all + each.shape[0], 0), ...moved[0].shape.slice(1)];
    const back = first.map((_, each) => first.indexOf(each));
    return permuted(new Numbers(shape, moved.flatMap((each) => [...each.data]), widest(...arrays)), back);
  }

  function expanded(x, axis) {
    const [at] = axesOf(axis, x.shape.length + 1);
    return new Numbers([...x.shape.slice(0, at), 1, ...x.shape.slice(at)], x.data, x.kind);
  }

  function parted(x, parts, axis) {
    const [at] = axesOf(axis, x.shape.length);
    const number = whole(parts, "a number of parts");
    const size = x.shape[at] / number;
    if (!Number.isInteger(size)) throw new Raised("ValueError: array split does not result in an equal division", "reshape");
    const slices = x.shape.map(() => ({ from: null, to: null, step: null }));
    return Array.from({ length: number }, (_, each) =>
      indexed(x, slices.map((every, axis_) => (axis_ === at ? { from: bare(each * size), to: bare((each + 1) * size), step: null } : every))),
    );
  }

  const ELLIPSIS = Symbol("...");

  function indexed(x, given) {
    if (given.some((each) => Array.isArray(each) || (each instanceof Numbers && (each.shape.length || each.kind === "b"))))
      throw new CannotJudge("an index that is an array");
    const used = given.filter((each) => each !== null && each !== ELLIPSIS).length;
    if (used > x.shape.length)
      throw new Raised(`IndexError: too many indices for array: array is ${x.shape.length}-dimensional, but ${used} were indexed`, "index");
    const whole_ = { from: null, to: null, step: null };
    const rest = Array(x.shape.length - used).fill(whole_);
    const at = given.indexOf(ELLIPSIS);
    const items = at < 0 ? [...given, ...rest] : [...given.slice(0, at), ...rest, ...given.slice(at + 1)];
    const own = stridesOf(x.shape);
    let [axis, start] = [0, 0];
    const [shape, steps] = [[], []];
    for (const item of items) {
      if (item === null) {
        shape.push(1);
        steps.push(0);
        continue;
      }
      const size = x.shape[axis];
      if (item instanceof Numbers) {
        const place = whole(item, "an index");
        if (place < -size || place >= size)
          throw new Raised(`IndexError: index ${place} is out of bounds for axis ${axis} with size ${size}`, "index");
        start += ((place + size) % size) * own[axis];
      } else {
        const step = item.step === null ? 1 : whole(item.step, "a step");
        if (step === 0) throw new Raised("ValueError: slice step cannot be zero");
        const clip = (value, low, high) => Math.max(low, Math.min(high, value < 0 ? value + size : value));
        const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
        const from = item.from === null ? (step > 0 ? low : high) : clip(whole(item.from), low, high);
        const to = item.to === null ? (step > 0 ? high : low) : clip(whole(item.to), low, high);
        shape.push(Math.max(0, Math.ceil((to - from) / step)));
        steps.push(step * own[axis]);
        start += from * own[axis];
      }
      axis += 1;
    }
    return new Numbers(shape, gather(x, shape, steps, start), x.kind);
  }

  // A function: its parameters, each with what it is without an argument, and what it computes. `*` takes all that come.
  function callable(name, parameters, compute) {
    const known = parameters.split(" ").filter(Boolean).map((each) => each.split("="));
    const defaults = { None: null, False: false, 0: bare(0), 1: bare(1), "-1": bare(-1) };
    return {
      name,
      call(args, named) {
        if (known[0]?.[0] === "*") return compute(...args);
        const foreign = Object.keys(named).find((key) => !known.some(([own]) => own === key));
        if (foreign || args.length > known.length) throw new CannotJudge(`\`${name}\` with ${foreign ? `\`${foreign}=\`` : "so many arguments"}`);
        return compute(
          ...known.map(([own, otherwise], at) => {
            if (at < args.length) return args[at];
            if (own in named) return named[own];
            if (otherwise === undefined) throw new Raised(`TypeError: ${name}() missing a required argument: '${own}'`);
            return defaults[otherwise];
          }),
        );
      },
    };
  }

  const each = (compute) => (x) => apply(compute, "f", numbers(x));
  // [parameters, what it computes]; those in METHODS can also stand behind an array and a point.
  const FUNCTIONS = {
    exp: ["x", each(Math.exp)],
    sqrt: ["x", each(Math.sqrt)],
    log: ["x", each(Math.log)],
    tanh: ["x", each(Math.tanh)],
    abs: ["x", (x) => apply(Math.abs, numbers(x).kind, numbers(x))],
    square: ["x", (x) => apply((each) => each * each, counted(numbers(x)), numbers(x))],
    isnan: ["x", (x) => apply(Number.isNaN, "b", numbers(x))],
    logical_not: ["x", (x) => apply((a) => !a, "b", numbers(x))],
    add: ["x y", (x, y) => BINARY["+"](numbers(x), numbers(y))],
    subtract: ["x y", (x, y) => BINARY["-"](numbers(x), numbers(y))],
    multiply: ["x y", (x, y) => BINARY["*"](numbers(x), numbers(y))],
    divide: ["x y", (x, y) => BINARY["/"](numbers(x), numbers(y))],
    power: ["x y", (x, y) => power(numbers(x), numbers(y))],
    maximum: ["x y", (x, y) => apply((a, b) => Math.max(a, b), widest(numbers(x), numbers(y)), numbers(x), numbers(y))],
    minimum: ["x y", (x, y) => apply((a, b) => Math.min(a, b), widest(numbers(x), numbers(y)), numbers(x), numbers(y))],
    where: ["condition x y", (c, x, y) => apply((a, b, d) => (a ? b : d), widest(numbers(x), numbers(y)), numbers(c), numbers(x), numbers(y))],
    matmul: ["x y", (x, y) => matmul(numbers(x), numbers(y))],
    einsum: ["*", einsum],
    array: ["x", (x) => numbers(x)],
    asarray: ["x", (x) => numbers(x)],
    zeros: ["shape", (shape) => filled(shape, 0)],
    ones: ["shape", (shape) => filled(shape, 1)],
    zeros_like: ["x", (x) => filled(numbers(x).shape.map((size) => bare(size)), 0, x.kind)],
    ones_like: ["x", (x) => filled(numbers(x).shape.map((size) => bare(size)), 1, x.kind)],
    eye: ["n", (n) => triangle(whole(n), whole(n), 0, (away) => away === 0)],
    tri: ["n m=None k=0 dtype=None", (n, m, k, type) => {
      const made = triangle(whole(n), m === null ? whole(n) : whole(m), whole(k), (away, most) => away <= most);
      return type === null ? made : typed(made, type);
    }],
    tril: ["x k=0", (x, k) => triangled(numbers(x), k, (away, most) => away <= most)],
    triu: ["x k=0", (x, k) => triangled(numbers(x), k, (away, most) => away >= most)],
    expand_dims: ["x axis", (x, axis) => expanded(numbers(x), axis)],
    concatenate: ["x axis=0", (parts, axis) => joined(parts, axis)],
    stack: ["x axis=0", (parts, axis) => joined(parts.map((part) => expanded(numbers(part), axis)), axis)],
    split: ["x parts axis=0", (x, parts, axis) => parted(numbers(x), parts, axis)],
    sum: ["x axis=None keepdims=False", (x, axis, keepdims) => reduced(numbers(x), axis, keepdims, total, counted(numbers(x)))],
    mean: ["x axis=None keepdims=False", (x, axis, keepdims) => reduced(...averaged(x, axis), keepdims, mean, "f")],
    max: ["x axis=None keepdims=False", (x, axis, keepdims) => reduced(numbers(x), axis, keepdims, (all) => Math.max(...all), numbers(x).kind)],
    min: ["x axis=None keepdims=False", (x, axis, keepdims) => reduced(numbers(x), axis, keepdims, (all) => Math.min(...all), numbers(x).kind)],
    any: ["x axis=None keepdims=False", (x, axis, keepdims) => reduced(numbers(x), axis, keepdims, (all) => Number(all.some(Boolean)), "b")],
    all: ["x axis=None keepdims=False", (x, axis, keepdims) => reduced(numbers(x), axis, keepdims, (all) => Number(all.every(Boolean)), "b")],
    var: ["x axis=None ddof=0 keepdims=False", (x, axis, ddof, keepdims) => reduced(...averaged(x, axis), keepdims, (all) => variance(all, ddof.data[0]), "f")],
    std: ["x axis=None ddof=0 keepdims=False", (x, axis, ddof, keepdims) => reduced(...averaged(x, axis), keepdims, (all) => Math.sqrt(variance(all, ddof.data[0])), "f")],
    swapaxes: ["x axis1 axis2", (x, one, two) => {
      const [array, order] = [numbers(x), [...numbers(x).shape.keys()]];
      const [a, b] = axesOf([one, two], order.length);
      [order[a], order[b]] = [order[b], order[a]];
      return permuted(array, order);
    }],
    transpose: ["x axes=None", (x, axes) => {
      const array = numbers(x);
      const order = axes === null ? [...array.shape.keys()].reverse() : axesOf(axes, array.shape.length);
      if (order.length !== array.shape.length) throw new Raised("ValueError: axes don't match array", "axis");
      return permuted(array, order);
    }],
    reshape: ["x shape", (x, shape) => reshaped(numbers(x), Array.isArray(shape) ? shape : [shape])],
    repeat: ["x repeats axis", (x, repeats, axis) => {
      const [array, times] = [numbers(x), whole(repeats)];
      const [at] = axesOf(axis, array.shape.length);
      const parts = Array.from({ length: array.shape[at] }, (_, place) => indexed(array, array.shape.map((_, own) => (own === at ? { from: bare(place), to: bare(place + 1), step: null } : { from: null, to: null, step: null }))));
      return joined(parts.flatMap((part) => Array(times).fill(part)), bare(at));
    }],
  };
  for (const [alias, name] of [["amax", "max"], ["amin", "min"], ["dot", "matmul"]]) FUNCTIONS[alias] = FUNCTIONS[name];
  const METHODS = new Set("sum mean max min any all var std swapaxes dot repeat".split(" "));
  const scalar = (name, compute) =>
    callable(`math.${name}`, "x", (x) => {
      const value = numbers(x);
      if (value.size !== 1) throw new Raised("TypeError: only length-1 arrays can be converted to Python scalars", "scalar");
      const result = compute(value.data[0]);
      if (Number.isNaN(result) && !Number.isNaN(value.data[0])) throw new Raised("ValueError: math domain error");
      return bare(result, "f");
    });
  const TYPES = { bool: "bool", int: "int", float: "float" };
  const asModule = (name, members) => ({ module: name, members });
  const NAMES = {
    np: asModule("np", {
      ...Object.fromEntries(Object.entries(FUNCTIONS).map(([name, [parameters, compute]]) => [name, callable(`np.${name}`, parameters, (...given) => ofArray(compute(...given)))])),
      ...Object.fromEntries(["float32", "float64", "int32", "int64", "bool_"].map((type) => [type, { type }])),
      inf: bare(Infinity, "f"), nan: bare(NaN, "f"), pi: bare(Math.PI, "f"), e: bare(Math.E, "f"), newaxis: null,
    }),
    math: asModule("math", {
      sqrt: scalar("sqrt", Math.sqrt), exp: scalar("exp", Math.exp), log: scalar("log", Math.log),
      inf: bare(Infinity, "f"), nan: bare(NaN, "f"), pi: bare(Math.PI, "f"), e: bare(Math.E, "f"),
    }),
    softmax: callable("softmax", "x axis=None", (x, axis) => softmax(numbers(x), axis)),
    abs: callable("abs", ...FUNCTIONS.abs),
    len: callable("len", "x", (x) => bare(Array.isArray(x) ? x.length : numbers(x).shape[0])),
    ...Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, { type }])),
  };

  function attribute(value, name) {
    if (value?.module) {
      if (!(name in value.members)) throw new CannotJudge(`\`${value.module}.${name}\` is not known here`);
      return value.members[name];
    }
    if (!(value instanceof Numbers)) throw new CannotJudge(`\`.${name}\` behind something that is no array`);
    const simple = {
      shape: () => value.shape.map((size) => bare(size)),
      ndim: () => bare(value.shape.length),
      size: () => bare(value.size),
      T: () => permuted(value, [...value.shape.keys()].reverse()),
      mT: () => FUNCTIONS.swapaxes[1](value, bare(-1), bare(-2)),
      reshape: () => callable("reshape", "*", (...given) => reshaped(value, shapeOf(given))),
      transpose: () => callable("transpose", "*", (...given) => FUNCTIONS.transpose[1](value, given.length ? shapeOf(given) : null)),
      astype: () => callable("astype", "type", (type) => typed(value, type)),
      copy: () => callable("copy", "", () => new Numbers(value.shape, [...value.data], value.kind)),
    };
    if (Object.hasOwn(simple, name)) return simple[name]();
    if (!METHODS.has(name)) throw new CannotJudge(`\`.${name}\` is not known here`);
    const [parameters, compute] = FUNCTIONS[name];
    return callable(name, parameters.split(" ").slice(1).join(" "), (...given) => compute(value, ...given));
  }

  const TOKEN = /\s*(?:(#[^\n]*)|((?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|('[^'\n]*'|"[^"\n]*")|(\.\.\.|(?:\*\*|\/\/|[-+*/@%&|^])=|\*\*|\/\/|<=|>=|==|!=|[-+*/@%&|^~<>=()[\],.:]))/y;
  const WORDS = new Set("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(" "));
  const LEVELS = [["<", ">", "<=", ">=", "==", "!="], ["|"], ["^"], ["&"], ["+", "-"], ["*", "/", "//", "%", "@"]];

  function tokens(text) {
    const found = [];
    TOKEN.lastIndex = 0;
    const end = text.trimEnd().length;
    while (TOKEN.lastIndex < end) {
      const from = TOKEN.lastIndex;
      const match = TOKEN.exec(text);
      if (!match) throw new CannotJudge(`the sign “${text.slice(from).trim()[0]}” is not understood here`);
      const [, comment, number, name, string, sign] = match;
      if (comment) continue;
      if (name && WORDS.has(name)) throw new CannotJudge(`the word \`${name}\` is not understood here`);
      found.push(number ? { number } : name ? { name } : string ? { string: string.slice(1, -1) } : { sign });
    }
    return found;
  }

  // Statements, parted by line ends and semicolons; what stands in open brackets goes on in the next line.
  function split(text) {
    const parts = [];
    text.split("\n").forEach((line, at) => {
      const last = parts.at(-1);
      const open = last && [...last.text.replace(/#.*/g, "")].reduce((depth, sign) => depth + "([".includes(sign) - ")]".includes(sign), 0) > 0;
      if (open) last.text += `\n${line}`;
      else if (line.trim() && !line.trim().startsWith("#")) parts.push({ line: at + 1, text: line });
    });
    return parts.flatMap(({ line, text }) => text.split(";").flatMap((each) => (each.trim() ? [{ line, text: each }] : [])));
  }

  // A statement as {line, defines, names, run(scope)}. Parsing makes functions of a scope; running calls them.
  function parse({ line, text }) {
    const all = tokens(text);
    const names = new Set();
    let at = 0;
    const is = (...signs) => all[at] && "sign" in all[at] && signs.includes(all[at].sign);
    const take = (sign) => {
      if (!is(sign)) throw new CannotJudge(all[at] ? `“${sign}” is expected before “${Object.values(all[at])[0]}”` : `“${sign}” is missing at the end`);
      at += 1;
    };

    function level(which) {
      if (which === LEVELS.length) return signed();
      let left = level(which + 1);
      while (is(...LEVELS[which])) {
        const { sign } = all[at++];
        const [one, two] = [left, level(which + 1)];
        left = (scope) => {
          const [x, y] = [one(scope), two(scope)];
          if (sign === "+" && Array.isArray(x) && Array.isArray(y)) return [...x, ...y];
          return BINARY[sign](numbers(x), numbers(y));
        };
        if (which === 0 && is(...LEVELS[0])) throw new CannotJudge("two comparisons in a row");
      }
      return left;
    }

    function signed() {
      if (!is("-", "+", "~")) return raised();
      const { sign } = all[at++];
      const inner = signed();
      return (scope) => UNARY[sign](numbers(inner(scope)));
    }

    function raised() {
      const base = postfix();
      if (!is("**")) return base;
      at += 1;
      const exponent = signed();
      return (scope) => power(numbers(base(scope)), numbers(exponent(scope)));
    }

    function postfix() {
      let value = atom();
      while (is("(", "[", ".")) {
        const { sign } = all[at++];
        const inner = value;
        if (sign === ".") {
          const { name } = all[at++] ?? {};
          if (!name) throw new CannotJudge("a name is missing behind the point");
          value = (scope) => attribute(inner(scope), name);
        } else if (sign === "(") {
          const given = listed(")", argument);
          value = (scope) => called(inner(scope), given, scope);
        } else {
          const items = listed("]", sliced);
          value = (scope) => {
            const [object, index] = [inner(scope), items.map((each) => each.value(scope))];
            if (!Array.isArray(object)) return indexed(numbers(object), index);
            const { from, to } = index[0];
            if (!(index[0] instanceof Numbers)) return object.slice(from ? whole(from) : 0, to ? whole(to) : object.length);
            const place = whole(index[0]);
            if (place < -object.length || place >= object.length) throw new Raised("IndexError: tuple index out of range", "index");
            return object.at(place);
          };
        }
      }
      return value;
    }

    function called(target, given, scope) {
      const [args, named] = [[], {}];
      for (const { name, value, spreads } of given) {
        const found = value(scope);
        if (name) named[name] = found;
        else args.push(...(spreads ? found : [found]));
      }
      if (target?.type && args.length === 1) return typed(numbers(args[0]), target);
      if (!target?.call) throw new CannotJudge("a call of something that is no function");
      return target.call(args, named);
    }

    // What stands between brackets, parted by commas.
    function listed(end, item) {
      const found = [];
      while (!is(end)) {
        found.push(item());
        if (!is(end)) take(",");
      }
      take(end);
      return found;
    }

    function argument() {
      if (is("*")) {
        at += 1;
        return { spreads: true, value: level(0) };
      }
      if (all[at]?.name && all[at + 1]?.sign === "=") {
        const { name } = all[at];
        at += 2;
        return { name, value: level(0) };
      }
      return { value: level(0) };
    }

    function sliced() {
      if (is("...")) {
        at += 1;
        return { value: () => ELLIPSIS };
      }
      const bounds = [];
      let colons = 0;
      while (!is("]", ",")) {
        if (is(":")) {
          at += 1;
          colons += 1;
        } else bounds[colons] = level(0);
      }
      if (!colons) return { value: bounds[0] };
      return { value: (scope) => Object.fromEntries(["from", "to", "step"].map((key, which) => [key, bounds[which]?.(scope) ?? null])) };
    }

    function atom() {
      const token = all[at++];
      if (!token) throw new CannotJudge("it ends too early");
      if ("number" in token) {
        const value = Number(token.number.replaceAll("_", ""));
        const kind = /[.eE]/.test(token.number) ? "f" : "i";
        return () => bare(value, kind);
      }
      if ("string" in token) return () => token.string;
      if (token.name === "None") return () => null;
      if (token.name === "True" || token.name === "False") return () => bare(Number(token.name === "True"), "b");
      if (token.name) {
        names.add(token.name);
        return (scope) => {
          if (Object.hasOwn(scope, token.name)) return scope[token.name];
          if (Object.hasOwn(NAMES, token.name)) return NAMES[token.name];
          throw new CannotJudge(`\`${token.name}\` is not known here`);
        };
      }
      if (token.sign === "(") {
        const items = [];
        let isTuple = is(")");
        while (!is(")")) {
          items.push(level(0));
          if (is(",")) {
            at += 1;
            isTuple = true;
          } else break;
        }
        take(")");
        return isTuple ? (scope) => items.map((each) => each(scope)) : items[0];
      }
      if (token.sign === "[") {
        const items = listed("]", () => level(0));
        return (scope) => items.map((each) => each(scope));
      }
      throw new CannotJudge(`“${token.sign}” is not expected here`);
    }

    const equals = all.findIndex((token) => /^(?!==|!=|<=|>=).*=$/.test(token.sign ?? ""));
    const targets = [];
    let place = null;
    if (!all[0]?.name) throw new CannotJudge("a line begins with the name of what it defines");
    while (all[at]?.name && (all[at + 1]?.sign === "," || all[at + 1]?.sign.endsWith("=") || all[at + 1]?.sign === "[")) {
      targets.push(all[at].name);
      at += 1;
      if (!is(",")) break;
      at += 1;
    }
    if (is("[") && targets.length === 1 && equals > 0) {
      at += 1;
      place = listed("]", sliced);
    }
    if (!is("=", ...Object.keys(BINARY).map((sign) => `${sign}=`)) || !targets.length)
      throw new CannotJudge("a line has the form `name = …`");
    const sign = all[at++].sign.slice(0, -1);
    if (sign || place) names.add(targets[0]);
    const items = [level(0)];
    while (is(",")) {
      at += 1;
      items.push(level(0));
    }
    const value = items.length > 1 ? (scope) => items.map((each) => each(scope)) : items[0];
    if (all[at]) throw new CannotJudge(`“${Object.values(all[at])[0]}” is not expected here`);
    const defines = targets;
    return {
      line,
      names,
      defines,
      run(scope) {
        let found = value(scope);
        if (place) {
          assign(scope, targets[0], place.map((each) => each.value(scope)), numbers(found), sign);
          return;
        }
        if (sign) {
          if (!Object.hasOwn(scope, targets[0])) throw new CannotJudge(`\`${targets[0]}\` is not known here`);
          found = BINARY[sign](numbers(scope[targets[0]]), numbers(found));
        }
        if (targets.length === 1) scope[targets[0]] = found;
        else {
          if (!Array.isArray(found) || found.length !== targets.length)
            throw new Raised(`ValueError: not ${targets.length} values to unpack`);
          targets.forEach((name, which) => (scope[name] = found[which]));
        }
      },
    };
  }

  // `name[mask] = value`, for a mask of the array's own shape.
  function assign(scope, name, index, value, sign) {
    const array = scope[name];
    const [mask] = index;
    if (sign || !(array instanceof Numbers) || !(mask instanceof Numbers) || mask.kind !== "b" || index.length > 1 || value.size !== 1)
      throw new CannotJudge("an assignment to a part of an array, other than one number where a mask is True,");
    if (String(mask.shape) !== String(array.shape))
      throw new Raised(`IndexError: boolean index did not match indexed array; its shape is ${tupled(array.shape)} but the mask's is ${tupled(mask.shape)}`, "mask");
    mask.data.forEach((chosen, at) => {
      if (chosen) array.data[at] = value.data[0];
    });
  }

  // All lines of a text, ready to run. Errors know their line.
  function read(text) {
    return split(text).map((part) => located(part.line, () => parse(part)));
  }

  function located(line, act) {
    try {
      return act();
    } catch (error) {
      if (error instanceof RangeError) error = new CannotJudge("this is nested too deeply");
      error.line ??= line;
      throw error;
    }
  }

  // Run statements on named values; the scope that they leave.
  function run(statements, given) {
    const scope = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value instanceof Numbers ? new Numbers(value.shape, [...value.data], value.kind, value.bare) : value]));
    for (const statement of statements) located(statement.line, () => statement.run(scope));
    return scope;
  }

  globalThis.arrayLines = { CannotJudge, Numbers, Raised, bare, count, indexed, read, reduced, run, tupled };
})();
