// Shows new readings as they arrive, by server-sent events. Without this script, the page shows the readings as of its loading.
"use strict";
(() => {
const status = document.getElementById("live");
const texts = document.body.dataset;

function say(text) {
    if (!status) return;
    if (status.textContent !== text) status.textContent = text;
    status.hidden = false;
}

function show(card, told) {
    card.querySelector("[data-value]").textContent = told.value;
    card.querySelector("[data-unit]").textContent = told.unit;
    const time = card.querySelector("[data-time] time");
    time.dateTime = told.start;
    time.textContent = told.when;
    card.querySelector("[data-source]").textContent = told.source;
    card.classList.remove("fresh");
    void card.offsetWidth;
    card.classList.add("fresh");
    setTimeout(() => card.classList.remove("fresh"), 700);
}

// Loads the page's sections and alerts again.
async function renew() {
    if (!document.querySelector("[data-today]")) return;
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const sections = [...document.querySelectorAll("main > section")];
    const next = sections.length ? sections.at(-1).nextSibling : null;
    for (const section of sections) section.remove();
    for (const section of page.querySelectorAll("main > section")) document.querySelector("main").insertBefore(section, next);
    // Alerts that are shown already are not read out again.
    const [shown, raised] = [document, page].map((each) => [...each.querySelectorAll("main > [role=alert]")]);
    if (shown.map((each) => each.textContent).join() !== raised.map((each) => each.textContent).join()) {
        for (const each of shown) each.remove();
        document.querySelector("main > .buttons").before(...raised);
    }
    document.querySelector("[data-today]").dataset.hidden = page.querySelector("[data-today]").dataset.hidden;
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
        const answer = await fetch("/page/data/today").catch(() => null);
        if (answer && answer.status === 401) return location.assign("/page/");
        follow();
    }, after);
}

function lose() {
    wasLost = true;
    say(texts.lost);
}

function follow() {
    events?.close();
    events = new EventSource("/page/live");
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
        location.assign("/page/");
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

if (status) {
    follow();
    addEventListener("online", () => reconnect(0));
    addEventListener("offline", lose);
    addEventListener("pageshow", (event) => { if (event.persisted) { lose(); reconnect(0); } });
    document.addEventListener("visibilitychange", look);
}
})();
