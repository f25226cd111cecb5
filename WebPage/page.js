// What is new comes as server-sent events; without this script the page shows what was so when it was opened.
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

// All of it again, by whoever has it right: the server.
async function renew() {
    if (!document.querySelector("[data-today]")) return;
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const section of document.querySelectorAll("main > section")) section.remove();
    document.querySelector("main").append(...page.querySelectorAll("main > section"));
}

// Facts besides the value, such as a day's range, need no update each second.
let later;
function renewLater() {
    later ??= setTimeout(() => { later = undefined; renew(); }, 60e3);
}

function follow() {
    const events = new EventSource("/page/live");
    let wasLost = false;
    events.onopen = () => {
        say(texts.connected);
        if (wasLost) renew();
        wasLost = false;
    };
    events.onerror = () => {
        wasLost = true;
        say(texts.lost);
    };
    events.addEventListener("latest", (event) => {
        const told = JSON.parse(event.data);
        document.dispatchEvent(new CustomEvent("latest", { detail: told }));
        const card = document.querySelector(`[data-type="${CSS.escape(told.type)}"]`);
        if (!card) return document.querySelector("[data-today]") ? renew() : undefined;
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

if (status) follow();
})();
