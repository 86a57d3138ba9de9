// Tiles in groups, one of which can be chosen: a list box, so that Tab passes over all of them at once and the arrow keys
// go from tile to tile.
import { make } from './dom.js';

export class TileMap {
  // choose(id) is called when a person chooses a tile.
  constructor(root, label, choose) {
    this.root = root;
    this.choose = choose;
    this.tiles = [];
    root.setAttribute('role', 'listbox');
    root.setAttribute('aria-label', label);
    root.addEventListener('keydown', (event) => this.onKey(event));
    root.addEventListener('click', (event) => {
      const tile = event.target.closest('[role="option"]');
      if (tile) this.pick(tile);
    });
  }

  // groups: { title, note, width, tiles: [element] }; each tile has data-id. With a width in px, small groups stand side by
  // side.
  draw(groups, chosen) {
    this.tiles = groups.flatMap((group) => group.tiles);
    this.root.replaceChildren(
      ...groups.map((group, i) => {
        const id = `${this.root.id}-group-${i}`;
        const part = make(
          'div',
          {
            class: 'group',
            role: 'group',
            'aria-labelledby': group.title ? id : undefined,
            'aria-label': group.title ? undefined : 'all',
          },
          group.title
            ? make(
                'div',
                { class: 'group-title', id },
                make('b', {}, group.title),
                ' ',
                make('span', { class: 'small' }, group.note),
              )
            : '',
          make('div', { class: 'tiles', role: 'presentation' }, group.tiles),
        );
        if (group.width) part.style.setProperty('--wide', `${group.width}px`);
        return part;
      }),
    );
    for (const tile of this.tiles) {
      tile.setAttribute('role', 'option');
      tile.setAttribute('tabindex', '-1');
    }
    this.mark(chosen);
  }

  // Shows which tile is chosen; '' for none.
  mark(id) {
    let stop = this.tiles[0];
    for (const tile of this.tiles) {
      const is = tile.dataset.id === id;
      tile.setAttribute('aria-selected', String(is));
      if (is) stop = tile;
    }
    this.stopAt(stop);
  }

  stopAt(tile) {
    if (this.stop) this.stop.setAttribute('tabindex', '-1');
    this.stop = tile;
    if (tile) tile.setAttribute('tabindex', '0');
  }

  pick(tile) {
    this.stopAt(tile);
    this.choose(tile.dataset.id);
  }

  onKey(event) {
    const at = this.tiles.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const steps = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: this.tiles.length - 1,
      ArrowDown: this.across(at, 1),
      ArrowUp: this.across(at, -1),
    };
    if (event.key === 'Enter' || event.key === ' ') this.pick(this.tiles[at]);
    else if (event.key in steps) this.focus(steps[event.key]);
    else return;
    event.preventDefault();
  }

  focus(position) {
    const tile = this.tiles[position];
    if (!tile) return;
    this.stopAt(tile);
    tile.focus();
  }

  // The tile nearest below (1) or above (-1).
  across(at, direction) {
    const middle = (box) => box.left + box.width / 2;
    const from = this.tiles[at].getBoundingClientRect();
    let best = -1;
    let row = null;
    for (let i = at + direction; i >= 0 && i < this.tiles.length; i += direction) {
      const box = this.tiles[i].getBoundingClientRect();
      // Tiles of a row stand on one line.
      if (Math.abs(box.bottom - from.bottom) < 2) continue;
      if (row === null) row = box.bottom;
      if (Math.abs(box.bottom - row) >= 2) break;
      if (
        best < 0 ||
        Math.abs(middle(box) - middle(from)) < Math.abs(middle(this.tiles[best].getBoundingClientRect()) - middle(from))
      )
        best = i;
    }
    return best;
  }
}
