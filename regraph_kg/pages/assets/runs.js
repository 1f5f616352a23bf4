// Draws the plots and trees of runs.html.
// What others wrote is only ever set as text. d3 is global.
"use strict";
(() => {
  const COLOURS = ["--good", "--accent", "--bad", "--soft", "--fore"];
  const asked = /^#step-(\d+)-(\d+)$/.exec(location.hash); // run and step that were shown
  let runs = [];

  const times = (x) => (x === null ? "failed" : `${x >= 100 ? x.toFixed(0) : x.toPrecision(3)}x`);
  const element = (name, text, parent) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };

  function draw() {
    runs = JSON.parse(document.getElementById("data").textContent);
    for (const run of runs) {
      run.dots = run.nodes.slice(1); // the first one is the serial code
      run.bests = run.dots.filter((node) => node.best).sort((one, other) => one.call - other.call);
    }
    document.querySelectorAll(".plot").forEach(plot);
    document.querySelectorAll(".tree").forEach(tree);
  }

  function plot(box) {
    const all = box.dataset.run === "all";
    const shown = all ? runs : [runs[Number(box.dataset.run)]];
    const over = box.dataset.x;
    const width = Math.max(280, Math.min(560, box.clientWidth)), height = 260, left = 52, right = 14, top = 12, foot = 40;
    const dots = all ? [] : shown[0].dots;
    const bests = shown.map((run) => run.bests);
    const values = [1, ...dots.map((dot) => dot.speedup), ...bests.flat().map((dot) => dot.speedup)];
    const right_ones = values.filter((value) => value !== null && value > 0);
    const last = d3.max(shown.flatMap((run) => [...run.dots, ...run.bests]), (dot) => dot[over]) || 1;
    const x = d3.scaleLinear([0, last], [left, width - right]);
    const y = d3.scaleLog(d3.extent(right_ones), [height - foot, top]).nice();
    box.replaceChildren();
    const svg = d3.select(box).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img");
    const highest = d3.max(bests.flat(), (dot) => dot.speedup) || 1;
    const unit = over === "call" ? "verdicts" : "seconds";
    svg.attr("aria-label", `Speedup over ${unit}: up to ${times(highest)} within ${Math.ceil(last)} ${unit}`);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - foot})`)
      .call(d3.axisBottom(x).ticks(6));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`)
      .call(d3.axisLeft(y).ticks(4, "~g").tickFormat((value) => (y.tickFormat(4)(value) ? `${d3.format("~g")(value)}x` : "")));
    svg.append("text").attr("x", width - right).attr("y", height - 6).attr("text-anchor", "end")
      .text(over === "call" ? "verdicts" : "active seconds");
    for (const dot of dots) {
      if (dot.speedup > 0) {
        svg.append("circle").attr("class", "dot").attr("r", 3).attr("cx", x(dot[over])).attr("cy", y(dot.speedup))
          .append("title").text(`${dot.name}: ${times(dot.speedup)}`);
      } else {
        const [cx, cy] = [x(dot[over]), height - foot - 6];
        svg.append("path").attr("class", "cross").attr("d", `M${cx - 3},${cy - 3}l6,6m0,-6l-6,6`)
          .append("title").text(`${dot.name}: ${dot.ended}`);
      }
    }
    bests.forEach((best, index) => {
      const steps = [{ [over]: 0, speedup: 1 }, ...best, { [over]: last, speedup: best.length ? best[best.length - 1].speedup : 1 }];
      const line = d3.line((dot) => x(dot[over]), (dot) => y(dot.speedup)).curve(d3.curveStepAfter);
      const path = svg.append("path").attr("class", "best").attr("d", line(steps));
      if (!all) return;
      path.style("stroke", `var(${COLOURS[index % COLOURS.length]})`).attr("stroke-dasharray", ["", "6 3", "2 2", "8 3 2 3"][index % 4]);
      svg.append("text").attr("x", width - right).attr("y", y(steps[steps.length - 1].speedup) - 4)
        .attr("text-anchor", "end").text(`${index + 1}. ${shown[index].title}`);
    });
  }

  function tree(box) {
    const number = Number(box.dataset.run), nodes = runs[number].nodes;
    const root = d3.stratify().id((node) => node.id).parentId((node) => node.parent)(nodes);
    d3.tree().nodeSize([36, 190])(root);
    box.replaceChildren();
    const svg = d3.select(box).append("svg").attr("role", "tree").attr("aria-label", `Steps of run ${number + 1}`);
    const plane = svg.append("g");
    const way = (link) => link.target.data.answer ? "link answer" : "link";
    plane.selectAll(null).data(root.links()).join("path").attr("class", way)
      .attr("d", d3.linkHorizontal((node) => node.y, (node) => node.x)
        .source((link) => [link.source.x, link.source.y]).target((link) => [link.target.x, link.target.y])
        .x((point) => point[1]).y((point) => point[0]));
    const classes = ({ data }) => `step${data.speedup === null ? " failed" : ""}${data.answer ? " answer" : ""}`;
    const said = ({ data }) => data.speedup === null ? data.ended : times(data.speedup);
    const steps = plane.selectAll(null).data(root.descendants()).join("g").attr("class", classes)
      .attr("transform", (node) => `translate(${node.y},${node.x})`).attr("role", "treeitem")
      .attr("aria-level", (node) => node.depth + 1).attr("tabindex", -1)
      .attr("aria-label", (node) => `${node.data.name} ${said(node)}${node.data.answer ? ", on the way to the best code" : ""}`);
    steps.filter(({ data }) => data.speedup !== null).append("circle").attr("class", "mark").attr("r", 5);
    steps.filter(({ data }) => data.speedup === null).append("path").attr("class", "mark").attr("d", "M-4,-4L4,4M4,-4L-4,4");
    steps.append("text").attr("x", 9).attr("dy", "-.35em").text(({ data }) => `${data.name} `);
    steps.append("text").attr("x", 9).attr("dy", "1em").text(said);
    const view = zoomed(box, svg, plane, root);
    const choose = (node, focus) => {
      steps.attr("tabindex", -1).attr("aria-selected", "false");
      const one = steps.filter((other) => other === node).attr("tabindex", 0).attr("aria-selected", "true");
      if (focus) { one.node().focus({ preventScroll: true }); view(node); }
      show(number, node);
    };
    // a page that was written anew while the search runs shows the same step after a reload
    const keep = (node) => history.replaceState(null, "", `#step-${number}-${node.data.id}`);
    steps.on("click", (event, node) => { choose(node, false); keep(node); });
    steps.on("keydown", (event, node) => {
      const next = neighbour(event.key, node);
      if (next) { event.preventDefault(); choose(next, true); keep(next); }
    });
    const kept = asked && asked[1] === `${number}` ? Number(asked[2]) : -1;
    const best = (nodes.filter((node) => node.answer).pop() || nodes[0]).id;
    const all = root.descendants();
    choose(all.find((node) => node.data.id === kept) || all.find((node) => node.data.id === best), false);
  }

  function neighbour(key, node) {
    const beside = node.parent ? node.parent.children : [node];
    const at = beside.indexOf(node);
    return {
      ArrowLeft: node.parent, ArrowRight: node.children && node.children[0],
      ArrowUp: beside[at - 1], ArrowDown: beside[at + 1],
    }[key];
  }

  // Lets the tree be moved and zoomed; the result brings a step into sight.
  function zoomed(box, svg, plane, root) {
    const { width, height } = svg.node().getBoundingClientRect();
    const [low, high] = d3.extent(root.descendants(), (node) => node.x);
    const deep = d3.max(root.descendants(), (node) => node.y) + 190;
    const zoom = d3.zoom().scaleExtent([0.02, 4])
      .filter((event) => event.type === "wheel" ? event.ctrlKey : event.type !== "touchstart" || event.touches.length > 1)
      .on("zoom", (event) => plane.attr("transform", event.transform));
    svg.call(zoom).on("dblclick.zoom", null);
    const fit = (least) => {
      const scale = Math.max(least, Math.min(1.2, width / (deep + 40), height / (high - low + 60)));
      const free = height - (high - low) * scale;
      const down = free > 0 ? free / 2 - low * scale : height / 2;
      svg.call(zoom.transform, d3.zoomIdentity.translate(20, down).scale(scale));
    };
    fit(0.7);
    const buttons = element("div", undefined, box);
    buttons.className = "zoom";
    for (const [text, label, act] of [
      ["+", "Zoom in", () => svg.call(zoom.scaleBy, 1.4)],
      ["\u2212", "Zoom out", () => svg.call(zoom.scaleBy, 1 / 1.4)],
      ["whole tree", "Show the whole tree", () => fit(0)],
    ]) {
      const button = element("button", text, buttons);
      button.type = "button";
      button.setAttribute("aria-label", label);
      button.addEventListener("click", act);
    }
    addEventListener("beforeprint", () => fit(0));
    return (node) => svg.call(zoom.translateTo, node.y + 60, node.x);
  }

  function show(number, { data, parent }) {
    const panel = document.querySelector(`.node[data-run="${number}"]`);
    panel.replaceChildren();
    const several = runs.length > 1;
    element(several ? "h4" : "h3", data.name, panel);
    const facts = Object.entries({
      "how it ended": data.ended,
      "speedup over the serial code": data.speedup === null ? "none" : times(data.speedup),
      ...(data.gain === null ? {} : { "gain over the code before": times(data.gain) }),
      ...(data.call ? { "after call": data.call } : {}),
      ...data.facts,
    });
    const list = element("dl", undefined, panel);
    for (const [name, said] of facts) {
      const row = element("div", undefined, list);
      element("dt", name, row);
      element("dd", said, row);
    }
    if (data.diagnosis) block(panel, "What the judge or the model said", data.diagnosis, true);
    if (data.diff) changes(panel, `What it changed in: ${parent.data.name}`, data.diff);
    if (data.code) block(panel, "The whole code", data.code, !data.diff);
    data.turns.forEach((turn, index) => {
      const which = data.turns.length > 1 ? ` (${index + 1} of ${data.turns.length})` : "";
      if (turn.prompt) block(panel, `What the model was asked${which}`, turn.prompt, false);
      block(panel, `What the model answered${which}`, turn.answer, false);
    });
    if (parent && !data.code && !data.turns.length) element("p", "There is no code here: the answer held none, or the page leaves it out.", panel);
  }

  function block(panel, title, text, open) {
    const details = element("details", undefined, panel);
    details.open = open;
    element("summary", title, details);
    const pre = element("pre", undefined, details);
    pre.tabIndex = 0;
    element("code", text, pre);
    return pre;
  }

  function changes(panel, title, diff) {
    const pre = block(panel, title, "", true);
    pre.replaceChildren();
    for (const text of diff.split("\n")) {
      const line = element("span", text, pre);
      line.className = `line ${{ "+": "add", "-": "del" }[text[0]] || ""}`;
    }
  }

  addEventListener("beforeprint", () => document.querySelectorAll(".answer details").forEach((one) => { one.open = true; }));
  draw();
})();
