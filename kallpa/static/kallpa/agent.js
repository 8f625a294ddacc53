/* The agent's page: the answer gets the focus, and with htmx it comes without leaving the page. The page works without this file. */
(() => {
  "use strict";
  const isOurs = (event) => event.detail.requestConfig?.elt.matches("form[data-agent]");
  const goToAnswer = () => document.getElementById("agente-respuesta")?.focus({ preventScroll: true });

  /* «Demasiadas veces» and the like are answers too, which htmx would leave out. Any other page, say the login, is gone to. */
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!isOurs(event)) return;
    const { xhr } = event.detail;
    if (xhr.responseText.includes('id="agente"')) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    } else if (xhr.status < 400) {
      event.detail.shouldSwap = false;
      location.assign(xhr.responseURL);
    }
  });
  document.addEventListener("htmx:afterSettle", (event) => isOurs(event) && goToAnswer());

  /* When nothing usable came, the form goes as a page, and the browser says what is wrong; its key keeps a task from being asked twice. */
  for (const failure of ["htmx:sendError", "htmx:responseError"]) {
    document.addEventListener(failure, (event) => {
      if (!isOurs(event)) return;
      event.stopPropagation();
      event.detail.requestConfig.elt.submit();
    }, true);
  }

  goToAnswer();
})();
