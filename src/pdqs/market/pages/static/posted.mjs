// A page that answers a form has no address of its own: whoever came back to it was asked by the browser whether to send the
// form again. It takes the address of the page that the form is on.

const again = document.querySelector("[data-again]")?.dataset.again;
if (again) history.replaceState(history.state, "", again);
