// What the check of a lab says of lines that a reader writes: they are computed in the page on the lab's visible cases, and
// judged as `coursekit.check` judges a function.
(() => {
  const { CannotJudge, Numbers, Raised, bare, count, indexed, read, run, tupled } = globalThis.arrayLines;
  const LONGEST = 2000; // signs
  const PRINTS = 32; // numbers that tell one mistake from another
  const ROUNDED = 1e-5; // the share of a value by which float32 may round it

  const isFinite = Number.isFinite;

  // Like "%.6g".
  function short(value) {
    if (!isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    const exponent = value === 0 ? 0 : Number(value.toExponential(5).split("e")[1]);
    if (exponent >= -4 && exponent < 6) return String(Number(value.toPrecision(6)));
    const [digits, power] = value.toExponential(5).split("e");
    return `${Number(digits)}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }

  const shown = (shape) => tupled(shape).replaceAll(",", ", ").replace(", )", ",)");

  function nameOf(name, shape, at) {
    const place = shape.map((size, axis) => Math.floor(at / count(shape.slice(axis + 1))) % size);
    return shape.length ? `\`${name}[${place.join(", ")}]\`` : `\`${name}\``;
  }

  // How a result differs first from what is right, as a sentence and a kind; null where it agrees.
  function difference(name, actual, right, limit) {
    if (!(actual instanceof Numbers)) return { text: `\`${name}\` is no array of numbers.`, kind: "shape" };
    if (String(actual.shape) !== String(right.shape))
      return { text: `\`${name}\` has shape ${shown(actual.shape)}; expected ${shown(right.shape)}.`, kind: "shape" };
    const all = [...actual.data];
    const odd = all.map((each, at) => !isFinite(each) && Math.abs(right.data[at]) !== Infinity);
    if (odd.includes(true)) {
      const at = odd.indexOf(true);
      const said = `is ${short(all[at])}: ${odd.filter(Boolean).length} of ${all.length} values are not finite.`;
      return { text: `${nameOf(name, actual.shape, at)} ${said}`, kind: "nan" };
    }
    const apart = all.map((each, at) => {
      const value = right.data[at];
      return !(Math.abs(each - value) <= limit || each === value || Number.isNaN(value));
    });
    if (!apart.includes(true)) return null;
    const at = apart.indexOf(true);
    const said = `is ${short(all[at])}, expected ${short(right.data[at])}`;
    const many = all.length > 1 ? `; ${apart.filter(Boolean).length} of ${all.length} values differ.` : ".";
    return { text: `${nameOf(name, actual.shape, at)} ${said}${many}`, kind: "value" };
  }

  const PROPERTIES = {
    "rows are distributions": ({ weights }) => {
      if (!weights.shape.length || weights.data.some((each) => each < -1e-6)) return "some weights are negative.";
      const size = weights.shape.at(-1);
      const sums = Array.from({ length: weights.size / size }, (_, row) =>
        weights.data.slice(row * size, (row + 1) * size).reduce((all, each) => all + each, 0),
      );
      const bad = sums.filter((each) => Math.abs(each - 1) > 1e-4 && Math.abs(each) > 1e-6);
      return bad.length
        ? `the weights of ${bad.length} of ${sums.length} queries sum to ${Number(bad[0].toPrecision(4))}, not to 1.`
        : null;
    },
  };

  // What is wrong first in a case; null if nothing is.
  function problem(one, { outputs, raised }) {
    if (raised) return { text: raised.message, kind: "error", like: raised.like };
    for (const [name, right] of Object.entries(one.expected)) {
      const found = difference(name, outputs[name], right, one.tolerance[name] ?? 0);
      if (found) return found;
    }
    const lack = one.property && PROPERTIES[one.property](outputs);
    return lack ? { text: lack, kind: "value" } : null;
  }

  const printed = (data) => {
    if (data.length <= PRINTS) return [...data];
    const step = (data.length - 1) / (PRINTS - 1);
    return Array.from({ length: PRINTS }, (_, at) => data[at === PRINTS - 1 ? data.length - 1 : Math.floor(at * step)]);
  };

  // Whether results are those of a mistake, which are known by their shapes and some of their numbers.
  function resembles(one, outputs, wrong) {
    return Object.entries(wrong).every(([name, { shape, data }]) => {
      const value = outputs[name];
      if (!(value instanceof Numbers) || String(value.shape) !== String(shape)) return false;
      const limit = one.tolerance[name] ?? 0;
      const own = printed(value.data);
      const right = one.expected[name];
      const free = right && String(right.shape) === String(shape) ? printed(right.data) : [];
      const near = own.map((each, at) => {
        const wanted = data[at];
        return Math.abs(each - wanted) <= limit + (limit && isFinite(wanted) ? ROUNDED * Math.abs(wanted) : 0);
      });
      if (near.every(Boolean)) return true;
      return own.every(
        (each, at) =>
          near[at] || each === data[at] || (Number.isNaN(each) && Number.isNaN(data[at])) || Number.isNaN(free[at]),
      );
    });
  }

  // Whether results are wrong only where any number is right.
  function wrongWhereFree(one, outputs) {
    let some = false;
    return (
      Object.entries(one.expected).every(([name, right]) => {
        const value = outputs[name];
        if (!(value instanceof Numbers) || String(value.shape) !== String(right.shape)) return false;
        some ||= right.data.some(Number.isNaN);
        const filled = (data) => new Numbers(right.shape, [...data].map((each, at) => (Number.isNaN(right.data[at]) ? 0 : each)));
        return !difference(name, filled(value.data), filled(right.data), one.tolerance[name] ?? 0);
      }) && some
    );
  }

  const agrees = (one, outputs) =>
    Object.entries(one.expected).every(([name, right]) => !difference(name, outputs[name], right, one.tolerance[name] ?? 0));

  // The mistake that explains the results: `coursekit.check.diagnosis.diagnose`.
  function diagnose(ids, cases, attempts) {
    const ran = cases.map((one, at) => ({ ...one, outputs: attempts[at].outputs })).filter(({ outputs }) => outputs);
    const failing = ran.filter((one) => !agrees(one, one.outputs));
    const telling = failing.filter((one) => !wrongWhereFree(one, one.outputs));
    const silent = failing.filter((one) => !telling.includes(one));
    const groups = [...new Set(cases.map(({ group }) => group))].map((name) =>
      ran.filter((one) => one.group === name && !silent.includes(one)),
    );
    const isKnown = (wrong) => Boolean(wrong) && Object.values(wrong).every(({ data }) => [...data].every(isFinite));
    let [best, most] = ["", -1];
    for (const id of ids) {
      const explained = failing.filter((one) => id in one.wrong && resembles(one, one.outputs, one.wrong[id]));
      if (!explained.length) continue;
      const speakForIt = explained.length - ran.filter((one) => id in one.wrong && !failing.includes(one)).length;
      const fits = groups.every((group) => {
        const wrong = group.filter((one) => telling.includes(one));
        return (wrong.length ? wrong : group).some((one) => id in one.wrong) === wrong.length > 0;
      });
      if (speakForIt <= most || !fits) continue;
      const known = telling.filter((one) => isKnown(one.wrong[id]));
      const unexplained = known.filter((one) => !explained.includes(one)).length;
      const eachGroup = groups.every((group) => {
        const mine = known.filter((one) => group.includes(one));
        return 2 * mine.filter((one) => explained.includes(one)).length >= mine.length;
      });
      if (4 * unexplained <= known.length || eachGroup) [best, most] = [id, speakForIt];
    }
    return best;
  }

  // The lines on the inputs of a case: once, or for each sentence of a batch, whose results are stacked.
  function compute(told, statements, inputs) {
    const results = (scope) =>
      Object.fromEntries(
        Object.entries(told.results).map(([name, own]) => {
          if (!(own in scope)) throw new CannotJudge(`no line defines \`${own}\``);
          return [name, scope[own]];
        }),
      );
    const setUp = (given) => run(read(told.before), given);
    if (!told.sentence) return results(run(statements, setUp(inputs)));
    const lead = Object.values(inputs)[0].shape.slice(0, -2);
    const scopes = Array.from({ length: count(lead) }, (_, at) => {
      const place = lead.map((size, axis) => Math.floor(at / count(lead.slice(axis + 1))) % size);
      const own = Object.entries(inputs).map(([name, value]) => {
        return [name, indexed(value, place.map((item) => bare(item)))];
      });
      return results(run(statements, setUp(Object.fromEntries(own))));
    });
    return Object.fromEntries(
      Object.keys(told.results).map((name) => {
        const parts = scopes.map((each) => each[name]);
        if (!parts.every((part) => part instanceof Numbers)) return [name, null];
        return [name, new Numbers([...lead, ...parts[0].shape], parts.flatMap((part) => [...part.data]), parts[0].kind)];
      }),
    );
  }

  // What is left of the lines where an input that may be missing is missing; null if something that they need is lost.
  function without(statements, name, given) {
    const left = statements.filter(({ names }) => !names.has(name));
    const lost = statements.filter((each) => !left.includes(each)).flatMap(({ defines }) => defines);
    const there = new Set(given);
    for (const { names, defines } of left) {
      if ([...names].some((each) => lost.includes(each) && !there.has(each))) return null;
      defines.forEach((each) => there.add(each));
    }
    return lost.every((each) => there.has(each)) ? left : null;
  }

  // Judge a text: {status, …}. `told` are the data that the course exports for an exercise.
  function judge(told, text) {
    try {
      if (text.length > LONGEST) throw new CannotJudge(`more than ${LONGEST} signs are not read`);
      const statements = read(text);
      if (!statements.length) throw new CannotJudge("nothing is written");
      const some = told.optional && without(statements, told.optional, told.given);
      const all = told.cases.filter((one) => !told.optional || some || told.optional in one.inputs);
      const attempts = all.map((one) => {
        try {
          const lines = !told.optional || told.optional in one.inputs ? statements : some;
          return { outputs: compute(told, lines, one.inputs) };
        } catch (error) {
          if (error instanceof Raised) return { raised: error };
          throw error;
        }
      });
      const problems = all.map((one, at) => problem(one, attempts[at]));
      const groups = told.groups
        .map((group) => ({ ...group, passed: !all.some((one, at) => one.group === group.name && problems[at]) }))
        .filter(({ name }) => all.some((one) => one.group === name));
      const failed = [...problems.keys()].filter((at) => problems[at]);
      if (!failed.length) return { status: "right", groups, reduced: all.length < told.cases.length };
      const group = groups.find(({ passed }) => !passed);
      const size = (at) => Object.values(all[at].inputs).reduce((sum, each) => sum + each.size, 0);
      const smallest = failed
        .filter((at) => all[at].group === group.name)
        .reduce((least, at) => (size(at) < size(least) ? at : least));
      const first = problems[smallest];
      const id = diagnose(Object.keys(told.sentences), all, attempts);
      const advice = told.meanings[first.like] ?? group.advice[first.kind] ?? "";
      const line = attempts[smallest].raised?.line;
      return { status: "wrong", id, groups, line, group, description: all[smallest].description, message: first.text, advice };
    } catch (error) {
      if (error instanceof CannotJudge) return { status: "unclear", line: error.line, message: error.message };
      throw error;
    }
  }

  // What the course exports holds its arrays as places in one row of float32 numbers.
  function unpack(told) {
    const bytes = Uint8Array.from(atob(told.numbers), (sign) => sign.charCodeAt(0));
    const row = new Float32Array(bytes.buffer);
    const unpacked = (each) => {
      if (typeof each === "number") return bare(each);
      const [start, size, shape, kind] = each;
      return new Numbers(shape, [...row.slice(start, start + size)], kind);
    };
    const named = (group) => Object.fromEntries(Object.entries(group).map(([name, each]) => [name, unpacked(each)]));
    const prints = (group) =>
      Object.fromEntries(Object.entries(group).map(([name, [start, size, shape]]) => [name, { shape, data: row.slice(start, start + size) }]));
    const cases = told.cases.map((one) => ({
      ...one,
      inputs: named(one.inputs),
      expected: named(one.expected),
      wrong: Object.fromEntries(Object.entries(one.wrong).map(([id, group]) => [id, prints(group)])),
    }));
    return { ...told, cases };
  }

  globalThis.courseMistakes = { compute, judge, unpack };
})();
