// The diagram in the page: drawing, selection and details, search, pan and zoom, keys. Only boxes
// in the window are elements of the page; far away, all boxes of a color are one path. Text of the
// graph is set as textContent only.

// -- drawing ------------------------------------------------------------------------------------

const byId = id => document.getElementById(id);
const svg = byId("diagram"), world = byId("world");
const view = {x: 0, y: 0, k: 1};
let selected = null, hits = new Set(), isFar = false, waiting = false;
const drawn = new Map();  // key → element

function element(tag, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
function redraw(isNew = true) {
  if (isNew) clear();
  if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); }
}
function clear() {
  drawn.clear();
  for (const id of ["groups", "edges", "boxes", "labels"]) byId(id).replaceChildren();
}
function draw() {
  world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
  const {width, height} = svg.getBoundingClientRect(), margin = 80 / view.k;
  const left = -view.x / view.k - margin, top = -view.y / view.k - margin;
  const right = left + width / view.k + 2 * margin, bottom = top + height / view.k + 2 * margin;
  const inWindow = p => p.x < right && p.x + p.w > left && p.y < bottom && p.y + p.h > top;
  const seen = scene.boxes.filter(inWindow);
  const far = view.k < .22 || seen.length > 700;
  if (far !== isFar) { clear(); isFar = far; }
  if (far) drawFar();
  else {
    const kept = new Set();
    const show = (key, parent, make) => {
      kept.add(key);
      if (!drawn.has(key)) { const made = make(); drawn.set(key, made); byId(parent).append(made); }
    };
    scene.frames.forEach(p => inWindow(p) && p.item !== root && show(`g${p.item.number}`, "groups", () => frame(p)));
    seen.forEach(p => show(`${p.item.isGroup ? "g" : "b"}${p.item.number}`, "boxes", () => box(p)));
    scene.wires.forEach((w, i) => {
      if (w.left > right || w.right < left || w.top > bottom || w.bottom < top) return;
      show(`w${i}`, "edges", () => wire(w));
      if (w.label) show(`l${i}`, "labels", () => element("text", {x: w.x + 5, y: w.y + 14}, w.label));
    });
    for (const [key, made] of drawn) if (!kept.has(key)) { made.remove(); drawn.delete(key); }
  }
  drawMap();
}
const named = (group, item) => {
  group.dataset.name = item.isGroup ? item.path || item.name : item.name;
  group.append(element("title", {}, item.isGroup ? `${item.path || item.name}\n${subtitleOf(item)}` : `${item.name} = ${item.op}\n${item.type || ""}\n${item.line || ""}`));
  return group;
};
function frame({item, x, y, w, h}) {
  const group = element("g", {class: `group ${item.kind}${item === selected ? " selected" : ""}`, transform: `translate(${x} ${y})`});
  const text = element("text", {x: 12, y: 18}, `▾ ${clip(item.name, 40)} `);
  text.append(element("tspan", {}, item.kind === "body" ? "" : subtitleOf(item)));
  group.append(element("rect", {width: w, height: h, rx: 10}), text);
  return named(group, item);
}
function box({item, x, y, w, h}) {
  const color = colorOf(item), {title, sub} = sizeOf(item);
  const isErring = colors === "errors" && item.isGroup && item.worst;
  const classes = ["box", item.isGroup ? "module" : "", item.op === "input" || item.op === "output" ? item.op : "",
    item === selected ? "selected" : "", hits.has(item) ? "hit" : "", isErring ? "erring" : "", gradeOf(item) === "fault" && colors === "errors" ? "at-fault" : ""];
  const group = element("g", {class: classes.filter(Boolean).join(" "), transform: `translate(${x} ${y})`, style: `--c: var(--${item.isGroup && !isErring ? "group-line" : color})`});
  if (item.isGroup) group.append(element("rect", {class: "back", x: 4, y: 4, width: w, height: h, rx: 9}));
  const round = item.isGroup ? 9 : item.call ? 7 : 14;
  group.append(element("rect", {class: "main", width: w, height: h, rx: round}));
  if (!item.isGroup || isErring) group.append(element("rect", {class: "tint", width: w, height: h, rx: round}));
  const mark = colors === "errors" && gradeOf(item) === "fault" ? "✕ " : "";
  group.append(element("text", {class: "name", x: w / 2, y: sub ? 17 : 18.5}, mark + (item.isGroup ? `▸ ${title}` : title)));
  if (sub) group.append(element("text", {class: "sub", x: w / 2, y: 32}, sub));
  return named(group, item);
}
function wire(w) {
  const isInto = selected && (selected.isGroup ? w.edge.to === selected : w.edge.readers.has(selected));
  const isOut = selected && (selected.isGroup ? w.edge.from === selected : w.edge.source === selected);
  const path = element("path", {class: `edge${w.ends ? " ends" : ""}${isInto ? " into" : ""}${isOut ? " out" : ""}`, d: w.d});
  if (!w.tag) return path;
  const group = element("g");
  group.append(path, element("text", {class: "tag", x: w.x + 4, y: w.y - 8}, w.tag));
  return group;
}
function drawFar() {
  if (drawn.has("far")) return;
  drawn.set("far", world);
  const rect = p => `M${p.x.toFixed(0)} ${p.y.toFixed(0)}h${p.w.toFixed(0)}v${p.h.toFixed(0)}h-${p.w.toFixed(0)}z`;
  byId("groups").append(element("path", {class: "far groups", d: scene.frames.slice(1).map(rect).join("")}));
  byId("edges").append(element("path", {class: "far edges", d: scene.wires.map(w => w.d).join("")}));
  const byColor = new Map();
  for (const p of scene.boxes) byColor.set(colorOf(p.item), (byColor.get(colorOf(p.item)) || "") + rect(p));
  for (const [color, d] of byColor)
    byId("boxes").append(element("path", {class: "far", d, style: `--c: var(--${color === "module" ? "accent" : color})`}));
  const place = selected && scene.place.get(selected);
  if (place) byId("labels").append(element("path", {class: "far selected", d: rect(place)}));
}

