// Places. Each open group has its own layered layout: ranks by the longest path, an order within
// the ranks with few crossings, and straight wires. A change lays out the groups around it again.

// -- layout of one group: ranks, order, positions ------------------------------------------------

const HEAD = 28, PAD = 16, GAP = 40, SPACE = 22, FAR = 30;
const largest = (list, of) => list.reduce((most, item) => Math.max(most, of(item)), -Infinity);

function sizeOf(item) {
  if (item.isGroup && item.isOpen) {
    const {w, h} = layoutOf(item);
    return {w, h};
  }
  if (!item.size) {
    const title = clip(titleOf(item), 36), sub = subtitleOf(item);
    const w = Math.max(widthOf(title, "600 12px") + (item.isGroup ? 34 : 24), widthOf(sub, "10.5px") + 24, item.isGroup ? 110 : 44);
    item.size = {w: Math.ceil(w), h: sub ? 42 : 28, title, sub};
  }
  return item.size;
}

function layoutOf(group) {
  if (group.layout) return group.layout;
  const vertices = new Map();
  for (const item of group.items) {
    const {w, h} = sizeOf(item);
    vertices.set(item, {item, w, h, space: w / 2, rank: 0});
  }
  const inside = [...group.edges.values()];
  const ranks = rank(group, vertices, inside);
  const last = Math.max(0, largest([...ranks.values()], r => r)) + 1;
  const layers = Array.from({length: last + 2}, () => []);
  for (const vertex of vertices.values()) {
    vertex.rank = ranks.get(vertex.item);
    layers[vertex.rank + 1].push(vertex);
  }
  const wires = wiresOf(group, vertices, inside, layers);
  order(layers);
  place(layers);
  spread(wires);
  const width = Math.max(largest(layers.flat(), v => v.x + v.w / 2), 0);
  const titleWidth = widthOf(clip(group.name, 40), "600 12px") + widthOf(subtitleOf(group), "10.5px") + 52;
  const w = Math.max(width + 2 * PAD, titleWidth);
  const shift = PAD + (w - 2 * PAD - width) / 2;
  let y = HEAD;
  layers.forEach((layer, i) => {
    const height = Math.max(0, largest(layer, v => v.h));
    for (const v of layer) Object.assign(v, {x: v.x + shift, y: y + (height - v.h) / 2, top: y, bottom: y + height});
    if (layer.length && i <= last) y += height + (i === 0 ? 12 : i === last ? 22 : GAP);
  });
  const h = y;
  const ports = (layer, key) => new Map(layer.filter(v => v.port).map(v => [v.port, v.x]));
  group.layout = {
    w, h, vertices, wires,
    entries: ports(layers[0]), exits: ports(layers[last + 1]),
  };
  return group.layout;
}

// The longest path from the inputs; edges against the order of execution do not count.
function rank(group, vertices, edges) {
  const outgoing = new Map(), incoming = new Set(), ranks = new Map(group.items.map(item => [item, 0]));
  for (const edge of edges) {
    if (edge.from.first >= edge.to.first) continue;
    if (!outgoing.has(edge.from)) outgoing.set(edge.from, []);
    outgoing.get(edge.from).push(edge.to);
    incoming.add(edge.to);
  }
  if (!edges.length && group.items.length > 6)  // nothing to order: rows
    group.items.forEach((item, i) => ranks.set(item, Math.floor(i / 6)));
  for (const edge of group.entries.values()) incoming.add(edge.to);
  for (const item of group.items)
    for (const next of outgoing.get(item) || []) ranks.set(next, Math.max(ranks.get(next), ranks.get(item) + 1));
  for (const item of [...group.items].reverse())  // a constant stands above its first reader
    if (!incoming.has(item) && outgoing.has(item) && item.op !== "input")
      ranks.set(item, Math.max(0, -largest(outgoing.get(item), next => -ranks.get(next)) - 1));
  return ranks;
}

