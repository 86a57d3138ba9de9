// What the scheduler tells: its pages, which stand beside this one, read when they are needed; and a stream of changes.

// Lists are read again at most so often, however much changes.
export const readEvery = 1000;

export class ReadProblem extends Error {}

export async function readPage(page, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  const answer = await fetch(page + (query.size ? `?${query}` : ''), {
    headers: { accept: 'application/json' },
  });
  const text = await answer.text();
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    document = {};
  }
  if (!answer.ok) throw new ReadProblem(document.errors?.[0] || document.message || `status ${answer.status}`);
  return document;
}

export const readPod = (name) => {
  const [namespace, pod] = name.split('/');
  return readPage(`pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod ?? '')}/explain`, { nodes: 500 });
};

// Without a connection for so long, what is shown may be old.
const lostAfter = 3000;
// The server sends a beat when nothing has changed for 15 seconds: a connection without one is dead.
const silentAfter = 40000;
const reopenAfter = 3000;

// The server sends what has changed as it happens, merged, ten times a second at most. A stream that ends or breaks is
// opened again by the browser, which tells what it has seen; one that was refused is opened again here.
export function followChanges(onChange, onState) {
  let source;
  let lost;
  let silent;
  const open = () => {
    source = new EventSource('events');
    const alive = () => {
      clearTimeout(lost);
      clearTimeout(silent);
      lost = undefined;
      silent = setTimeout(() => {
        source.close();
        open();
      }, silentAfter);
      onState(true);
    };
    source.onopen = alive;
    source.onmessage = (event) => {
      alive();
      onChange(JSON.parse(event.data));
    };
    source.addEventListener('beat', alive);
    source.onerror = () => {
      lost ??= setTimeout(() => onState(false), lostAfter);
      if (source.readyState === EventSource.CLOSED) setTimeout(open, reopenAfter);
    };
  };
  open();
}

export function agoText(time, now) {
  const seconds = Math.max(0, Math.round((Date.parse(now) - Date.parse(time)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min ago`;
}

export const leftText = (seconds) => (seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`);

// Calls `read` now and whenever asked, but not more often than every `pause` ms, and never twice at a time.
export class Reader {
  constructor(read, pause = readEvery) {
    Object.assign(this, { read, pause, running: false, again: false });
  }

  async ask() {
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    try {
      await this.read();
    } catch (problem) {
      if (!(problem instanceof ReadProblem || problem instanceof TypeError)) throw problem;
    } finally {
      setTimeout(() => {
        this.running = false;
        if (this.again) {
          this.again = false;
          this.ask();
        }
      }, this.pause);
    }
  }
}