// The small map: all boxes, and the window.
const map = byId("map"), pen = map.getContext("2d");
let mapPicture = null;
function mapScale() {
  const whole = scene.frames[0];
  return Math.min(map.width / whole.w, map.height / whole.h) * .92;
}
function drawMap() {
  const whole = scene.frames[0], k = mapScale(), {width, height} = svg.getBoundingClientRect();
  const dx = (map.width - whole.w * k) / 2, dy = (map.height - whole.h * k) / 2;
  const probe = byId("legend");
  const ink = name => { probe.style.outlineColor = `var(--${name})`; return getComputedStyle(probe).outlineColor; };
  if (mapPicture?.scene !== scene || mapPicture.colors !== colors || mapPicture.theme !== themeNow()) {
    mapPicture = {scene, colors, theme: themeNow(), canvas: document.createElement("canvas")};
    Object.assign(mapPicture.canvas, {width: map.width, height: map.height});
    const paint = mapPicture.canvas.getContext("2d"), inks = new Map();
    paint.strokeStyle = ink("group-line");
    for (const p of scene.frames.slice(1)) paint.strokeRect(dx + p.x * k, dy + p.y * k, p.w * k, p.h * k);
    for (const p of scene.boxes) {
      const color = colorOf(p.item) === "module" ? "unknown" : colorOf(p.item);
      if (!inks.has(color)) inks.set(color, ink(color));
      paint.fillStyle = inks.get(color);
      paint.fillRect(dx + p.x * k, dy + p.y * k, Math.max(p.w * k, 1), Math.max(p.h * k, 1));
    }
    mapPicture.accent = ink("accent");
  }
  map.hidden = whole.w * view.k <= width && whole.h * view.k <= height;
  pen.clearRect(0, 0, map.width, map.height);
  pen.drawImage(mapPicture.canvas, 0, 0);
  pen.strokeStyle = mapPicture.accent;
  pen.lineWidth = 1.5;
  pen.strokeRect(dx - view.x / view.k * k, dy - view.y / view.k * k, width / view.k * k, height / view.k * k);
}
function moveByMap(event) {
  if (!(event.buttons & 1)) return;
  const whole = scene.frames[0], k = mapScale(), bounds = map.getBoundingClientRect(), {width, height} = svg.getBoundingClientRect();
  const x = (event.clientX - bounds.x - (map.width - whole.w * k) / 2) / k, y = (event.clientY - bounds.y - (map.height - whole.h * k) / 2) / k;
  Object.assign(view, {x: width / 2 - x * view.k, y: height / 2 - y * view.k});
  redraw(false);
}
map.addEventListener("pointerdown", moveByMap);
map.addEventListener("pointermove", moveByMap);

