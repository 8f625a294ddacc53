/* The form of a case: only the fields of the chosen answer, days near the situation's, and how it will be checked, as one types.
   Without this file every field is there under its heading, and a button opens the check in another tab. */
(() => {
  "use strict";
  const form = document.getElementById("case_form");
  const kind = form?.elements.expected_kind;
  if (!kind?.options) return;

  /* Only what belongs to the chosen answer. A field with an error stays: what it says must be read. */
  const sections = form.querySelectorAll("fieldset.of-kind");
  const showKind = () => {
    for (const section of sections) {
      section.hidden = !section.classList.contains(`of-kind-${kind.value}`) && !section.querySelector(".errorlist");
    }
  };
  kind.addEventListener("change", showKind);
  showKind();

  /* «hoy», «mañana», «pasado mañana» count from the day of the situation, never from today's. */
  const day = form.elements.expected_date;
  const situation = form.elements.now_0;
  if (day && situation) {
    const near = document.createElement("span");
    near.className = "near-days";
    for (const [words, ahead] of [["hoy", 0], ["mañana", 1], ["pasado mañana", 2]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button";
      button.textContent = words;
      button.addEventListener("click", () => {
        const date = new Date(`${situation.value}T12:00:00Z`);
        date.setUTCDate(date.getUTCDate() + ahead);
        day.value = date.toISOString().slice(0, 10);
        day.dispatchEvent(new Event("input", { bubbles: true }));
      });
      near.append(button);
    }
    const allow = () => {
      for (const button of near.children) button.disabled = !situation.value;
      near.title = situation.value ? "" : "Escribe primero la fecha de la situación";
    };
    situation.addEventListener("input", allow);
    allow();
    day.after(near);
  }

  /* The check, half a second after the last key; a newer answer wins over an older one. */
  const told = form.querySelector("[data-how-checked]");
  const address = told?.querySelector("button")?.formAction;
  if (!address) return;
  let waiting = 0;
  let asking = null;
  const ask = async () => {
    asking?.abort();
    const mine = (asking = new AbortController());
    try {
      const answer = await fetch(address, {
        method: "POST",
        body: new FormData(form),
        headers: { "X-Requested-With": "fetch" },
        signal: mine.signal,
      });
      if (answer.ok && !answer.redirected) told.innerHTML = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") console.info("no preview", error.message);
    }
  };
  const soon = () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(ask, 500);
  };
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  ask();
})();
