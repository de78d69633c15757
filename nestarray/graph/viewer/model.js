// The model of one graph: groups and boxes as a tree, edges between the items of each group, and
// their text and colors. The files model.js, layout.js and viewer.js are one script.
"use strict";

const data = JSON.parse(document.getElementById("graph").textContent);

// -- the model: groups and boxes as a tree, edges between the items of each group ---------------

const groups = data.groups.map((group, number) => ({
  ...group, number, isGroup: true, isOpen: false, items: [], calls: 0, parameters: 0,
  edges: new Map(), entries: new Map(), exits: new Map(), worst: null, first: Infinity,
}));
const boxes = data.boxes.map((box, number) => ({...box, number, isGroup: false, readers: []}));
const root = groups[0];
for (const group of groups) {
  group.around = groups[group.parent];
  group.around?.items.push(group);
}
for (const box of boxes) {
  box.around = groups[box.group];
  box.item = box;  // the group, for a call with bodies
}
for (const group of groups) if (group.box >= 0) boxes[group.box].item = group;
for (const box of boxes) {
  if (box.item === box) box.around.items.push(box);
  box.first = box.number;
  for (const number of box.inputs) boxes[number].readers.push(box);
}

const ancestors = item => {
  const found = [];
  for (let group = item.around; group; group = group.around) found.push(group);
  return found;
};

const parametersIn = list => list.filter(v => v.source === "v").reduce((sum, v) => sum + v.size, 0);
{
  const counted = new Map();  // a tied parameter counts once in each group
  for (const box of boxes) {
    for (const group of [...(box.item.isGroup ? [box.item] : []), ...ancestors(box.item)]) {
      group.first = Math.min(group.first, box.number);
      if (box.call) group.calls += 1;
      if (!counted.has(group)) counted.set(group, new Map());
      for (const v of box.variables) if (v.source === "v") counted.get(group).set(v.path, v.size);
      if (box.error && (!group.worst || badness(box.error) > badness(group.worst))) group.worst = box.error;
    }
  }
  for (const [group, sizes] of counted) group.parameters = [...sizes.values()].reduce((a, b) => a + b, 0);
}
for (const group of groups) group.items.sort((a, b) => a.first - b.first);

// An edge belongs to the innermost group around both ends. It passes the frames of the groups
// between that one and its ends: entries and exits, by the box whose value it carries.
for (const reader of boxes) {
  for (const number of reader.inputs) {
    const source = boxes[number];
    const up = [source.item, ...ancestors(source.item)], down = [reader.item, ...ancestors(reader.item)];
    const shared = up.find((group, i) => i > 0 && down.indexOf(group) > 0);
    const from = up[up.indexOf(shared) - 1], to = down[down.indexOf(shared) - 1];
    if (from === to) continue;
    addEdge(shared.edges, source, from, to, reader);
    for (let i = 1; i < up.indexOf(shared); i++) addEdge(up[i].exits, source, up[i - 1], null, reader);
    for (let i = 1; i < down.indexOf(shared); i++) addEdge(down[i].entries, source, null, down[i - 1], reader);
  }
}
function addEdge(edges, source, from, to, reader) {
  const key = `${source.number} ${to ? (to.isGroup ? "g" : "b") + to.number : ""}`;
  if (!edges.has(key)) edges.set(key, {source, from, to, readers: new Set()});
  edges.get(key).readers.add(reader);
}

// -- text and colors ----------------------------------------------------------------------------

