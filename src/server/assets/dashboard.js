/**
 * Keeps an open page up to date. The server sends the page anew whenever it changes; only the parts marked as live are replaced,
 * so that scroll position, open details and what is being typed stay. Without this script everything works after a reload.
 */

function update(html) {
  const next = new DOMParser().parseFromString(html, 'text/html');
  for (const fresh of next.querySelectorAll('[data-live]')) {
    const shown = document.getElementById(fresh.id);
    if (shown === null || shown.isEqualNode(fresh) || isInUse(shown)) continue;
    const focused = shown.contains(document.activeElement) ? document.activeElement.id : '';
    for (const details of shown.querySelectorAll('details[open][id]'))
      next.getElementById(details.id)?.setAttribute('open', '');
    const scrolled = [...shown.querySelectorAll('.scroll')].map((part) => part.scrollLeft);
    shown.replaceWith(fresh);
    for (const [index, part] of [...fresh.querySelectorAll('.scroll')].entries())
      part.scrollLeft = scrolled[index] ?? 0;
    if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

/** Somebody types in it, or has selected some of its text. */
function isInUse(part) {
  const active = document.activeElement;
  if (part.contains(active) && active.matches('input, select, textarea')) return true;
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && part.contains(selection.anchorNode);
}

let source = null;

function follow() {
  if (document.hidden || document.querySelector('[data-live]') === null) return;
  source = new EventSource(location.pathname + location.search);
  source.addEventListener('main', (event) => update(event.data));
  source.addEventListener('open', () => document.body.classList.remove('disconnected'));
  source.addEventListener('error', () => document.body.classList.add('disconnected'));
}

/** A hidden page needs no updates, and browsers allow only six connections to a server. */
document.addEventListener('visibilitychange', () => {
  source?.close();
  follow();
});

function countDown() {
  for (const time of document.querySelectorAll('time[data-countdown]')) {
    const seconds = Math.ceil((Date.parse(time.dateTime) - Date.now()) / 1_000);
    if (seconds <= 0) time.textContent = 'now';
    else if (seconds < 60) time.textContent = `in ${seconds} s`;
  }
}

follow();
setInterval(countDown, 1_000);