function drawLegend() {
  const used = new Set(scene.boxes.map(p => colorOf(p.item)));
  const rows = colors === "errors" ? GRADES : FAMILIES;
  byId("legend").replaceChildren(...rows.filter(([name]) => used.has(name)).map(([name, text]) => {
    const row = document.createElement("span"), dot = document.createElement("i");
    dot.style.setProperty("--c", `var(--${name})`);
    row.append(dot, text);
    return row;
  }));
  byId("legend").hidden = !byId("legend").childElementCount;
}

// -- opening and closing ------------------------------------------------------------------------

function forget(group) {  // the layouts that a change of the group reaches
  for (; group; group = group.around) group.layout = null;
}
function refresh() { compose(); drawLegend(); redraw(); }
function setOpen(group, isOpen, item = group) {
  if (group === root || group.isOpen === isOpen) return;
  const before = scene.place.get(item);
  group.isOpen = isOpen;
  forget(group);
  compose();
  const after = scene.place.get(item);
  if (before && after) {  // the top of the box stays where it is
    view.x += (before.x + before.w / 2 - after.x - after.w / 2) * view.k;
    view.y += (before.y - after.y) * view.k;
  }
  refresh();
}
function setAll(isOpen) {
  for (const group of groups) { if (group !== root) group.isOpen = isOpen; group.layout = null; }
  if (selected && !isOpen) select(null);
  refresh();
  fit();
}
function openAtFirst(most = 28) {  // level by level, while few boxes are shown
  root.isOpen = true;
  let level = [root], count = root.items.length;
  while (level.length) {
    const next = [];
    for (const group of level) {
      const inner = group.items.filter(item => item.isGroup).sort((a, b) => a.items.length - b.items.length);
      for (const child of inner) {
        const isMany = count + child.items.length - 1 > most && count > 6;
        if (isMany || child.kind === "arguments") continue;
        count += child.items.length - 1;
        child.isOpen = true;
        next.push(child);
      }
    }
    level = next;
  }
}

// -- selection and details ----------------------------------------------------------------------

