// A model's parameters, fetched once: name -> shape and numbers, all in float32; and what else its description says.

// Half-precision numbers as numbers; browsers that know the type themselves are too new to rely on.
function fromHalf(bits) {
  const table = new Float32Array(1 << 16);
  for (let each = 0; each < table.length; each += 1) {
    const exponent = (each >> 10) & 31;
    const fraction = each & 1023;
    const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
    table[each] = each >> 15 ? -size : size;
  }
  const values = new Float32Array(bits.length);
  for (let at = 0; at < bits.length; at += 1) values[at] = table[bits[at]];
  return values;
}

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer;
}

// `name` is that of the two files, such as "small_bert"; where the description is a record, its results are meant.
export async function load(folder, name) {
  const [header, bytes] = await Promise.all([
    fetched(new URL(`${name}.json`, folder)).then((answer) => answer.json()),
    fetched(new URL(`${name}.bin`, folder)).then((answer) => answer.arrayBuffer()),
  ]);
  const told = header.results ?? header;
  const arrays = {};
  for (const [array, { shape, type, start }] of Object.entries(told.arrays)) {
    const size = shape.reduce((all, each) => all * each, 1);
    const values =
      type === "float16"
        ? fromHalf(new Uint16Array(bytes.slice(start, start + 2 * size)))
        : new Float32Array(bytes.slice(start, start + 4 * size));
    arrays[array] = { shape, values };
  }
  return { ...told, arrays };
}
