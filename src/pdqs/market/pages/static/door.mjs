// A link may carry its one-time code after the #, which browsers never send: put it in the field and out of sight.

function take() {
  const code = location.hash.slice(1);
  const field = document.getElementById("code");
  if (!field || !/^[A-Za-z0-9_-]{1,80}$/.test(code) || document.getElementById(code)) return; // one that was cut off, too
  field.value = code;
  history.replaceState(null, "", location.pathname + location.search);
  if (field.form.matches("[data-look]")) field.form.requestSubmit(); // only asks whose it is, and uses nothing up
}

take();
addEventListener("hashchange", take); // a link pasted where the page is open already loads nothing