function make(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
function select(item) {
  selected = item;
  byId("details").hidden = !item;
  document.querySelector("main").classList.toggle("with-details", !!item);
  if (item) byId("details").replaceChildren(...(item.isGroup ? groupDetails(item) : boxDetails(item)));
  byId("details").scrollTop = 0;
  redraw();
}
function link(item, text) {
  const button = make("button", text, "link mono");
  button.onclick = () => goTo(item);
  return button;
}
function closeButton() {
  const button = make("button", "×", "close");
  button.setAttribute("aria-label", "Close the details");
  button.onclick = () => { select(null); svg.focus(); };
  return button;
}
function badge(text, color) {
  const made = make("span", text, "badge");
  made.style.setProperty("--c", `var(--${color})`);
  return made;
}
function* section(title, ...content) {
  const shown = content.filter(Boolean);
  if (shown.length) { yield make("h3", title); yield* shown; }
}
function variableTable(variables) {
  const table = make("table"), names = {v: "", s: "state", constants: "constant"};
  for (const v of variables.slice(0, 200)) {
    const row = table.insertRow(), name = row.insertCell();
    name.append(make("div", v.path, "mono"), make("div", [v.type, names[v.source]].filter(Boolean).join(" · "), "quiet"));
    row.insertCell().append(make("div", readable(v.size)), make("div", bytes(v.bytes), "quiet"));
    row.lastChild.className = "number";
  }
  if (variables.length > 200) table.insertRow().insertCell().textContent = `… ${variables.length - 200} more`;
  return table;
}
function errorBadges(error) {
  if (!error) return [];
  const relative = Number(error.relative);
  const text = error.error === 0 ? "equal to the source" : `error ${error.relative === "inf" ? "∞" : relative.toExponential(1)} relative`;
  return [badge(text, gradeOf({error}))];
}
function* boxDetails(box) {
  yield closeButton();
  yield make("h2", box.call ? box.op : box.name);
  yield badge(FAMILIES.find(([name]) => name === familyOf(box))[1], familyOf(box));
  if (box.is_random) yield badge("random", "random");
  yield* errorBadges(box.error);
  yield* callSections(box);
}
function* callSections(box) {
  yield* section("Value", box.type && make("p", box.type, "mono"), make("p", box.name, "mono quiet"));
  yield* section("Source line", box.line && make("p", box.line, "mono"));
  yield* section("Module", box.module && link(box.around, box.module));
  yield* section("Call", box.call && make("pre", `${box.name} = ${box.call}`, "mono"));
  yield* section("Operation of the source", box.origin && make("p", box.origin, "mono"));
  yield* section("Comparison with the source", box.error && make("p", box.error.text));
  yield* section("New state", box.writes && make("p", box.writes, "mono"));
  yield* section("Parameters and constants", box.variables.length && variableTable(box.variables));
  yield* section("Reads", ...box.inputs.map(number => valueLink(boxes[number])));
  yield* section("Read by", ...box.readers.slice(0, 100).map(valueLink));
}
function valueLink(box) {
  const line = make("p");
  line.append(link(box.item, box.name), " ", make("span", box.type || "", "quiet mono"));
  return line;
}
function* groupDetails(group) {
  const call = group.box >= 0 && boxes[group.box];
  yield closeButton();
  yield make("h2", call ? call.op : group.path || group.name);
  yield badge(group.kind === "call" ? "control flow" : group.kind, "accent");
  yield* errorBadges(group.worst);
  yield make("p", subtitleOf(group), "quiet");
  if (group !== root) {
    const button = make("button", group.isOpen ? "Close" : "Open");
    button.onclick = () => { setOpen(group, !group.isOpen); select(group); };
    yield button;
  }
  if (call) yield* callSections(call);
  const inner = boxes.filter(box => box.call && ancestors(box.item).includes(group));
  const counts = new Map();
  for (const box of inner) counts.set(box.op, (counts.get(box.op) || 0) + 1);
  const table = make("table");
  for (const [op, count] of [...counts].sort((a, b) => b[1] - a[1])) {
    const row = table.insertRow();
    row.insertCell().append(make("span", op, "mono"));
    row.insertCell().textContent = count;
    row.lastChild.className = "number";
  }
  yield* section("Operations", counts.size && table);
  const variables = [...new Map(inner.flatMap(box => box.variables).map(v => [`${v.source}/${v.path}`, v])).values()];
  yield* section("Parameters and constants", variables.length && variableTable(variables));
}

// Move a selected box out of the part of the window that the details cover.
function reveal(item) {
  const place = scene.place.get(item), {width, height} = windowSize();
  const right = (place.x + place.w) * view.k + view.x, bottom = (place.y + Math.min(place.h, 60)) * view.k + view.y;
  view.x -= Math.max(0, Math.min(right - width + 16, place.x * view.k + view.x - 16));
  view.y -= Math.max(0, bottom - height + 16);
  redraw(false);
}
function windowSize() {
  const {left, width, height, bottom} = svg.getBoundingClientRect(), sheet = byId("details").getBoundingClientRect();
  const isSheet = !byId("details").hidden && sheet.left < left + width / 2;  // on a phone
  return {width, height: isSheet ? height - (bottom - sheet.top) : height};
}

// Select an item, open the groups around it, and move it to the middle.
function goTo(item) {
  for (const group of ancestors(item)) if (!group.isOpen) { group.isOpen = true; forget(group); }
  compose();
  drawLegend();
  select(item);
  const place = scene.place.get(item), {width, height} = windowSize();
  view.k = Math.max(view.k, .7);
  if (item.isGroup) view.k = Math.max(.2, Math.min(view.k, width / (place.w + 60), height / (place.h + 60)));
  view.x = width / 2 - (place.x + place.w / 2) * view.k;
  view.y = height / 2 - (place.y + place.h / 2) * view.k;
  redraw();
}

// -- search -------------------------------------------------------------------------------------

const search = byId("search"), results = byId("results");
const searchable = [
  ...groups.slice(1).map(group => [group, `${group.path} ${group.name} ${group.kind}`]),
  ...boxes.map(box => [box, [box.op, box.name, box.module, box.line, box.origin, box.type, ...box.variables.map(v => v.path)].join(" ")]),
].map(([item, text]) => [item, text.toLowerCase()]);
let matches = [], current = -1;

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  matches = words.length ? searchable.filter(([, text]) => words.every(word => text.includes(word))).map(([item]) => item) : [];
  current = -1;
  hits = new Set(matches);
  for (const item of matches) for (const group of ancestors(item)) if (group !== root && !group.isOpen) hits.add(group);
  showResults(words.length > 0);
  redraw();
}
function showResults(isShown) {
  const rows = matches.slice(0, 60).map((item, i) => {
    const button = make("button");
    button.setAttribute("role", "option");
    button.append(item.isGroup ? `▸ ${item.name}` : `${short(item.op)}  ${item.call ? item.name : ""}`);
    button.append(make("small", item.isGroup ? item.path : [item.module, item.line, item.type].filter(Boolean).join(" · ")));
    button.onclick = () => { current = i; results.hidden = true; goTo(item.item || item); };
    return button;
  });
  const count = matches.length > 60 ? `60 of ${matches.length} results` : plural(matches.length, "result");
  results.replaceChildren(make("p", count), ...rows);
  results.hidden = !isShown;
}
function step(by) {
  if (!matches.length) return;
  current = (current + by + matches.length) % matches.length;
  [...results.querySelectorAll("button")].forEach((button, i) => {
    button.setAttribute("aria-selected", i === current);
    if (i === current) button.scrollIntoView({block: "nearest"});
  });
  goTo(matches[current].item || matches[current]);
}
search.addEventListener("input", find);
search.addEventListener("focus", () => { if (search.value) results.hidden = false; });
search.addEventListener("keydown", event => {
  if (event.key === "Enter" || event.key === "ArrowDown") step(event.shiftKey ? -1 : 1);
  else if (event.key === "ArrowUp") step(-1);
  else if (event.key === "Escape") { if (results.hidden) { search.value = ""; find(); svg.focus(); } results.hidden = true; }
  else return;
  event.preventDefault();
});
document.addEventListener("pointerdown", event => { if (!event.target.closest(".search")) results.hidden = true; });

