// The state of a page in the fragment of its address, so that a link shows the same view: #node=web-a1&group=zone. Values
// are texts. Those that are as `defaults` has them are left out.

const readable = (value) =>
  encodeURIComponent(value).replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');

export class Address {
  constructor(defaults) {
    this.defaults = defaults;
    this.watchers = [];
    this.state = this.read();
    window.addEventListener('hashchange', () => this.follow());
    window.addEventListener('popstate', () => this.follow());
  }

  get(name) {
    return this.state[name];
  }

  // Calls `changed` whenever one of the names has another value.
  watch(names, changed) {
    this.watchers.push({ names, changed });
  }

  // `push`: the Back button leads to what was there before.
  set(values, { push = false } = {}) {
    const before = this.state;
    this.state = { ...before, ...values };
    const parts = Object.keys(this.defaults)
      .filter((name) => this.state[name] !== this.defaults[name])
      .map((name) => `${name}=${readable(this.state[name])}`);
    const fragment = parts.length > 0 ? '#' + parts.join('&') : '';
    if (fragment !== location.hash) {
      const url = fragment || location.pathname + location.search;
      if (push) history.pushState(null, '', url);
      else history.replaceState(null, '', url);
    }
    this.tell(before);
  }

  read() {
    const state = { ...this.defaults };
    for (const part of location.hash.slice(1).split('&')) {
      const at = part.indexOf('=');
      const name = part.slice(0, Math.max(at, 0));
      if (!Object.hasOwn(this.defaults, name)) continue;
      try {
        state[name] = decodeURIComponent(part.slice(at + 1));
      } catch {
        // Half of a letter, as a mail program may leave it: the rest of the link still counts.
      }
    }
    return state;
  }

  follow() {
    const before = this.state;
    this.state = this.read();
    this.tell(before);
  }

  tell(before) {
    const changed = new Set(Object.keys(this.defaults).filter((name) => before[name] !== this.state[name]));
    for (const watcher of this.watchers) {
      if (watcher.names.some((name) => changed.has(name))) watcher.changed();
    }
  }
}
