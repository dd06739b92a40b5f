// A link may carry its one-time code after the #, which browsers never send: put it in the field and out of sight.

function take() {
  const code = /^#([A-Za-z0-9_-]{1,80})/.exec(location.hash)?.[1]; // cut off, too; not the full stop of a letter behind it
  const field = document.getElementById("code");
  if (!field || !code || document.getElementById(code)) return;
  field.value = code;
  history.replaceState(null, "", location.pathname + location.search);
  if (field.form.matches("[data-look]")) field.form.requestSubmit(); // only asks whose it is, and uses nothing up
}

take();
addEventListener("hashchange", take); // a link pasted where the page is open already loads nothing