// -- pan and zoom -------------------------------------------------------------------------------

function fit() {
  const whole = scene.frames[0], {width, height} = svg.getBoundingClientRect();
  view.k = Math.max(.02, Math.min(1.15, (width - 24) / whole.w, (height - 24) / whole.h));
  view.x = (width - whole.w * view.k) / 2;
  view.y = Math.max((height - whole.h * view.k) / 2, 12);
  redraw();
}
function start() {  // legible at first: long graphs start at the top
  fit();
  const {width} = svg.getBoundingClientRect(), whole = scene.frames[0];
  if (view.k < .55) {
    view.k = Math.min(.8, Math.max(.55, (width - 24) / whole.w));
    view.x = (width - whole.w * view.k) / 2;
    view.y = 6;
  }
}
function zoom(factor, cx, cy) {
  const k = Math.max(.02, Math.min(4, view.k * factor));
  view.x = cx - (cx - view.x) * k / view.k;
  view.y = cy - (cy - view.y) * k / view.k;
  view.k = k;
  redraw(false);
}
function zoomAtMiddle(factor) {
  const {width, height} = svg.getBoundingClientRect();
  zoom(factor, width / 2, height / 2);
}
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const {x, y} = svg.getBoundingClientRect(), unit = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey) {
    view.x -= (event.deltaX || event.deltaY) * unit;
    return redraw(false);
  }
  zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY * unit)) * .0022), event.clientX - x, event.clientY - y);
}, {passive: false});

const pointers = new Map();
let moved = 0;
svg.addEventListener("pointerdown", event => {
  if (event.button > 1) return;
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  if (pointers.size === 1) moved = 0;
});
window.addEventListener("pointermove", event => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const dx = event.clientX - before[0], dy = event.clientY - before[1];
  const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  moved += Math.hypot(dx, dy);
  if (other) {  // two fingers
    const {x, y} = svg.getBoundingClientRect();
    const distance = point => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
    zoom(distance([event.clientX, event.clientY]) / distance(before), (event.clientX + other[0]) / 2 - x, (event.clientY + other[1]) / 2 - y);
  } else if (moved > 3) {
    view.x += dx;
    view.y += dy;
    redraw(false);
  }
});
for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, event => pointers.delete(event.pointerId));

