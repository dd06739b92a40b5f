// A form that is gone back to is the form that was sent. The page itself comes anew, for pages are not stored, and with a
// new key; what was typed is in it again if the browser kept that. Then the key that it was sent with belongs to it
// too: sent again, it changes what it made the first time. The key is kept with this one entry of the tab's history,
// and a digest of what was sent beside it, never the words; a form that is begun anew is another entry, or other words.

import { sha256 } from "../device/sha256.mjs";

const typed = (form) => [...new FormData(form)].filter(([name]) => !["csrf_token", "key"].includes(name));
const digest = (form) => sha256(JSON.stringify(typed(form)));

/** Keep the form's key when it is sent, and give it back on return; `returned` is called then. */
export function keepKey(form, returned) {
  form.addEventListener("submit", () => {
    history.replaceState({ ...history.state, sent: { key: form.elements.key.value, of: digest(form) } }, "");
  });
  addEventListener("pageshow", () => {
    const sent = history.state?.sent;
    if (sent?.of !== digest(form)) return;
    form.elements.key.value = sent.key;
    returned();
  });
}
