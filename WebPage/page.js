// Shows new readings as they arrive, by server-sent events, and closes the menu of people. Without this script, the page shows the readings as of its loading.
"use strict";
(() => {
const status = document.getElementById("live");
const texts = document.body.dataset;
const root = document.documentElement.dataset.root;

function say(text) {
    if (!status) return;
    if (status.textContent !== text) status.textContent = text;
    status.classList.toggle("lost", text !== texts.connected);
    status.hidden = false;
}

function show(card, told) {
    card.querySelector("[data-value]").textContent = told.value;
    card.querySelector("[data-unit]").textContent = told.unit;
    const time = card.querySelector("[data-time] time");
    time.dateTime = told.start;
    time.textContent = told.when;
    card.querySelector("[data-value]").classList.toggle("long", told.value.length > 14);
    card.querySelector("[data-source]").textContent = told.source;
    card.classList.remove("fresh");
    void card.offsetWidth;
    card.classList.add("fresh");
    setTimeout(() => card.classList.remove("fresh"), 700);
}

// Loads the cards, the sentence, and what needs the person again.
async function renew() {
    const shown = document.querySelector("[data-today]");
    if (!shown) return;
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer || !answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-today]");
    if (!next) return;
    // Alerts that are shown already are not read out again, and the focus stays on its link.
    const known = new Set([...shown.querySelectorAll(".need")].map((each) => each.textContent));
    for (const each of next.querySelectorAll("[role=alert]")) if (known.has(each.textContent)) each.setAttribute("role", "group");
    const focus = shown.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    shown.replaceWith(next);
    if (focus) next.querySelector(`[href="${CSS.escape(focus)}"]`)?.focus();
}

// Facts besides the value, such as a day's range, need no update each second.
let later;
function renewLater() {
    later ??= setTimeout(() => { later = undefined; renew(); }, 10e3);
}

// A browser reconnects by itself unless the server refused, as during a restart of the hub. Phones also drop connections silently
// while the page is hidden.
let events;
let wasLost = false;
let delay = 2e3;
let waiting;

function reconnect(after) {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
        const answer = await fetch(root + "data/today").catch(() => null);
        if (answer && answer.status === 401) return location.assign(root);
        follow();
    }, after);
}

function lose() {
    wasLost = true;
    say(texts.lost);
}

function follow() {
    events?.close();
    events = new EventSource(root + "live");
    events.onopen = () => {
        say(texts.connected);
        if (wasLost) renew();
        [wasLost, delay] = [false, 2e3];
    };
    events.onerror = () => {
        lose();
        if (events.readyState !== EventSource.CLOSED) return;
        reconnect(delay);
        delay = Math.min(delay * 2, 60e3);
    };
    events.addEventListener("latest", (event) => {
        const told = JSON.parse(event.data);
        document.dispatchEvent(new CustomEvent("latest", { detail: told }));
        const card = document.querySelector(`[data-type="${CSS.escape(told.type)}"]`);
        if (!card) {
            const today = document.querySelector("[data-today]");
            return today && !today.dataset.hidden.split(" ").includes(told.type) ? renew() : undefined;
        }
        // A blood pressure's category belongs to its value.
        if (told.type === "bloodPressure") return renew();
        renewLater();
        const shown = card.querySelector("[data-time] time");
        if (shown && shown.dateTime <= told.start) show(card, told);
    });
    events.addEventListener("much", renew);
    events.addEventListener("ended", () => {
        events.close();
        say(texts.ended);
        location.assign(root);
    });
}

let hidden = 0;
function look() {
    if (document.visibilityState === "hidden") hidden = Date.now();
    else if (wasLost || (hidden && Date.now() - hidden > 60e3)) {
        lose();
        reconnect(0);
    }
}

// The menu of people closes by a press outside of it and by Escape.
const menu = document.querySelector(".who");
addEventListener("pointerdown", (event) => { if (menu?.open && !menu.contains(event.target)) menu.open = false; });
addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu?.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
});

if (status) {
    follow();
    addEventListener("online", () => reconnect(0));
    addEventListener("offline", lose);
    addEventListener("pageshow", (event) => { if (event.persisted) { lose(); reconnect(0); } });
    document.addEventListener("visibilitychange", look);
}
})();