// The innermost box or frame at a place of the window.
function itemAt(event) {
  const bounds = svg.getBoundingClientRect();
  const x = (event.clientX - bounds.x - view.x) / view.k, y = (event.clientY - bounds.y - view.y) / view.k;
  const holds = p => x >= p.x && x <= p.x + p.w && y >= p.y && y <= p.y + p.h;
  return (scene.boxes.find(holds) || scene.frames.findLast(p => p.item !== root && holds(p)));
}
svg.addEventListener("click", event => {
  if (moved > 3) return;
  const tag = scene.wires.find(w => w.tag && isOn(w, event));
  if (tag) return tag.sources.length > 1 ? select(tag.edge.to) : goTo(tag.edge.source.item);
  const place = itemAt(event);
  if (!place) return select(null);
  const bounds = svg.getBoundingClientRect();
  const isHead = scene.place.get(place.item) === place && (event.clientY - bounds.y - view.y) / view.k < place.y + HEAD;
  if (place.item.isGroup && (!place.item.isOpen || isHead)) setOpen(place.item, !place.item.isOpen);
  select(place.item);
  reveal(place.item);
});
function isOn(w, event) {
  const bounds = svg.getBoundingClientRect();
  const x = (event.clientX - bounds.x - view.x) / view.k - w.x, y = (event.clientY - bounds.y - view.y) / view.k - w.y;
  return y > -20 && y < -1 && x > -3 && x < 8 + widthOf(w.tag, "10px");
}

// -- keys, theme, start -------------------------------------------------------------------------

const ARROWS = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]};
function moveSelection([dx, dy]) {  // the nearest box in a direction
  const from = selected && scene.place.get(selected);
  if (!from) return goTo(scene.boxes.toSorted((a, b) => a.y - b.y)[0].item);
  const at = p => [p.x + p.w / 2, p.y + p.h / 2], [fx, fy] = at(from);
  let best = null, least = Infinity;
  for (const p of scene.boxes) {
    const [x, y] = at(p), ahead = (x - fx) * dx + (y - fy) * dy, aside = Math.abs((x - fx) * dy) + Math.abs((y - fy) * dx);
    if (p !== from && ahead > 4 && ahead + 2 * aside < least) [best, least] = [p, ahead + 2 * aside];
  }
  if (best) goTo(best.item);
}
svg.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key;
  if (ARROWS[key]) moveSelection(ARROWS[key]);
  else if ((key === "Enter" || key === " ") && selected) {
    const group = selected.isGroup ? selected : selected.around;
    setOpen(group, !group.isOpen);
    select(group);
  } else if (key === "+" || key === "=") zoomAtMiddle(1.25);
  else if (key === "-") zoomAtMiddle(.8);
  else if (key === "0") fit();
  else if (key === "Escape") select(null);
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.target === search) return;
  event.preventDefault();
  search.focus();
  search.select();
});

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
function themeNow() { return document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light"); }
prefersDark.addEventListener("change", () => redraw());
byId("theme").onclick = () => {
  document.documentElement.dataset.theme = themeNow() === "dark" ? "light" : "dark";
  redraw();
};
byId("expand").onclick = () => setAll(true);
byId("collapse").onclick = () => setAll(false);
byId("fit").onclick = fit;
byId("colors").onchange = event => { colors = event.target.value; drawLegend(); redraw(); };
byId("colors-label").hidden = !hasErrors;
if (data.firstDifference >= 0) {
  byId("difference").hidden = false;
  byId("difference").onclick = () => goTo(boxes[data.firstDifference].item);
}
byId("name").textContent = data.name;
byId("heading").textContent = [data.heading, ...data.notes, subtitleOf(root)].join(" · ");
byId("heading").classList.toggle("differs", !!data.differs);
new ResizeObserver(() => redraw(false)).observe(svg);

openAtFirst();
compose();
drawLegend();
start();