// One wire for each value and end. It bends at a joint in each layer that it passes; the wires of
// one value share joints. Wires over many layers become tags, which name the source, and so do
// those of many arguments.
function wiresOf(group, vertices, inside, layers) {
  const wires = [], joints = new Map(), labelled = new Set(), fans = new Map(), tags = new Map();
  const last = layers.length - 1;
  const portOf = (source, layer) => {
    const key = `port ${source.number} ${layer}`;
    if (!joints.has(key)) {
      const port = {port: source, w: 8, h: 0, space: 8, rank: layer - 1};
      joints.set(key, port);
      layers[layer].push(port);
    }
    return joints.get(key);
  };
  const jointOf = (source, start, layer) => {
    const key = `${source.number} ${start} ${layer}`;
    if (!joints.has(key)) {
      const joint = {joint: source, w: 6, h: 0, space: 6, rank: layer - 1};
      joints.set(key, joint);
      layers[layer].push(joint);
    }
    return joints.get(key);
  };
  const exits = group.kind === "arguments" ? [] : group.exits.values();
  const all = [...group.entries.values(), ...joined(inside), ...exits];
  for (const edge of all) fans.set(edge.source, (fans.get(edge.source) || 0) + 1);
  for (const edge of all) {
    const end = edge.to ? vertices.get(edge.to) : portOf(edge.source, last);
    const reach = end.rank - (edge.from ? vertices.get(edge.from).rank : -1);
    const isArgument = isOfMany(edge.source) && (!edge.from || reach > 3);
    if (edge.to && (isArgument || reach > FAR || (reach > 6 && fans.get(edge.source) > 5))) {
      if (edge.to.isOpen && isArgument) continue;  // the tags are inside
      if (!tags.has(end)) {
        tags.set(end, {edge, tags: [], path: [end], ends: [portX(edge, end, "entries")]});
        wires.push(tags.get(end));
      }
      tags.get(end).tags.push(edge.source);
      continue;
    }
    const start = edge.from ? vertices.get(edge.from) : portOf(edge.source, 0);
    const path = [start];
    for (let layer = start.rank + 2; layer < end.rank + 1; layer++) path.push(jointOf(edge.source, start.rank, layer));
    path.push(end);
    const wire = {edge, path, ends: [portX(edge, start, "exits"), portX(edge, end, "entries")]};
    const isShown = edge.from && (edge.source.call || edge.count > 1) && !(edge.from.isOpen && layoutOf(edge.from).exits.has(edge.source));
    if (isShown && !labelled.has(edge.source)) {
      labelled.add(edge.source);
      wire.label = edge.count > 1 ? `${edge.count} arrays` : shapeOf(edge.source);
      start.space = Math.max(start.space, widthOf(wire.label, "10px") + 6);
    }
    wires.push(wire);
    for (let i = 0; i + 1 < path.length; i++) {
      const a = path[i], b = path[i + 1];
      const weight = (a.item ? 1 : 3) * (b.item ? 1 : 3);
      const link = {a, b, atA: i ? 0 : wire.ends[0], atB: i + 2 < path.length ? 0 : wire.ends[1], weight};
      (a.down ||= []).push(link);
      (b.up ||= []).push(link);
    }
  }
  return wires;
}

const isOfMany = box => box.around.kind === "arguments";

// Edges with one edge for all values from a closed group to another item.
function joined(edges) {
  const found = new Map();
  for (const edge of edges) {
    const isClosed = edge.from.isGroup && !edge.from.isOpen && edge.from.box < 0;
    const end = edge.to.isOpen && !isOfMany(edge.source) ? edge.source.number : "";
    const key = isClosed || isOfMany(edge.source) ? `${edge.from.number} ${edge.to.isGroup} ${edge.to.number} ${end}` : edge;
    const before = found.get(key);
    if (!before) found.set(key, {...edge, count: 1});
    else found.set(key, {...before, count: before.count + 1, readers: new Set([...before.readers, ...edge.readers])});
  }
  return [...found.values()];
}

// Where a wire meets an open group: at the place where it goes on inside, from the middle.
function portX(edge, vertex, side) {
  const item = vertex.item;
  if (!item?.isGroup || !item.isOpen) return 0;
  const x = layoutOf(item)[side].get(edge.source);
  return x === undefined ? 0 : x - vertex.w / 2;
}

// The ends of the wires into a box, side by side from left to right.
function spread(wires) {
  const ends = new Map();
  for (const wire of wires) {
    const end = wire.path.at(-1);
    if (wire.tags || !end.item || (end.item.isGroup && end.item.isOpen)) continue;
    if (!ends.has(end)) ends.set(end, []);
    ends.get(end).push(wire);
  }
  for (const [end, found] of ends) {
    const step = Math.min(16, (end.w - 20) / found.length);
    found.sort((a, b) => a.path.at(-2).x + a.ends[0] - b.path.at(-2).x - b.ends[0]);
    found.forEach((wire, i) => { wire.ends[1] = (i - (found.length - 1) / 2) * step; });
  }
}

// Barycenters: each layer is sorted by the mean place of its neighbours, down and up.
function order(layers) {
  const number = layer => layer.forEach((v, i) => { v.at = i; });
  const sort = (layer, links, end) => {
    for (const v of layer) {
      const found = v[links] || [];
      v.mean = found.length ? found.reduce((sum, link) => sum + link[end].at, 0) / found.length : v.at;
    }
    layer.sort((a, b) => a.mean - b.mean || a.at - b.at);
    number(layer);
  };
  layers.forEach(number);
  for (let turn = 0; turn < 4; turn++) {
    for (const layer of layers) sort(layer, "up", "a");
    if (turn < 3) for (const layer of [...layers].reverse()) sort(layer, "down", "b");
  }
}

