/* The assistant's box: the answer gets the focus, and with htmx it comes without leaving the page. The box works without this file. */
(() => {
  "use strict";
  const isAsk = (event) => event.detail.requestConfig?.elt.matches("form[data-assistant]");
  const goToAnswer = () => document.getElementById("asistente-respuesta")?.focus();

  /* «Demasiadas veces» and the like are answers too, which htmx would leave out. */
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!isAsk(event) || event.detail.xhr.status >= 500) return;
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  });
  document.addEventListener("htmx:afterSettle", (event) => isAsk(event) && goToAnswer());

  /* When nothing usable came, the form goes as a page, and the browser says what is wrong. */
  for (const failure of ["htmx:sendError", "htmx:responseError"]) {
    document.addEventListener(failure, (event) => {
      if (!isAsk(event)) return;
      event.stopPropagation();
      event.detail.requestConfig.elt.submit();
    }, true);
  }

  goToAnswer();
})();
