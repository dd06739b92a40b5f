// Follow a round without asking again and again: the market says when something changed. One connection, and only while
// the page is looked at; where it cannot be had, the page asks now and then instead.

const SLOW_MS = 15_000;

/** Call `look` when something may have changed at `address`, until it gives `false`. */
export function follow(address, look) {
  let [source, timer, over, busy, again] = [null, null, false, false, false];

  async function heard() {
    if (busy) { again = true; return; }
    busy = true;
    over = (await look()) === false || over;
    busy = false;
    if (over) stop();
    else if (again) { again = false; setTimeout(heard, 1000); }
  }

  function slowly() {
    heard();
    if (source?.readyState !== 2) return; // browsers give up on a proxy that says that its market is away: it comes back
    source = null;
    start();
  }

  function stop() {
    source?.close();
    source = null;
    clearInterval(timer);
    timer = null;
  }

  function start() {
    if (over || document.hidden || source) return;
    timer ??= setInterval(slowly, SLOW_MS); // a net under the stream, and all there is without one
    if (typeof EventSource === "undefined") return;
    source = new EventSource(address);
    source.addEventListener("message", heard);
  }

  document.addEventListener("visibilitychange", () => {
    stop();
    if (!document.hidden && !over) { heard(); start(); }
  });
  addEventListener("pagehide", stop);
  start();
  heard();
}