// Horizontal places: as close to the neighbours as the space between boxes allows.
function place(layers) {
  for (const layer of layers) {
    let x = 0;
    for (const v of layer) { v.x = x + v.space; x = v.x + v.space + SPACE; }
  }
  const pull = (layer, up, down) => {
    const wanted = layer.map(v => {
      let sum = 0, weight = 0;
      const add = (link, place) => { sum += link.weight * place; weight += link.weight; };
      if (up) for (const link of v.up || []) add(link, link.a.x + link.atA - link.atB);
      if (down) for (const link of v.down || []) add(link, link.b.x + link.atB - link.atA);
      return weight ? [sum / weight, weight] : [v.x, 0.1];
    });
    separate(layer, wanted);
  };
  for (let turn = 0; turn < 5; turn++) {
    for (const layer of layers) pull(layer, true, false);
    for (const layer of [...layers].reverse()) pull(layer, false, true);
  }
  for (let turn = 0; turn < 2; turn++) {
    for (const layer of layers) pull(layer, true, true);
    for (const layer of [...layers].reverse()) pull(layer, true, true);
  }
  const start = -largest(layers.filter(layer => layer.length), layer => layer[0].w / 2 - layer[0].x);
  for (const layer of layers) for (const v of layer) v.x -= start;
}

// The places nearest to the wanted ones, in order and apart: pooled neighbours share a shift.
function separate(layer, wanted) {
  const pools = [];
  let offset = 0;
  layer.forEach((v, i) => {
    if (i) offset += layer[i - 1].space + v.space + SPACE;
    v.offset = offset;
    let pool = {sum: (wanted[i][0] - offset) * wanted[i][1], weight: wanted[i][1], count: 1};
    while (pools.length && pools.at(-1).sum / pools.at(-1).weight > pool.sum / pool.weight) {
      const before = pools.pop();
      pool = {sum: before.sum + pool.sum, weight: before.weight + pool.weight, count: before.count + pool.count};
    }
    pools.push(pool);
  });
  let i = 0;
  for (const pool of pools)
    for (let n = 0; n < pool.count; n++, i++) layer[i].x = pool.sum / pool.weight + layer[i].offset;
}

// -- the scene: everything with its place, recomputed when a group opens or closes ---------------

let scene = {frames: [], boxes: [], wires: []};

function compose() {
  scene = {frames: [], boxes: [], wires: []};
  addGroup(root, 0, 0, 0);
  scene.place = new Map([...scene.frames, ...scene.boxes].map(place => [place.item, place]));
}
function addGroup(group, x, y, depth) {
  const {w, h, vertices, wires} = layoutOf(group);
  scene.frames.push({item: group, x, y, w, h, depth});
  for (const wire of wires) scene.wires.push(routed(wire, x, y, h));
  for (const v of vertices.values()) {
    const left = x + v.x - v.w / 2, top = y + v.y;
    if (v.item.isGroup && v.item.isOpen) addGroup(v.item, left, top, depth + 1);
    else scene.boxes.push({item: v.item, x: left, y: top, w: v.w, h: v.h});
  }
}
function routed(wire, x, y, height) {
  const {path, ends, edge} = wire;
  const start = path[0], end = path.at(-1);
  const place = {edge, label: wire.label, ends: !!edge.to && !(edge.to.isGroup && edge.to.isOpen && edge.to.layout.entries.has(edge.source))};
  if (wire.tags) {
    const px = x + end.x + ends[0], py = y + end.y, [first, ...more] = wire.tags;
    const text = more.length ? `${wire.tags.length} arrays` : clip(first.name, 24);
    return {...place, tag: `↤ ${text}`, sources: wire.tags, x: px, y: py, d: `M${px} ${py - 14}V${py}`, left: px - 70, right: px + 70, top: py - 30, bottom: py};
  }
  let px = x + start.x + ends[0], py = start.item ? y + start.y + start.h : y;
  const isBack = start.item && end.item && end.top < start.bottom;
  let d = `M${px.toFixed(1)} ${py.toFixed(1)}`, left = px, right = px;
  const first = [px, py], entry = start.item ? py : y + start.bottom;
  if (entry !== py) { d += `V${entry.toFixed(1)}`; py = entry; }
  path.slice(1).forEach((v, i) => {
    const isLast = i + 2 === path.length;
    const qx = x + v.x + (isLast ? ends[1] : 0), qy = y + (isLast ? v.y : v.top);
    const bend = isBack ? py + 30 : py + (qy - py) * .5, back = isBack ? qy - 30 : bend;
    d += Math.abs(qx - px) < .5 ? `V${qy.toFixed(1)}`
      : `C${px.toFixed(1)} ${bend.toFixed(1)} ${qx.toFixed(1)} ${back.toFixed(1)} ${qx.toFixed(1)} ${qy.toFixed(1)}`;
    [px, py] = [qx, isLast ? qy : y + v.bottom];
    if (!isLast && py !== qy) d += `V${py.toFixed(1)}`;
    left = Math.min(left, px); right = Math.max(right, px);
  });
  if (!end.item) { py = y + height; d += `V${py.toFixed(1)}`; }
  return {...place, x: first[0], y: first[1], d, left, right: right + 60, top: Math.min(first[1], py), bottom: Math.max(first[1], py)};
}