const short = name => name.slice(name.lastIndexOf(".") + 1);
const readable = count => {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
    if (count >= size) return `${Number((count / size).toPrecision(3))} ${unit}`;
  return `${count}`;
};
const bytes = count => {
  let unit = 0;
  while (count >= 1023.95 && unit < 4) { count /= 1024; unit += 1; }
  return `${unit ? count.toFixed(1) : count} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
};
const commonType = (() => {
  const counts = {};
  for (const box of boxes) counts[box.type?.split("[")[0]] = (counts[box.type?.split("[")[0]] || 0) + 1;
  return Object.entries(counts).sort((a, b) => b[1] - a[1])[0]?.[0];
})();
function shapeOf(box) {  // 1×64×56×56, with the dtype if it is not the usual one
  const match = /^(\w+)\[([^\]]*)\]$/.exec(box.type || "");
  if (!match) return "";
  const shape = match[2] ? match[2].split(", ").join("×") : "scalar";
  return match[1] === commonType ? shape : `${match[1]} ${shape}`;
}
function titleOf(item) {
  if (item.isGroup) return item.name;
  if (!item.call) return item.name;
  const index = item.op === "getitem" && /\[[^[\]]*\]$/.exec(item.call);
  return index ? index[0] : short(item.op);
}
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
function subtitleOf(item) {
  if (!item.isGroup && !item.call) return clip(item.type || "", 30);
  if (!item.isGroup) {
    const size = parametersIn(item.variables);
    const parts = [clip(item.label || "", 30), size && `${readable(size)} parameters`, item.is_random && "random", item.writes && "new state"];
    return parts.filter(Boolean).join(" · ");
  }
  if (item.kind === "arguments") return plural(item.items.length, "array");
  return plural(item.calls, "call") + (item.parameters ? ` · ${readable(item.parameters)} parameters` : "");
}

const FAMILIES = [
  ["input", "input, output", null],
  ["attention", "attention", /attention/],
  ["norm", "normalization", /norm/],
  ["product", "products", /conv(?!ert)|linear|matmul|^mm$|bmm|dot|einsum|addmm|lstm|gru|rnn/],
  ["activation", "activations", /relu|gelu|silu|swish|mish|sigmoid|tanh|softmax|softplus|elu$|hard|logistic|erf/],
  ["random", "random", /rand|dropout|bernoulli|normal$|uniform/],
  ["lookup", "lookup", /embed|gather|take|index|scatter|one_hot|where|select_n/],
  ["reduction", "reductions", /pool|sum|mean|max|min|prod|var|std|arg|reduce|all$|any$|norm$|sort|topk/],
  ["shape", "shapes", /shape|view|transpose|permute|swap|move|cat|stack|split|chunk|slice|getitem|expand|squeeze|broadcast|flatten|pad|roll|flip|tile|repeat|narrow|select|unbind|clone|astype|^to$|type|identity|contiguous|copy/],
  ["other", "other", /./],
];
function familyOf(item) {
  if (item.isGroup) return "module";
  if (!item.call) return "input";
  const name = short(item.op);
  return FAMILIES.slice(1).find(([, , pattern]) => pattern.test(name))[0];
}
const GRADES = [
  ["exact", "equal"], ["small", "within 1 % of the tolerance"], ["rounding", "within the tolerance"],
  ["passed", "over the tolerance, from rounding or earlier calls"], ["fault", "differs"], ["unknown", "not compared"],
];
function badness(error) {
  if (!error.ok) return error.is_at_fault ? 5 : 3;
  if (error.error === 0) return 0;
  const relative = Number(error.relative === "inf" ? Infinity : error.relative);
  if (relative > error.tolerance) return 3;
  return relative <= error.tolerance / 100 ? 1 : 2;
}
function gradeOf(item) {
  const error = item.isGroup ? item.worst : item.error;
  return error ? ["exact", "small", "rounding", "passed", "passed", "fault"][badness(error)] : "unknown";
}
const hasErrors = boxes.some(box => box.error);
let colors = hasErrors ? "errors" : "operations";
const colorOf = item => colors === "errors" ? gradeOf(item) : familyOf(item);

const measure = document.createElement("canvas").getContext("2d");
const widths = new Map();
function widthOf(text, font) {
  const key = font + text;
  if (!widths.has(key)) {
    measure.font = `${font} ${getComputedStyle(document.documentElement).fontFamily}`;
    widths.set(key, measure.measureText(text).width);
  }
  return widths.get(key);
}
const clip = (text, most) => text.length > most ? `${text.slice(0, most / 2)}…${text.slice(-most / 2 + 1)}` : text;
