// A link has its code behind the #, which is sent to no server by itself and stands in no log: it is taken away, and the form sends it.
"use strict";
const enter = () => {
    const code = new URLSearchParams(location.hash.slice(1)).get("code");
    if (!code) return;
    history.replaceState(null, "", location.pathname);
    document.getElementById("code").value = code;
    document.getElementById("login").requestSubmit();
};
// A tab that already shows the form loads nothing for a link whose address differs only after the #.
addEventListener("hashchange", enter);
enter();
