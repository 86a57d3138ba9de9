// The lanes of the queue, each with its first pods in the order in which they will be tried.
import { byId, link, make } from '../shared/dom.js';
import { leftText, readPage } from './model.js';

const podsOfLane = 12;
// Being tried takes microseconds: as a lane it would only flicker.
const lanesShown = ['Active', 'Backoff', 'Unschedulable', 'Gated', 'WaitingForPermit', 'Binding'];
const laneTitles = { WaitingForPermit: 'Waiting for permit' };

function queuedPod(pod, showPod) {
  const facts = [];
  if (pod.attempts > 0) facts.push(`attempt ${pod.attempts}`);
  if (pod.secondsLeft !== undefined) facts.push(`${leftText(pod.secondsLeft)} left`);
  if (pod.gatedBy) facts.push(`gated by ${pod.gatedBy}`);
  if (pod.rejectedBy) facts.push(pod.rejectedBy.join(', '));
  if (pod.nominatedNode) facts.push(`promised ${pod.nominatedNode}`);
  return make(
    'li',
    {},
    make('span', { class: 'small' }, `${pod.position}. `),
    link(pod.pod, () => showPod(pod.pod)),
    make('div', { class: 'small' }, facts.join('; ')),
  );
}

function laneParts(lane, showPod) {
  return [
    make(
      'h3',
      {},
      make('span', { class: lane.lane }, laneTitles[lane.lane] || lane.lane),
      make('span', {}, lane.total.toLocaleString('en')),
    ),
    lane.pods.length > 0
      ? make(
          'ol',
          {},
          lane.pods.map((pod) => queuedPod(pod, showPod)),
        )
      : make('p', { class: 'small' }, 'none'),
    lane.total > lane.pods.length
      ? make('p', { class: 'small' }, `and ${(lane.total - lane.pods.length).toLocaleString('en')} more`)
      : '',
  ].filter(Boolean);
}

export class QueueLanes {
  constructor(showPod) {
    this.showPod = showPod;
    this.lanes = new Map(lanesShown.map((name) => [name, { element: make('div', { class: 'lane' }), told: '' }]));
  }

  async read() {
    const queue = await readPage('queue', { limit: podsOfLane });
    for (const lane of queue.lanes) {
      const shown = this.lanes.get(lane.lane);
      const told = JSON.stringify(lane);
      // A lane in which nothing has changed is left alone.
      if (!shown || shown.told === told) continue;
      const { element } = shown;
      const focused = element.contains(document.activeElement) ? document.activeElement.textContent : '';
      element.replaceChildren(...laneParts(lane, this.showPod));
      shown.told = told;
      // Who was reading goes on where they were.
      if (focused) [...element.querySelectorAll('button')].find((button) => button.textContent === focused)?.focus();
    }
    // A cluster that is only looked at does not show all of them.
    for (const [name, { element }] of this.lanes) element.hidden = !queue.lanes.some((lane) => lane.lane === name);
    if (!byId('lanes').firstChild) byId('lanes').append(...[...this.lanes.values()].map((lane) => lane.element));
  }
}
