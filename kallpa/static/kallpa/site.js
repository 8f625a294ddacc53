/* What makes the pages quicker to use. Every page works without it. */
(() => {
  "use strict";
  const form = () => document.querySelector("form[data-booking]");
  const soles = (centimos) => "S/\u00a0" + (centimos / 100).toLocaleString("es-PE", { minimumFractionDigits: 2 });
  /* {court: [sport, céntimos an hour]} */
  const courtsOf = (booking) => JSON.parse(booking.dataset.courts);
  const chosenText = (select) => (select.value ? select.selectedOptions[0].textContent.trim() : "");

  /* The hours of the grid that the form asks for. */
  const markHours = ({ court, date, startHour, hours }) => {
    const shown = document.getElementById("dia")?.dataset.date === date.value;
    const first = Number(startHour.value), last = first + Number(hours.value);
    for (const link of document.querySelectorAll("#dia a[data-hour]")) {
      const hour = Number(link.dataset.hour);
      const asked = shown && link.dataset.court === court.value && startHour.value && hour >= first && hour < last;
      asked ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    }
  };

  /* The booking in words, with its price, above the button. */
  const sumUp = (booking) => {
    const { court, date, startHour, hours } = booking.elements;
    const known = courtsOf(booking)[court.value], first = Number(startHour.value), count = Number(hours.value);
    booking.querySelector("[data-sum]").textContent = known && startHour.value && count
      ? `${chosenText(court).split(" · ")[0]}, ${chosenText(date)}, de ${first}:00 a ${first + count}:00. ${soles(known[1] * count)}`
      : "";
    markHours(booking.elements);
  };

  /* A court belongs to one sport: choosing one settles the other. */
  const matchSport = (booking, changed) => {
    const { court, sport } = booking.elements, courts = courtsOf(booking);
    if (changed === court && court.value) sport.value = courts[court.value][0];
    if (changed === sport && court.value && courts[court.value][0] !== sport.value) court.value = "";
    for (const option of court.options) {
      option.hidden = option.disabled = Boolean(option.value && sport.value && courts[option.value][0] !== sport.value);
    }
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#dia a[data-hour]"), booking = form();
    if (!link || !booking || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    booking.elements.date.value = document.getElementById("dia").dataset.date;
    booking.elements.sport.value = "";
    matchSport(booking);
    booking.elements.court.value = link.dataset.court;
    booking.elements.startHour.value = link.dataset.hour;
    matchSport(booking, booking.elements.court);
    sumUp(booking);
    document.getElementById("reservar").scrollIntoView({ block: "nearest" });
    document.getElementById("reservar-titulo").focus({ preventScroll: true });
  });

  document.addEventListener("change", (event) => {
    const booking = event.target.closest("form[data-booking]");
    if (!booking) return;
    matchSport(booking, event.target);
    sumUp(booking);
  });

  /* One tap is one request: the button says that it was heard. */
  document.addEventListener("submit", (event) => {
    const button = event.target.querySelector("button[data-busy]");
    if (!button) return;
    if (button.dataset.idle) return event.preventDefault();
    button.dataset.idle = button.textContent;
    button.textContent = button.dataset.busy;
  });
  addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("button[data-idle]")) {
      button.textContent = button.dataset.idle;
      delete button.dataset.idle;
    }
  });

  /* Who types a password on a small screen may want to read it. */
  for (const label of document.querySelectorAll("[data-show-password]")) {
    const passwords = [...label.closest("form").querySelectorAll("input[type=password]")];
    label.hidden = false;
    label.addEventListener("change", (event) => passwords.forEach((input) => { input.type = event.target.checked ? "text" : "password"; }));
  }

  /* A text area with a limit counts what is left: <textarea maxlength="300" data-counter="id of the element that shows it">. */
  const count = (area) => {
    const left = area.maxLength - area.value.length;
    document.getElementById(area.dataset.counter).textContent = left === 1 ? "Queda 1 carácter." : `Quedan ${left} caracteres.`;
  };
  document.addEventListener("input", (event) => event.target.matches("textarea[data-counter]") && count(event.target));

  /* Another day in the grid is another day in the form, unless the form holds a proposal; the box comes back to the day last seen. */
  document.addEventListener("htmx:afterSettle", (event) => {
    const booking = form(), day = document.getElementById("dia");
    if (event.target === day) {
      if (booking && !booking.elements.proposal.value) booking.elements.date.value = day.dataset.date;
      for (const input of document.querySelectorAll("#asistente input[name=date]")) input.value = day.dataset.date;
    }
    start();
  });

  /* When the day does not arrive by itself, the browser goes there, and says what is wrong. */
  for (const failure of ["htmx:sendError", "htmx:responseError"]) {
    document.addEventListener(failure, (event) => {
      if (event.detail.requestConfig.verb === "get") location.assign(event.detail.pathInfo.requestPath);
    });
  }

  const start = () => {
    document.querySelectorAll("textarea[data-counter]").forEach(count);
    const booking = form();
    if (!booking) return;
    matchSport(booking);
    sumUp(booking);
    /* A form that was filled stands before the grid, as the server puts it. */
    if (booking.elements.proposal.value) document.getElementById("dia").before(document.getElementById("reservar"));
  };
  start();
  document.querySelector("[aria-invalid=true]")?.focus();
})();
