// The first thing that the device's page loads. Inside a page of somebody else's, who could lay anything over its buttons, the
// device does not start: a module that throws here keeps all that come after it from running.

if (window.top !== window) {
  const link = Object.assign(document.createElement("a"), { href: location.href, target: "_blank", rel: "noopener", textContent: "Open it by itself" });
  const said = document.createElement("p");
  said.append("Your device does not work inside another page, which could show it otherwise than it is. ", link, ".");
  document.body.replaceChildren(said);
  throw new Error("The device does not start inside another page.");
}
