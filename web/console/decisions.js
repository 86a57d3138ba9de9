// The last decisions, newest first. What comes in is put on top, unless the reader wants it to hold still.
import { byId, link, make } from '../shared/dom.js';
import { SortableTable } from '../shared/table.js';
import { counted } from '../shared/text.js';
import { agoText, readPage } from './model.js';

const mostDecisions = 1000;
// How old things are is written anew so often, when nothing else happens.
const redrawAfter = 5000;
// Changes may come ten times a second, which is more than anybody reads.
const drawEvery = 250;

export function outcomeText(attempt) {
  if (attempt.outcome !== 'Bound') return attempt.message || '';
  const parts = [];
  if (attempt.nominated) parts.push('its nominated node');
  else if (attempt.score === undefined && attempt.feasibleNodes === 0)
    parts.push(`by ${attempt.schedulerName || 'default-scheduler'}`);
  else if (attempt.score === undefined) parts.push('the only feasible node');
  else parts.push(`score ${attempt.score}, ${attempt.feasibleNodes} of ${counted(attempt.nodes, 'node')} feasible`);
  if (attempt.equallyGood > 1) parts.push(`${attempt.equallyGood} equally good`);
  return parts.join(', ');
}

export class Decisions {
  constructor(address, showPod) {
    Object.assign(this, { address, attempts: [], waiting: [], at: '', drawnAt: 0, timer: undefined });
    this.table = new SortableTable(byId('decision-table'), {
      caption: 'The last decisions',
      address,
      sortName: 'sort',
      more: byId('more-decisions'),
      columns: [
        {
          id: 'when',
          title: 'When',
          value: (attempt) => -attempt.sequence,
          cell: (attempt) => agoText(attempt.ended, this.at),
          look: 'tight',
        },
        {
          id: 'pod',
          title: 'Pod',
          value: (attempt) => attempt.pod,
          cell: (attempt) => link(attempt.pod, () => showPod(attempt.pod)),
          look: 'name',
        },
        {
          id: 'outcome',
          title: 'Outcome',
          value: (attempt) => attempt.outcome,
          cell: (attempt) => make('span', { class: attempt.outcome }, attempt.outcome),
        },
        {
          id: 'node',
          title: 'Node',
          value: (attempt) => attempt.node || '',
          cell: (attempt) => (attempt.node ? link(attempt.node, () => address.set({ node: attempt.node })) : '–'),
          look: 'name',
        },
        {
          id: 'attempt',
          title: 'Attempt',
          number: true,
          extra: true,
          value: (attempt) => attempt.attempt,
          cell: (attempt) => String(attempt.attempt),
        },
        {
          id: 'detail',
          title: 'Detail',
          value: outcomeText,
          cell: outcomeText,
          look: 'message',
        },
      ],
    });
    byId('decision-filter').addEventListener('input', () => address.set({ q: byId('decision-filter').value }));
    byId('outcome').addEventListener('change', () => address.set({ outcome: byId('outcome').value }));
    byId('pause').addEventListener('change', () => this.take([], this.at));
    byId('decision-filters').addEventListener('submit', (event) => event.preventDefault());
    address.watch(['q', 'outcome'], () => this.draw());
  }

  async read() {
    const page = await readPage('decisions', { limit: mostDecisions });
    this.at = page.at;
    this.attempts = page.attempts;
    this.draw();
  }

  take(attempts, at) {
    this.at = at || this.at;
    this.waiting = [...attempts, ...this.waiting].slice(0, mostDecisions);
    if (byId('pause').checked) return;
    const newest = this.attempts[0]?.sequence ?? 0;
    const fresh = this.waiting.filter((attempt) => attempt.sequence > newest);
    this.waiting = [];
    this.attempts = [...fresh, ...this.attempts].slice(0, mostDecisions);
    if (fresh.length > 0 || performance.now() - this.drawnAt > redrawAfter) this.drawSoon();
  }

  drawSoon() {
    const wait = drawEvery - (performance.now() - this.drawnAt);
    if (wait <= 0) this.draw();
    else this.timer ??= setTimeout(() => this.draw(), wait);
  }

  draw() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.drawnAt = performance.now();
    byId('decision-filter').value = this.address.get('q');
    byId('outcome').value = this.address.get('outcome');
    const wanted = this.address.get('q').toLowerCase();
    const outcome = this.address.get('outcome');
    const shown = this.attempts.filter(
      (attempt) =>
        (!outcome || attempt.outcome === outcome) &&
        `${attempt.pod} ${attempt.node || ''} ${attempt.message || ''}`.toLowerCase().includes(wanted),
    );
    const focused = byId('decision-table').contains(document.activeElement) ? document.activeElement.textContent : '';
    this.table.show(shown);
    if (focused)
      [...byId('decision-table').querySelectorAll('button')].find((button) => button.textContent === focused)?.focus();
    byId('shown-decisions').textContent = `${shown.length.toLocaleString('en')} shown`;
  }
}
