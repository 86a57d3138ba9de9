// A table that can be sorted by its headings. The order stands in the address under `sortName`: a column's id, with '-' in
// front for descending. Rows are made as they are needed, some hundred at a time.
import { make } from './dom.js';
import { naturalCompare } from './text.js';

const rowsAtOnce = 200;

function compareValues(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return naturalCompare(String(a), String(b));
}

export class SortableTable {
  // columns: { id, title, value(item), cell(item), number, extra, descending }. `value` is what is sorted by; undefined
  // comes last in either direction. `extra` columns are left out in narrow windows; `descending` columns start with the
  // largest. `more` is the button below the table.
  constructor(table, { caption, columns, address, sortName, more }) {
    Object.assign(this, { columns, address, sortName, more, items: [], limit: rowsAtOnce });
    // The roles are those that the elements have by themselves, but for browsers that forget them when a narrow window
    // lays the rows out as blocks.
    table.setAttribute('role', 'table');
    this.headings = columns.map((column) =>
      make(
        'th',
        { scope: 'col', role: 'columnheader', class: this.classOf(column) },
        make(
          'button',
          { type: 'button', class: 'sort', onclick: () => this.sortBy(column) },
          column.title,
          make('span', { 'aria-hidden': 'true', class: 'arrow' }),
        ),
      ),
    );
    this.body = make('tbody', { role: 'rowgroup' });
    table.classList.add('folds');
    table.replaceChildren(
      make('caption', { class: 'unseen' }, caption),
      make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, this.headings)),
      this.body,
    );
    address.watch([sortName], () => this.draw());
    more.addEventListener('click', () => {
      const first = this.limit;
      this.limit += rowsAtOnce;
      this.draw();
      const row = this.body.rows[first];
      if (row) (row.querySelector('button') || more).focus({ preventScroll: true });
    });
  }

  classOf(column) {
    return (
      [column.number ? 'number' : '', column.extra ? 'extra' : '', column.look || ''].join(' ').trim() || undefined
    );
  }

  sortBy(column) {
    const [id, descending] = this.order();
    const again = id === column.id ? !descending : Boolean(column.descending);
    this.address.set({ [this.sortName]: (again ? '-' : '') + column.id });
  }

  order() {
    const text = this.address.get(this.sortName);
    return [text.replace(/^-/, ''), text.startsWith('-')];
  }

  // The items to show; what is equal in the chosen column stays in the order given.
  show(items) {
    this.items = items;
    this.limit = rowsAtOnce;
    this.draw();
  }

  draw() {
    const [id, descending] = this.order();
    const chosen = this.columns.find((column) => column.id === id) || this.columns[0];
    this.headings.forEach((heading, i) => {
      if (this.columns[i] === chosen) heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else heading.removeAttribute('aria-sort');
    });
    const keyed = this.items.map((item) => [chosen.value(item), item]);
    keyed.sort(([a], [b]) => {
      if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0);
      return descending ? compareValues(b, a) : compareValues(a, b);
    });
    this.body.replaceChildren(...keyed.slice(0, this.limit).map(([, item]) => this.row(item)));
    this.more.hidden = keyed.length <= this.limit;
    this.more.textContent = `Show more (${(keyed.length - this.limit).toLocaleString('en')} left)`;
  }

  row(item) {
    return make(
      'tr',
      { role: 'row' },
      this.columns.map((column, i) =>
        make(
          i === 0 ? 'th' : 'td',
          { class: this.classOf(column), scope: i === 0 ? 'row' : undefined, role: i === 0 ? 'rowheader' : 'cell' },
          column.cell(item),
        ),
      ),
    );
  }
}
