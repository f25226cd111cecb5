// Prints the page. Without this script, the browser's own menu does.
"use strict";
(() => {
    const button = document.querySelector("[data-print]");
    if (!button) return;
    button.hidden = false;
    button.onclick = () => window.print();
})();
