// Passkeys: ask the browser to make one or to show one, and send what it says with the form around the button.

const binary = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const base64url = (data) =>
  btoa(String.fromCharCode(...new Uint8Array(data))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const known = (list) => (list ?? []).map((one) => ({ ...one, id: binary(one.id) }));

async function made(options) {
  const user = { ...options.user, id: binary(options.user.id) };
  const excludeCredentials = known(options.excludeCredentials);
  const publicKey = { ...options, user, excludeCredentials, challenge: binary(options.challenge) };
  const found = await navigator.credentials.create({ publicKey });
  return described(found, ["clientDataJSON", "attestationObject"]);
}

async function shown(options) {
  const allowCredentials = known(options.allowCredentials);
  const publicKey = { ...options, allowCredentials, challenge: binary(options.challenge) };
  const found = await navigator.credentials.get({ publicKey });
  return described(found, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]);
}

function described(found, names) {
  const parts = names.filter((name) => found.response[name]).map((name) => [name, base64url(found.response[name])]);
  return { id: found.id, rawId: base64url(found.rawId), type: found.type, response: Object.fromEntries(parts) };
}

const WORDS = {
  NotAllowedError: "Nothing was done: it was stopped, or took too long.",
  InvalidStateError: "This device has a passkey for you already.",
};

async function answer(form) {
  const asked = await fetch(form.dataset.options, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (!asked.ok) throw new Error("The page has run out. Reload it and try again.");
  const options = await asked.json();
  const found = await (form.dataset.passkey === "create" ? made(options) : shown(options));
  form.elements.credential.value = JSON.stringify(found);
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const fault = form.querySelector("[data-passkey-fault]");
  form.hidden = !globalThis.PublicKeyCredential;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    fault.hidden = true;
    answer(form).catch((thrown) => {
      fault.textContent = WORDS[thrown.name] ?? thrown.message;
      fault.hidden = false;
    });
  });
}
