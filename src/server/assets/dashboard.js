/**
 * Keeps an open page up to date. The server sends the page anew whenever it changes. Parts marked as live are changed in place,
 * so that focus, scroll positions, open details, what is being typed and a click in progress stay. Without this script
 * everything works after a reload.
 */

function update(html) {
  const next = new DOMParser().parseFromString(html, 'text/html');
  const focused = document.activeElement;
  for (const fresh of next.querySelectorAll('[data-live]')) {
    const shown = document.getElementById(fresh.id);
    if (shown !== null && !isSelected(shown)) patch(shown, fresh);
  }
  // A part that was moved has lost it.
  if (document.activeElement !== focused && focused.isConnected) focused.focus({ preventScroll: true });
}

/** Elements are the same if they have the same id, so that a button never gives another order than the one it was pressed for. */
function patch(shown, fresh) {
  if (shown.isEqualNode(fresh)) return;
  if (shown.nodeName !== fresh.nodeName || shown.id !== fresh.id) shown.replaceWith(fresh);
  else if (shown.nodeType !== Node.ELEMENT_NODE) shown.data = fresh.data;
  else {
    patchAttributes(shown, fresh);
    patchChildren(shown, fresh);
  }
}

function patchAttributes(shown, fresh) {
  // Whether details are open is up to the reader.
  const names = new Set([...shown.getAttributeNames(), ...fresh.getAttributeNames()]);
  names.delete('open');
  for (const name of names) {
    const value = fresh.getAttribute(name);
    if (value === null) shown.removeAttribute(name);
    else if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
}

function patchChildren(shown, fresh) {
  const wanted = [...fresh.childNodes];
  const known = new Map([...shown.children].filter(({ id }) => id !== '').map((child) => [child.id, child]));
  for (const [index, child] of wanted.entries()) {
    const here = shown.childNodes[index] ?? null;
    const same = child.id ? known.get(child.id) : here?.id ? undefined : here;
    if (!same) shown.insertBefore(child, here);
    else {
      if (same !== here) shown.insertBefore(same, here);
      patch(same, child);
    }
  }
  while (shown.childNodes.length > wanted.length) shown.lastChild.remove();
}

/** Somebody has selected some of its text. */
function isSelected(part) {
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
