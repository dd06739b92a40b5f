// A link may carry its one-time code after the #, which browsers never send: put it in the field and out of sight.
const code = location.hash.slice(1);
if (/^[A-Za-z0-9_-]{20,80}$/.test(code)) {
  document.getElementById("code").value = code;
  history.replaceState(null, "", location.pathname);
}
