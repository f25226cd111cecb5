// Draws a chart of what the server reckoned for each pixel: a band from the lowest to the highest value, a line of averages, bars of sums; behind them
// what happened meanwhile. Times stand where the server's calendar has them.
"use strict";
(() => {
    const words = document.body.dataset;
    const hour = 3600e3;
    const spans = { hour, day: 24 * hour, week: 168 * hour, month: 31 * 24 * hour, year: 366 * 24 * hour, years: 3660 * 24 * hour };
    const [left, foot, laneHeight, laneGap] = [48, 24, 150, 14];

    function element(name, attributes, text) {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        if (text !== undefined) made.textContent = text;
        return made;
    }

    // 1, 2 or 5 times a power of ten, so that some three lines lie between both.
    function levels(low, high) {
        const rough = (high - low) / 3;
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
        const all = [];
        for (let level = Math.ceil(low / step) * step; level <= high + step * 1e-9; level += step) all.push(level);
        return all;
    }

    const digits = new Intl.NumberFormat(document.documentElement.lang, { maximumSignificantDigits: 4 });

    class Chart {
        constructor(section) {
            this.section = section;
            this.plot = section.querySelector("[data-plot]");
            this.reading = section.querySelector("[data-read]");
            this.how = this.reading.textContent;
            this.history = [];
            this.asked = 0;
            section.hidden = false;
            for (const button of section.querySelectorAll("[data-range]")) button.onclick = () => this.range(button.dataset.range);
            for (const button of section.querySelectorAll("[data-move]")) button.onclick = () => this.move(button.dataset.move);
            for (const choice of section.querySelectorAll("select, input")) choice.onchange = () => this.load();
            this.plot.addEventListener("pointerdown", (event) => this.press(event));
            this.plot.addEventListener("pointermove", (event) => this.point(event));
            this.plot.addEventListener("pointerup", (event) => this.release(event));
            this.plot.addEventListener("pointercancel", () => this.select());
            this.plot.addEventListener("pointerleave", () => { if (!this.pressed) this.read(); });
            new ResizeObserver(() => { if (this.told && Math.abs(this.width() - this.told.width) > 8) this.load(); }).observe(this.plot);
            document.addEventListener("latest", (event) => this.hear(event.detail));
            this.range(section.dataset.first || "day");
        }

        width() { return Math.max(120, Math.floor(this.plot.clientWidth) - left); }
        types() {
            const beside = this.section.querySelector("[data-beside]");
            return [this.section.dataset.chart, ...(beside && beside.value ? [beside.value] : [])];
        }

        // MARK: Which stretch

        range(name) {
            this.history.push([this.from, this.to, this.followed]);
            this.followed = spans[name];
            this.load();
        }

        show(from, to) {
            this.history.push([this.from, this.to, this.followed]);
            [this.from, this.to, this.followed] = [Math.round(from), Math.round(Math.max(to, from + 10e3)), null];
            this.load();
        }

        move(where) {
            const span = this.to - this.from;
            if (where === "left") this.show(this.from - span / 2, this.to - span / 2);
            if (where === "right") this.show(this.from + span / 2, this.to + span / 2);
            if (where === "in") this.show(this.from + span / 4, this.to - span / 4);
            if (where === "out") this.show(this.from - span / 2, this.to + span / 2);
            if (where === "back" && this.history.length > 1) {
                [this.from, this.to, this.followed] = this.history.pop();
                this.load();
            }
        }

        // A chart that ends now goes on; some two seconds are often enough.
        hear(told) {
            if (!this.followed || !this.types().includes(told.type) || this.waiting) return;
            this.waiting = setTimeout(() => { this.waiting = null; this.load(); }, this.followed > spans.day ? 30e3 : 1500);
        }

        async load() {
            if (this.followed) {
                this.to = Date.now() + this.followed * 0.01;
                this.from = this.to - this.followed;
            }
            const number = ++this.asked;
            const asks = new URLSearchParams({ from: Math.round(this.from), to: Math.round(this.to), width: this.width(), types: this.types().join() });
            const unit = this.section.querySelector("[data-unit-choice]");
            if (unit) asks.set("unit." + this.section.dataset.chart, unit.value);
            asks.set("zone", this.section.querySelector("[data-zone]").value);
            for (const button of this.section.querySelectorAll("[data-range]")) {
                button.setAttribute("aria-pressed", String(this.followed === spans[button.dataset.range]));
            }
            this.section.querySelector("[data-move=back]").disabled = this.history.length < 2;
            const paths = ["/page/data/series?" + asks];
            if (this.section.querySelector("[data-events]").checked) paths.push("/page/data/events?" + asks);
            try {
                const [told, happened] = await Promise.all(paths.map(async (path) => {
                    const answer = await fetch(path);
                    if (answer.status === 401) location.assign("/page/");
                    if (!answer.ok) throw new Error(answer.statusText);
                    return answer.json();
                }));
                // Whoever asked again meanwhile waits for that answer.
                if (number !== this.asked) return;
                this.told = { ...told, width: this.width(), events: happened ? happened.events : [] };
                this.draw();
            } catch (error) {
                if (number === this.asked) this.reading.textContent = words.failed;
            }
        }

        // MARK: Drawing

        x(time) { return left + (time - this.told.from) / (this.told.to - this.told.from) * this.told.width; }
        time(x) { return this.told.from + (x - left) / this.told.width * (this.told.to - this.told.from); }

        draw() {
            const { series, ticks, events, width } = this.told;
            const height = series.length * (laneHeight + laneGap) + foot;
            const svg = element("svg", { viewBox: `0 0 ${left + width} ${height}`, width: left + width, height, role: "img", "aria-label": this.words() });
            for (const event of events) {
                const from = Math.max(left, this.x(event.from));
                const until = Math.min(left + width, Math.max(this.x(event.to), from + 2));
                if (until <= left) continue;
                const band = element("rect", { class: "event " + event.kind, x: from, y: 0, width: until - from, height: height - foot });
                band.append(element("title", {}, event.name));
                svg.append(band);
                if (until - from > 50) svg.append(element("text", { class: "said", x: from + 4, y: height - foot - 4 }, event.name));
            }
            for (const tick of ticks) {
                const x = this.x(tick.at);
                svg.append(element("line", { class: "grid", x1: x, x2: x, y1: 0, y2: height - foot }));
                svg.append(element("text", { class: "tick", x, y: height - 6, "text-anchor": x > left + width - 30 ? "end" : x < left + 20 ? "start" : "middle" }, tick.text));
            }
            series.forEach((each, index) => this.lane(svg, each, index));
            this.selection = element("rect", { class: "selection", y: 0, height: height - foot, width: 0 });
            this.cursor = element("line", { class: "cursor", y1: 0, y2: height - foot, visibility: "hidden" });
            svg.append(this.selection, this.cursor);
            this.plot.replaceChildren(svg);
            this.read();
        }

        lane(svg, series, index) {
            const top = index * (laneHeight + laneGap) + 16;
            const bottom = top + laneHeight - 16;
            const group = element("g", { class: "lane lane" + index });
            svg.append(group);
            group.append(element("text", { class: "name", x: left + 4, y: top - 4 }, series.name + (series.unit ? ", " + series.unit : "")));
            if (!series.points.length) {
                group.append(element("text", { class: "tick", x: left + this.told.width / 2, y: (top + bottom) / 2, "text-anchor": "middle" }, words.empty));
                return;
            }
            let low = series.sum ? 0 : Math.min(...series.points.map((point) => point[2]));
            let high = Math.max(...series.points.map((point) => point[3]));
            if (series.goal !== undefined) [low, high] = [Math.min(low, series.goal), Math.max(high, series.goal)];
            if (high - low < Math.abs(high) * 1e-6 + 1e-9) [low, high] = [low - 1, high + 1];
            const pad = series.sum ? 0 : (high - low) * 0.06;
            [low, high] = [low - pad, high + (high - low) * 0.06];
            const y = (value) => (bottom - (value - low) / (high - low) * (bottom - top)).toFixed(1);
            for (const level of levels(low, high)) {
                group.append(element("line", { class: "grid", x1: left, x2: left + this.told.width, y1: y(level), y2: y(level) }));
                group.append(element("text", { class: "tick", x: left - 4, y: +y(level) + 4, "text-anchor": "end" }, digits.format(level)));
            }
            if (series.goal !== undefined) {
                group.append(element("line", { class: "goal", x1: left, x2: left + this.told.width, y1: y(series.goal), y2: y(series.goal) }));
            }
            if (series.sum) {
                const path = series.points.map(([from, to, , sum]) => {
                    const [x1, x2] = [Math.max(left, this.x(from) + 0.5), Math.min(left + this.told.width, this.x(to) - 0.5)];
                    return x2 > x1 ? `M${x1.toFixed(1)} ${y(0)}V${y(sum)}H${x2.toFixed(1)}V${y(0)}Z` : "";
                });
                group.append(element("path", { class: "bars", d: path.join("") }));
                return;
            }
            // A pause is a gap: each part by itself.
            const parts = [];
            series.points.forEach((point, at) => {
                if (!at || point[0] - series.points[at - 1][0] > series.gap) parts.push([]);
                parts.at(-1).push(point);
            });
            const x = (point) => Math.max(left, Math.min(left + this.told.width, this.x((point[0] + point[1]) / 2))).toFixed(1);
            let [bands, lines, dots] = ["", "", ""];
            for (const part of parts) {
                if (part.length === 1) {
                    dots += `M${x(part[0])} ${y(part[0][4])}h0`;
                    bands += `M${x(part[0]) - 1} ${y(part[0][2])}h2V${y(part[0][3])}h-2Z`;
                    continue;
                }
                bands += "M" + part.map((point) => x(point) + " " + y(point[3])).join("L") + "L" + part.toReversed().map((point) => x(point) + " " + y(point[2])).join("L") + "Z";
                lines += "M" + part.map((point) => x(point) + " " + y(point[4])).join("L");
            }
            if (series.points.length < this.told.width / 12) {
                dots = series.points.map((point) => `M${x(point)} ${y(point[4])}h0`).join("");
            }
            group.append(element("path", { class: "band", d: bands }), element("path", { class: "line", d: lines }), element("path", { class: "dots", d: dots }));
        }

        words() {
            return this.told.series.map((series) => {
                if (!series.points.length) return series.name + ": " + words.empty;
                const low = Math.min(...series.points.map((point) => point[2]));
                const high = Math.max(...series.points.map((point) => point[3]));
                return `${series.name}: ${words.lowest} ${digits.format(low)}, ${words.highest} ${digits.format(high)} ${series.unit}`;
            }).join("; ");
        }

        // MARK: Pointing and dragging

        place(event) { return Math.max(left, Math.min(left + this.told.width, event.clientX - this.plot.getBoundingClientRect().left)); }

        press(event) {
            if (!this.told || event.button) return;
            this.pressed = this.place(event);
            this.plot.setPointerCapture(event.pointerId);
        }

        point(event) {
            if (!this.told) return;
            const x = this.place(event);
            if (this.pressed) this.select(Math.min(x, this.pressed), Math.abs(x - this.pressed));
            this.read(x);
        }

        release(event) {
            if (!this.pressed) return;
            const [from, to] = [this.pressed, this.place(event)].sort((one, other) => one - other);
            this.pressed = null;
            this.select();
            if (to - from > 8) this.show(this.time(from), this.time(to));
        }

        select(x = 0, width = 0) {
            if (!width) this.pressed = null;
            this.selection.setAttribute("x", x);
            this.selection.setAttribute("width", width);
        }

        read(x) {
            this.cursor.setAttribute("visibility", x ? "visible" : "hidden");
            if (!x) {
                this.reading.textContent = this.how;
                return;
            }
            this.cursor.setAttribute("x1", x);
            this.cursor.setAttribute("x2", x);
            const time = this.time(x);
            const style = { dateStyle: "medium", timeStyle: this.to - this.from < 30 * spans.day ? "short" : undefined };
            let said;
            try {
                said = new Intl.DateTimeFormat(document.documentElement.lang, { ...style, timeZone: this.told.zone }).format(time);
            } catch {
                said = new Date(time).toISOString();
            }
            for (const series of this.told.series) {
                const near = series.points.reduce((best, point) => (!best || Math.abs(point[0] + point[1] - 2 * time) < Math.abs(best[0] + best[1] - 2 * time) ? point : best), null);
                if (!near || Math.abs(near[0] - time) > series.gap) continue;
                const [low, high, middle] = near.slice(2).map((value) => digits.format(value));
                said += ` · ${series.name} ${middle}${low === high ? "" : ` (${low}–${high})`} ${series.unit}`;
            }
            this.reading.textContent = said;
        }
    }

    for (const section of document.querySelectorAll("[data-chart]")) section.chart = new Chart(section);
})();
