// Draws a chart from the server's figures for each pixel: a line of averages with a band from the lowest to the highest value, bars of
// sums, or bars from the diastolic to the systolic pressure. The server computes the calendar. The address contains the chart's state.
"use strict";
(() => {
    const words = document.body.dataset;
    const root = document.documentElement.dataset.root;
    const [top, foot, strip] = [12, 24, 28];
    /** The names of the lanes of events. */
    const lanes = { workout: words.workouts, sleepAnalysis: words.sleep, medicationDoseEvent: words.medication, annotation: words.notes };
    /** The parts of the address that belong to the chart, in the order of their controls. */
    const keys = ["range", "back", "from", "to", "unit", "with", "zone", "events", "previous", "sources"];

    /** Whether a pressure is the average of a longer time. */
    const isAverage = ([from, to]) => to - from > 3600e3;

    function element(name, attributes, text) {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        if (text !== undefined) made.textContent = text;
        return made;
    }

    /** 1, 2, or 5 times a power of ten, so that at least three levels lie between both. */
    function levels(low, high) {
        const power = 10 ** Math.floor(Math.log10((high - low) / 3));
        const step = [10, 5, 2, 1].map((factor) => factor * power).find((each) => Math.floor(high / each) - Math.ceil(low / each) >= 2) ?? power;
        const all = [];
        for (let level = Math.ceil(low / step) * step; level <= high + step * 1e-9; level += step) all.push(Math.abs(level) < step / 1e6 ? 0 : level);
        return all;
    }

    // The English page writes 20 Nov 2026, as the server does.
    const locale = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
    const digits = new Intl.NumberFormat(document.documentElement.lang, { maximumSignificantDigits: 4 });

    /** The scale of one or more series on one side of the chart. */
    class Axis {
        constructor(series) {
            this.series = series;
            const points = series.flatMap((each) => [...each.points, ...(each.previous ?? [])]);
            this.isEmpty = !points.length;
            const goals = series.flatMap((each) => [each.goal, ...(each.limits ?? [])]).filter((goal) => goal !== undefined);
            let low = series.some((each) => each.kind === "bars") ? 0 : Math.min(points.reduce((best, point) => Math.min(best, point[2]), Infinity), ...goals);
            let high = Math.max(points.reduce((best, point) => Math.max(best, point[3]), -Infinity), ...goals);
            if (this.isEmpty) [low, high] = [0, 1];
            if (high - low < Math.abs(high) * 1e-6 + 1e-9) [low, high] = [low === 0 ? 0 : low - 1, high + 1];
            const pad = (high - low) * 0.06;
            [this.low, this.high] = [low === 0 ? 0 : low - pad, high + pad];
            this.levels = this.isEmpty ? [] : levels(this.low, this.high);
            this.room = 14 + 7 * Math.max(1, ...this.levels.map((level) => digits.format(level).length));
        }

        y(value, height) { return top + (1 - (value - this.low) / (this.high - this.low)) * height; }
    }

    class Chart {
        constructor(section) {
            this.section = section;
            this.plot = section.querySelector("[data-plot]");
            this.reading = section.querySelector("[data-read]");
            this.legend = section.querySelector("[data-legend]");
            this.how = this.reading.textContent;
            this.asked = 0;
            section.hidden = false;
            this.restore();
            for (const link of document.querySelectorAll("[data-range]")) {
                link.addEventListener("click", (event) => {
                    event.preventDefault();
                    this.set({ range: link.dataset.range, back: null, from: null, to: null });
                });
            }
            for (const button of section.querySelectorAll("[data-move]")) button.onclick = () => this.move(button.dataset.move);
            for (const choice of section.querySelectorAll("[data-key]")) choice.onchange = () => this.set({ [choice.dataset.key]: this.value(choice) });
            const acts = {
                pointerdown: this.press, pointermove: this.point, pointerup: this.release, pointercancel: () => this.select(), keydown: this.key,
                // What was tapped or clicked stays.
                pointerleave: () => { if (!this.pressed) this.read(this.held, this.on); },
            };
            for (const [name, act] of Object.entries(acts)) this.plot.addEventListener(name, act.bind(this));
            this.plot.tabIndex = 0;
            // Also while the first figures are on their way.
            new ResizeObserver(() => { if (Math.abs(this.plot.clientWidth - this.room) > 8) this.load(); }).observe(this.plot);
            document.addEventListener("latest", (event) => this.hear(event.detail));
            addEventListener("popstate", () => { this.restore(); this.load(true); });
            this.load();
        }

        // MARK: The state, which is the address

        /** Reads the address, and shows it in the controls. */
        restore() {
            const address = new URLSearchParams(location.search);
            this.state = {};
            for (const key of keys) if (address.has(key)) this.state[key] = address.get(key);
            if (!this.state.range && !this.state.from) this.state.range = this.section.dataset.first;
            for (const choice of this.section.querySelectorAll("[data-key]")) {
                const value = this.state[choice.dataset.key];
                if (choice.type === "checkbox") choice.checked = value === undefined ? choice.dataset.default === "yes" : value === "yes";
                else if (value !== undefined) choice.value = value;
            }
        }

        value(choice) {
            if (choice.type !== "checkbox") return choice.value || null;
            return choice.checked === (choice.dataset.default === "yes") ? null : choice.checked ? "yes" : "no";
        }

        /** Whether the chart shows more than a month. */
        get isLong() {
            const { range, from, to } = this.state;
            return range ? ["half", "year", "all"].includes(range) : to - from > 32 * 24 * 3600e3;
        }

        isOn(key) { return this.section.querySelector(`[data-key=${key}]`)?.checked ?? false; }

        /** The address of a state. */
        address(path, state = this.state) {
            const query = new URLSearchParams();
            for (const key of keys) if (state[key] !== undefined && state[key] !== null) query.set(key, state[key]);
            return `${path}?${query}`;
        }

        set(changes) {
            const state = { ...this.state, ...changes };
            for (const key of keys) if (state[key] === null) delete state[key];
            this.state = state;
            history.pushState(null, "", this.address(location.pathname));
            this.load(true);
        }

        move(where) {
            if (where === "back") return history.back();
            if (!this.told) return;
            const { from, to } = this.told;
            const span = to - from;
            const shown = (start, end) => this.set({ range: null, back: null, from: Math.round(start), to: Math.round(Math.max(end, start + 10e3)) });
            if (where === "in") return shown(from + span / 4, to - span / 4);
            if (where === "out") return shown(from - span / 2, to + span / 2);
            const step = where === "left" ? 1 : -1;
            if (!this.state.range || this.state.range === "all") return shown(from - step * span / 2, to - step * span / 2);
            const back = Math.max(0, Number(this.state.back ?? 0) + step);
            this.set({ back: back || null });
        }

        /** A chart that ends now goes on. */
        hear(told) {
            if (!this.told || this.waiting || this.told.to < Date.now() || !this.told.series.some((each) => each.type === told.type)) return;
            this.waiting = setTimeout(() => { this.waiting = null; this.load(); }, this.told.to - this.told.from > 25 * 3600e3 ? 30e3 : 1500);
        }

        /** Loads the figures, and the summary and the table if the state changed. */
        async load(withTable = false) {
            const number = ++this.asked;
            this.room = this.plot.clientWidth;
            const asks = { types: [this.section.dataset.chart, this.state.with].filter(Boolean).join(), width: Math.max(120, this.room - 64) };
            for (const key of ["previous", "sources"]) if (this.isOn(key)) asks[key] = "yes";
            // Above a month, events are shown only if they are asked for, apart from medication.
            const events = this.section.querySelector("[data-key=events]");
            events.dataset.default = this.isLong ? "no" : "yes";
            events.checked = this.state.events === undefined ? !this.isLong : this.state.events === "yes";
            const zone = this.section.querySelector("[data-key=zone]").value;
            const query = this.address("", { ...this.state, zone }) + "&" + new URLSearchParams(asks);
            this.section.querySelector("[data-move=right]").disabled = Boolean(this.state.range && !this.state.back);
            this.section.querySelector("[data-move=back]").hidden = Boolean(this.state.range);
            for (const link of document.querySelectorAll("[data-range]")) {
                if (link.dataset.range === this.state.range) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            }
            const paths = [root + "data/series" + query];
            if (this.isOn("events") || this.isLong) paths.push(root + "data/events" + query);
            try {
                const [told, happened] = await Promise.all(paths.map(async (path) => {
                    const answer = await fetch(path);
                    if (answer.status === 401) location.assign(root);
                    if (!answer.ok) throw new Error(answer.statusText);
                    return answer.json();
                }));
                // A later request has another answer.
                if (number !== this.asked) return;
                const shown = happened ? happened.events : [];
                this.told = { ...told, events: this.isOn("events") ? shown : shown.filter((event) => event.kind === "medicationDoseEvent") };
                this.held = null;
                this.draw();
                if (withTable) await this.table(number);
            } catch (error) {
                if (number === this.asked) this.reading.textContent = words.failed;
            }
        }

        async table(number) {
            const shown = [...document.querySelectorAll("[data-figures]")];
            if (!shown.length) return;
            const answer = await fetch(this.address(location.pathname));
            if (!answer.ok || number !== this.asked) return;
            const page = new DOMParser().parseFromString(await answer.text(), "text/html");
            const next = [...page.querySelectorAll("[data-figures]")];
            if (next.length === shown.length) shown.forEach((each, index) => each.replaceWith(next[index]));
        }

        // MARK: Drawing

        x(time) { return this.left + (time - this.told.from) / (this.told.to - this.told.from) * this.width; }
        time(x) { return this.told.from + (x - this.left) / this.width * (this.told.to - this.told.from); }
        clamped(x) { return Math.max(this.left, Math.min(this.left + this.width, x)); }

        draw() {
            const { series, ticks, events } = this.told;
            const whole = Math.max(200, this.plot.clientWidth);
            const sides = [0, 1].map((side) => new Axis(series.filter((each) => each.axis === side)));
            this.left = sides[0].room;
            this.width = whole - this.left - (sides[1].series.length ? sides[1].room : 14);
            const inner = whole < 560 ? 240 : 320;
            const kinds = [...new Set(events.map((event) => event.kind))];
            const under = kinds.length * strip;
            [this.kinds, this.under] = [kinds, top + inner];
            const height = top + inner + under + foot;
            const svg = element("svg", { viewBox: `0 0 ${whole} ${height}`, width: whole, height, "aria-hidden": "true" });
            this.describe();
            this.lanes(svg, events, kinds, inner);
            let last = -Infinity;
            for (const tick of ticks) {
                const x = this.x(tick.at);
                svg.append(element("line", { class: "grid", x1: x, x2: x, y1: top, y2: top + inner }));
                // A label needs room, and is never cut off at the edge.
                const half = tick.text.length * 3.5;
                const place = Math.max(half, Math.min(whole - half, x));
                if (place - half < last + 6) continue;
                last = place + half;
                svg.append(element("text", { class: "tick", x: place, y: height - 7, "text-anchor": "middle" }, tick.text));
            }
            this.targets(svg, series[0], sides[0], inner);
            sides.forEach((axis, side) => this.scale(svg, axis, side, inner));
            // Bars are behind lines.
            const order = series.map((each, index) => [each, index]).sort(([one], [other]) => (other.kind === "bars") - (one.kind === "bars"));
            for (const [each, index] of order) this.lane(svg, each, index, sides[each.axis], inner);
            if (series.every((each) => !each.points.length)) {
                svg.append(element("text", { class: "tick", x: this.left + this.width / 2, y: top + inner / 2, "text-anchor": "middle" }, words.empty));
            }
            this.selection = element("rect", { class: "selection", y: top, height: inner, width: 0 });
            this.cursor = element("line", { class: "cursor", y1: top, y2: top + inner + under, visibility: "hidden" });
            svg.append(this.selection, this.cursor);
            this.plot.replaceChildren(svg);
            this.explain();
            this.read();
        }

        /** A lane with its name below the plot for each kind of event, so that nothing is behind the curve. */
        lanes(svg, events, kinds, inner) {
            kinds.forEach((kind, index) => svg.append(element("text", { class: "tick", x: this.left, y: top + inner + 14 + index * strip }, lanes[kind])));
            for (const event of events) {
                const from = Math.max(this.left, this.x(event.from));
                const until = Math.min(this.left + this.width, Math.max(this.x(event.to), from + 3));
                if (until <= Math.max(this.left, from)) continue;
                const y = top + inner + 18 + kinds.indexOf(event.kind) * strip;
                svg.append(element("rect", { class: "event " + event.kind, x: from, width: until - from, y, height: 8, rx: Math.min(4, (until - from) / 2) }));
            }
        }

        /** A pale band between the limits of a target, or dotted lines at limits. */
        targets(svg, series, axis, inner) {
            if (!series || axis.isEmpty) return;
            const y = (value) => Math.max(top, Math.min(top + inner, axis.y(value, inner)));
            const right = this.left + this.width;
            if (series.target) {
                const [low, high] = series.target.map(y);
                svg.append(element("rect", { class: "target", x: this.left, width: this.width, y: high, height: Math.max(0, low - high) }));
            }
            for (const limit of series.target ?? series.limits ?? []) {
                if (limit < axis.low || limit > axis.high) continue;
                if (series.limits) svg.append(element("line", { class: "limit", x1: this.left, x2: right, y1: y(limit), y2: y(limit) }));
                svg.append(element("text", { class: "tick halo", x: right - 2, y: y(limit) - 3, "text-anchor": "end" }, digits.format(limit)));
            }
        }

        scale(svg, axis, side, inner) {
            const [x, anchor] = side ? [this.left + this.width + 6, "start"] : [this.left - 6, "end"];
            for (const level of axis.levels) {
                const y = axis.y(level, inner);
                if (!side) svg.append(element("line", { class: "grid", x1: this.left, x2: this.left + this.width, y1: y, y2: y }));
                svg.append(element("text", { class: side ? "tick side" : "tick", x, y: y + 4, "text-anchor": anchor }, digits.format(level)));
            }
        }

        lane(svg, series, index, axis, inner) {
            const group = element("g", { class: `${this.color(index)}${series.axis ? " beside" : ""}` });
            svg.append(group);
            const y = (value) => axis.y(value, inner).toFixed(1);
            if (series.previous) group.append(element("path", { class: "previous", d: this.steps(series.previous, series, y) }));
            if (series.goal !== undefined && !axis.isEmpty) {
                group.append(element("line", { class: "goal", x1: this.left, x2: this.left + this.width, y1: y(series.goal), y2: y(series.goal) }));
            }
            if (series.kind === "bars") group.append(element("path", { class: "bars", d: this.bars(series.points, y) }));
            else if (series.kind === "range") this.ranges(group, series.points, y);
            else this.line(group, series, y);
        }

        /** The classes that give a series the color of its family. Another one of the same family is told apart by its line. */
        color(index) {
            const { series } = this.told;
            const again = series.slice(0, index).filter((each) => each.family === series[index].family).length;
            return `lane ${series[index].family} again${Math.min(again, 3)}`;
        }

        bars(points, y) {
            return points.map(([from, to, , sum]) => {
                const gap = Math.max(0.5, Math.min(4, (this.x(to) - this.x(from)) * 0.12));
                const [x1, x2] = [this.clamped(this.x(from) + gap), this.clamped(this.x(to) - gap)];
                return x2 > x1 ? `M${x1.toFixed(1)} ${y(0)}V${y(sum)}H${x2.toFixed(1)}V${y(0)}Z` : "";
            }).join("");
        }

        /** Two dots for each measurement, joined by a stem. Those of the morning are filled. */
        ranges(group, points, y) {
            const shown = points.filter((point) => this.x(point[1]) >= this.left && this.x(point[0]) <= this.left + this.width);
            const x = (point) => this.clamped(this.x((point[0] + point[1]) / 2)).toFixed(1);
            const isMany = shown.length > this.width / 8;
            group.classList.toggle("many", isMany);
            // The two dots of a measurement are joined as long as there is room.
            if (!isMany || shown.some(isAverage)) group.append(element("path", { class: shown.some(isAverage) ? "ranges average" : "ranges", d: shown.map((point) => `M${x(point)} ${y(point[2])}V${y(point[3])}`).join("") }));
            const radius = !isMany ? 4 : shown.length > this.width ? 1.75 : 2.5;
            // Averages of a longer time are stems alone.
            const hours = this.format({ hour: "numeric", hourCycle: "h23" }, "en-GB");
            for (const point of shown.filter((each) => !isAverage(each))) {
                const hour = Number(hours.format(point[0]));
                const kind = hour >= 4 && hour < 12 ? "filled" : "hollow";
                for (const value of [point[2], point[3]]) group.append(element("circle", { class: kind, cx: x(point), cy: y(value), r: radius }));
            }
        }

        /** The faint line of the period before. */
        steps(points, series, y) {
            return this.parts(points, series.gap).map((part) => "M" + part.map((point) => {
                const [x1, x2] = [point[0], point[1]].map((time) => this.clamped(this.x(time)).toFixed(1));
                return series.kind === "bars" ? `${x1} ${y(point[4])}L${x2} ${y(point[4])}` : `${((+x1 + +x2) / 2).toFixed(1)} ${y(point[4])}`;
            }).join("L")).join("");
        }

        /** A pause is a gap: each part by itself. */
        parts(points, gap) {
            const parts = [];
            points.forEach((point, at) => {
                if (!at || point[0] - points[at - 1][1] > gap) parts.push([]);
                parts.at(-1).push(point);
            });
            return parts;
        }

        line(group, series, y) {
            const x = (point) => this.clamped(this.x((point[0] + point[1]) / 2)).toFixed(1);
            let [bands, lines, dots] = ["", "", ""];
            // A day that is not over stands apart.
            const parts = this.parts(series.unfinished ? series.points.slice(0, -1) : series.points, series.gap);
            if (series.unfinished) parts.push([series.points.at(-1)]);
            for (const part of parts) {
                if (part.length === 1) {
                    dots += `M${x(part[0])} ${y(part[0][4])}h0`;
                    bands += `M${x(part[0]) - 1} ${y(part[0][2])}h2V${y(part[0][3])}h-2Z`;
                    continue;
                }
                bands += "M" + part.map((point) => x(point) + " " + y(point[3])).join("L") + "L" + part.toReversed().map((point) => x(point) + " " + y(point[2])).join("L") + "Z";
                lines += "M" + part.map((point) => x(point) + " " + y(point[4])).join("L");
            }
            if (series.points.length < this.width / 12) dots = series.points.map((point) => `M${x(point)} ${y(point[4])}h0`).join("");
            group.append(element("path", { class: "band", d: bands }), element("path", { class: "line", d: lines }), element("path", { class: "dots", d: dots }));
        }

        /** The legend: each series, and the period before. */
        explain() {
            const entries = this.told.series.map((series, index) => [this.color(index), series.name + (series.unit && series.unit.toLowerCase() !== series.name.toLowerCase() ? ", " + series.unit : "")]);
            if (this.told.series.some((series) => series.previous)) entries.push(["previous", words.previous]);
            const first = this.told.series[0];
            if (first?.kind === "range") {
                if (first.points.some(isAverage)) entries[0][1] += ", " + words.average;
                else if (first.points.length) entries.push(["morning", words.morning], ["evening", words.evening]);
            }
            this.legend.replaceChildren(...entries.map(([kind, name]) => {
                const entry = document.createElement("span");
                entry.className = "key " + kind;
                entry.textContent = name;
                return entry;
            }));
        }

        words() {
            return this.told.series.map((series) => series.name + (series.points.length ? "" : ": " + words.empty)).join("; ");
        }

        // MARK: Pointing and dragging

        place(event) { return this.clamped(event.clientX - this.plot.getBoundingClientRect().left); }

        kindAt(event) { return this.kinds[Math.floor((event.clientY - this.plot.getBoundingClientRect().top - this.under) / strip)]; }

        press(event) {
            if (!this.told || event.button) return;
            this.pressed = this.place(event);
            this.plot.setPointerCapture(event.pointerId);
        }

        point(event) {
            if (!this.told) return;
            const x = this.place(event);
            if (this.pressed) this.select(Math.min(x, this.pressed), Math.abs(x - this.pressed));
            this.read(x, this.kindAt(event));
        }

        release(event) {
            if (!this.pressed) return;
            const [from, to] = [this.pressed, this.place(event)].sort((one, other) => one - other);
            this.pressed = null;
            this.select();
            if (to - from > 8) return this.set({ range: null, back: null, from: Math.round(this.time(from)), to: Math.round(this.time(to)) });
            this.held = to;
            this.on = this.kindAt(event);
            this.read(to, this.on);
        }

        /** The points of the first series that are in the chart, for the keyboard. */
        get reached() { return this.told.series[0].points.filter((point) => point[1] >= this.told.from && point[0] <= this.told.to); }

        /** Moves the cursor from point to point. */
        key(event) {
            const points = this.told ? this.reached : [];
            if (!points.length) return;
            if (event.key === "Escape") this.held = null;
            else if (event.key === "Enter" && this.held) return this.reading.querySelector("a")?.click();
            else {
                const places = points.map((point) => this.clamped(this.x((point[0] + point[1]) / 2)));
                const now = this.held ? places.reduce((best, place, index) => (Math.abs(place - this.held) < Math.abs(places[best] - this.held) ? index : best), 0) : null;
                const last = points.length - 1;
                const next = { Home: 0, End: last, ArrowLeft: now === null ? last : Math.max(0, now - 1), ArrowRight: now === null ? 0 : Math.min(last, now + 1) }[event.key];
                if (next === undefined) return;
                this.held = places[next];
                this.on = null;
                this.plot.setAttribute("aria-valuenow", next + 1);
            }
            event.preventDefault();
            this.read(this.held);
        }

        /** The chart is a slider along its points, so that the keyboard and screen readers reach each value. */
        describe() {
            const count = this.reached.length;
            this.plot.setAttribute("role", count ? "slider" : "img");
            this.plot.setAttribute("aria-label", this.words());
            for (const [name, value] of Object.entries({ min: 1, max: count, now: count })) {
                if (count) this.plot.setAttribute("aria-value" + name, value);
                else this.plot.removeAttribute("aria-value" + name);
            }
            this.plot.removeAttribute("aria-valuetext");
        }

        select(x = 0, width = 0) {
            if (!width) this.pressed = null;
            this.selection.setAttribute("x", x);
            this.selection.setAttribute("width", width);
        }

        /** A format of times in the zone of the chart, or in UTC if the browser does not know that zone. */
        format(style, language = locale) {
            try {
                return new Intl.DateTimeFormat(language, { ...style, timeZone: this.told.zone });
            } catch {
                return new Intl.DateTimeFormat(language, { ...style, timeZone: "UTC" });
            }
        }

        /** A time or an interval in words. The end of an interval is not included. */
        said(from, end) {
            const isLong = end - from >= 20 * 3600e3;
            const style = { dateStyle: "medium", timeStyle: isLong ? undefined : "short" };
            const format = this.format(style);
            return end > from ? format.formatRange(from, isLong ? end - 1 : end) : format.format(from);
        }

        /** Tells the values at a place, or the event of a lane. */
        read(x, lane) {
            this.cursor.setAttribute("visibility", x ? "visible" : "hidden");
            if (!x) {
                this.reading.textContent = this.how;
                return;
            }
            this.cursor.setAttribute("x1", x);
            this.cursor.setAttribute("x2", x);
            const time = this.time(x);
            const far = (event) => Math.max(event.from - time, time - event.to, 0);
            const event = this.told.events.filter((each) => each.kind === lane).sort((one, other) => far(one) - far(other))[0];
            if (event && far(event) < this.time(12) - this.time(0)) {
                this.reading.textContent = event.name + ", " + this.said(event.from, event.to);
                return;
            }
            const nears = this.told.series.map((series) => {
                const near = series.points.reduce((best, point) => (!best || Math.abs(point[0] + point[1] - 2 * time) < Math.abs(best[0] + best[1] - 2 * time) ? point : best), null);
                return near && Math.abs(near[0] - time) <= Math.max(series.gap, near[1] - near[0]) ? near : null;
            });
            // The time is that of the reading, or the interval of the average.
            const [from, end] = nears[0] ?? [time, time];
            let said = this.said(from, end);
            for (const [index, series] of this.told.series.entries()) {
                const near = nears[index];
                if (!near) continue;
                const [low, high, middle] = near.slice(2).map((value) => digits.format(value));
                const figure = series.kind === "range" ? `${high}/${low}` : low === high ? middle : `${middle} (${low}–${high})`;
                said += ` · ${series.name} ${figure} ${series.unit}`;
            }
            this.plot.setAttribute("aria-valuetext", said);
            const link = document.createElement("a");
            link.href = `${location.pathname}?before=${Math.ceil(end) * 1000 + 1000}#latest`;
            link.textContent = words.readings;
            this.reading.replaceChildren(said + " · ", link);
        }
    }

    for (const section of document.querySelectorAll("[data-chart]")) section.chart = new Chart(section);
})();
