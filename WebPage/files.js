// Sends a file that was dropped or chosen in pieces of a megabyte, one behind the other: a piece that fails is sent again.
"use strict";
(() => {
    const drop = document.querySelector("[data-drop]");
    if (!drop) return;
    const state = drop.querySelector("[data-state]");
    const size = 1 << 20;

    async function piece(file, key, at) {
        const end = Math.min(file.size, at + size);
        const asks = new URLSearchParams({ name: file.name, at });
        if (end === file.size) asks.set("whole", "true");
        const person = document.getElementById("person");
        if (person) asks.set("person", person.value);
        for (let attempt = 0; ; attempt++) {
            const answer = await fetch(`${drop.dataset.to || document.documentElement.dataset.root + "data/files"}/${key}?${asks}`, {
                method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file.slice(at, end),
            }).catch(() => null);
            if (answer && answer.ok) return end;
            if (attempt > 4 || (answer && answer.status < 500)) throw new Error(answer ? (await answer.json()).detail : "");
            await new Promise((resume) => setTimeout(resume, 500 * 2 ** attempt));
        }
    }

    function key() {
        const octets = crypto.getRandomValues(new Uint8Array(16));
        octets[6] = (octets[6] & 15) | 64;
        octets[8] = (octets[8] & 63) | 128;
        const text = Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
        return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    }

    async function send(files) {
        const refused = [];
        for (const file of files) {
            try {
                const own = key();
                let at = 0;
                do {
                    at = await piece(file, own, at);
                    state.textContent = `${drop.dataset.sending} ${file.name}: ${file.size ? Math.round(at / file.size * 100) : 100}%`;
                } while (at < file.size);
                state.textContent = `${drop.dataset.sent} ${file.name}`;
            } catch (error) {
                refused.push(error.message ? `${file.name}: ${error.message}` : file.name);
            }
        }
        if (refused.length) state.textContent = `${drop.dataset.refused} ${refused.join(" ")}`;
        follow();
    }

    // Until the hub has read them; it waits for a file that still grows.
    async function follow() {
        for (let look = 0; look < 120; look++) {
            await new Promise((resume) => setTimeout(resume, 1000));
            const answer = await fetch(location.href).catch(() => null);
            if (!answer || !answer.ok) continue;
            const page = new DOMParser().parseFromString(await answer.text(), "text/html");
            document.querySelector("[data-accounts]").replaceChildren(...page.querySelector("[data-accounts]").childNodes);
        }
    }

    drop.querySelector("input").onchange = (event) => send(event.target.files);
    drop.ondragover = (event) => { event.preventDefault(); drop.classList.add("over"); };
    drop.ondragleave = () => drop.classList.remove("over");
    drop.ondrop = (event) => {
        event.preventDefault();
        drop.classList.remove("over");
        send(event.dataTransfer.files);
    };
})();
