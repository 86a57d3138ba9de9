// The head of the page, how full the cluster is, and the foot.
import { byId, link, make, shareBar } from '../shared/dom.js';
import { counted, percent, shellQuoted } from '../shared/text.js';

export function drawSummary(model, showOutcome) {
  const summary = model.summary;
  const asked = summary.scheduled + summary.pending + summary.gated + summary.notOurs;
  byId('verdict').textContent =
    `${summary.scheduled.toLocaleString('en')} of ${counted(asked, 'pod')} scheduled onto ` +
    `${counted(summary.nodes, 'node')}; ${counted(summary.boundBefore, 'pod')} ${summary.boundBefore === 1 ? 'was' : 'were'} bound before.`;
  document.title = `berth simulate: ${summary.pending > 0 ? `${summary.pending.toLocaleString('en')} pending, ` : ''}${summary.scheduled.toLocaleString('en')} of ${asked.toLocaleString('en')} scheduled`;
  const tiles = [
    ['Pending', summary.pending, 'Pending'],
    ['Scheduled', summary.scheduled, 'Scheduled'],
    ['Gated', summary.gated, 'Gated'],
    ['Other schedulers', summary.notOurs, 'NotOurs'],
    ['Preempted', summary.preempted, 'Preempted'],
  ];
  for (const [title, count, outcome] of tiles) {
    if (count === 0 && outcome !== 'Pending' && outcome !== 'Scheduled') continue;
    byId('tiles').append(
      make(
        'li',
        {},
        make(
          'button',
          { type: 'button', class: 'stat', onclick: () => showOutcome(outcome) },
          make('span', { class: 'small' }, title),
          make('b', { class: count ? outcome : undefined }, count.toLocaleString('en')),
        ),
      ),
    );
  }
  byId('tiles').append(
    make(
      'li',
      { class: 'stat' },
      make('span', { class: 'small' }, 'Nodes'),
      make('b', {}, summary.nodes.toLocaleString('en')),
    ),
  );
}

export function drawFullness(model, showNode) {
  const nodeShare = (entry) =>
    entry ? [percent(entry.share), ' ', link(entry.node, () => showNode(entry.node))] : '-';
  const column = (title, look) => make('th', { scope: 'col', class: look }, title);
  byId('resources').append(
    make('caption', { class: 'unseen' }, 'Requested of each resource'),
    make(
      'thead',
      {},
      make(
        'tr',
        {},
        column('Resource'),
        column('Requested'),
        column('Amounts'),
        column('Emptiest node', 'extra'),
        column('Median', 'extra'),
        column('Fullest node', 'extra'),
      ),
    ),
    make(
      'tbody',
      {},
      model.summary.utilisation.map((use) =>
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, use.resource),
          make('td', { class: 'tight' }, shareBar(use.share), ' ' + percent(use.share)),
          make('td', {}, `${use.requested} of ${use.allocatable}`),
          make('td', { class: 'extra' }, nodeShare(use.lowest)),
          make('td', { class: 'extra' }, use.median ? percent(use.median.share) : '-'),
          make('td', { class: 'extra' }, nodeShare(use.highest)),
        ),
      ),
    ),
  );
  if (model.summary.zones.length === 0) return;
  byId('zones').append(
    make('caption', {}, `Zones; the pods placed differ by ${model.summary.placedSpread}`),
    make(
      'thead',
      {},
      make(
        'tr',
        {},
        column('Zone'),
        column('Nodes', 'number'),
        column('Pods', 'number'),
        column('Placed now', 'number'),
      ),
    ),
    make(
      'tbody',
      {},
      model.summary.zones.map((zone) =>
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, zone.zone || '(no zone)'),
          [zone.nodes, zone.pods, zone.placed].map((count) =>
            make('td', { class: 'number' }, count.toLocaleString('en')),
          ),
        ),
      ),
    ),
  );
  byId('zones').hidden = false;
}

export function drawFoot(model) {
  const { command, inputs, version } = model.context;
  if (inputs.length > 0)
    byId('foot').append(
      make('h2', {}, 'Made from'),
      make(
        'ul',
        { class: 'names' },
        inputs.map((input) => make('li', {}, make('code', {}, input))),
      ),
    );
  if (command.length > 0)
    byId('foot').append(
      make('h2', {}, 'with'),
      make('p', {}, make('code', { id: 'command' }, command.map(shellQuoted).join(' '))),
    );
  byId('foot').append(
    make(
      'p',
      { class: 'small' },
      `berth ${version}. The same input and seed give the same page. The address of the page holds the view: a link shows the same.`,
    ),
  );
}
