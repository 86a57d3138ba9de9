// One pod: where it is on its way, its attempts, what would wake it, and what every node says of it now.
import { byId, link, make } from '../shared/dom.js';
import { preemptionPart } from '../shared/preemption.js';
import { counted } from '../shared/text.js';
import { remedyList, scoreTable, verdictTable } from '../shared/verdicts.js';
import { outcomeText } from './decisions.js';
import { agoText, leftText, readPod } from './model.js';

const placeTexts = {
  Active: 'is ready to be tried',
  Backoff: 'failed, and waits for its backoff',
  Unschedulable: 'is unschedulable',
  Gated: 'is gated',
  Scheduling: 'is being tried',
  WaitingForPermit: 'waits for permission to be bound',
  Binding: 'is being bound',
  Gone: 'is gone',
};

function attemptItem(attempt, pod) {
  const parts = [
    make('b', {}, attempt.outcome),
    make(
      'div',
      {},
      `Attempt ${attempt.attempt}, ${agoText(attempt.ended, pod.at)}: `,
      attempt.node && make('b', {}, attempt.node),
      attempt.node ? ', ' : '',
      outcomeText(attempt),
    ),
  ];
  if (attempt.uid !== pod.uid) parts.push(make('div', { class: 'small' }, 'of an earlier pod of that name'));
  if (attempt.preemption) {
    const names = attempt.preemption.victims.map((victim) => `${victim.pod} (priority ${victim.priority})`);
    parts.push(make('div', {}, `preempted ${names.join(', ')} on ${attempt.preemption.node}`));
  }
  return make('li', { class: attempt.outcome }, parts);
}

function wakeUpsPart(pod) {
  if (pod.wakeUps.length === 0) return [];
  return [
    make('h3', {}, 'What would have it tried again'),
    make(
      'ul',
      { class: 'names' },
      pod.wakeUps.map((wakeUp) => make('li', {}, make('b', {}, wakeUp.plugin), ' ', wakeUp.events.join(', '))),
    ),
  ];
}

// The tables of the report page, for which scores are arrays.
function nowPart(pod, showNode) {
  if (!pod.now) return [];
  const told = { ...pod.now.explanation };
  told.nodes = told.nodes.map((node) => ({
    ...node,
    scores: node.scores?.map((score) => [score.raw, score.normalised, score.weighted]),
  }));
  const parts = [make('h3', {}, pod.node ? 'Were it placed again now' : 'Tried now')];
  parts.push(
    make('p', {}, `${pod.now.feasibleNodes.toLocaleString('en')} of ${counted(pod.now.nodes, 'node')} feasible.`),
  );
  if (told.preFilter) parts.push(make('p', {}, `Rejected before any node was evaluated: ${told.preFilter.reason}`));
  const remedies = remedyList(told);
  if (remedies) parts.push(make('h4', {}, 'Would fit with'), remedies);
  for (const hint of told.hints || []) parts.push(make('p', {}, hint));
  parts.push(scoreTable(told, showNode), verdictTable(told, showNode));
  if (pod.now.nodesLeftOut > 0)
    parts.push(make('p', { class: 'small' }, `${counted(pod.now.nodesLeftOut, 'node')} further off are left out.`));
  if (pod.now.cutShort)
    parts.push(make('p', { class: 'small' }, 'Details were left out so that the scheduler could go on.'));
  if (told.preemption) parts.push(preemptionPart(told.preemption));
  return parts.filter(Boolean);
}

function podParts(pod, showNode) {
  const facts = [`priority ${pod.priority}`, `scheduler ${pod.schedulerName || 'default-scheduler'}`];
  if (pod.queue?.secondsLeft !== undefined) facts.push(`${leftText(pod.queue.secondsLeft)} left at most`);
  if (pod.queue?.gatedBy) facts.push(`gated by ${pod.queue.gatedBy}`);
  if (pod.nominatedNode) facts.push(`promised ${pod.nominatedNode}`);
  return [
    make('p', { class: 'small' }, facts.join('; ')),
    pod.node &&
      make(
        'p',
        {},
        link(`Show ${pod.node} among the nodes`, () => showNode(pod.node)),
      ),
    make('h3', {}, 'Attempts'),
    pod.attempts.length > 0
      ? make(
          'ol',
          { class: 'timeline' },
          pod.attempts.map((attempt) => attemptItem(attempt, pod)),
        )
      : make('p', {}, 'None is on record.'),
    ...wakeUpsPart(pod),
    ...nowPart(pod, showNode),
  ].filter(Boolean);
}

export function setUpPod(address) {
  const dialog = byId('pod');
  const close = () => address.set({ pod: '' });
  const showNode = (name) => {
    close();
    address.set({ node: name });
    byId('nodes-title').scrollIntoView({ block: 'start' });
    byId('nodes-title').focus({ preventScroll: true });
  };
  const follow = async () => {
    const name = address.get('pod');
    if (!name) {
      if (dialog.open) dialog.close();
      return;
    }
    byId('pod-title').textContent = name;
    byId('pod-body').replaceChildren(make('p', {}, 'Asking the scheduler…'));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    byId('pod-title').focus();
    const pod = await readPod(name).catch((problem) => ({ problem }));
    if (address.get('pod') !== name) return;
    if (pod.problem) {
      byId('pod-body').replaceChildren(make('p', { role: 'alert' }, pod.problem.message));
      return;
    }
    byId('pod-title').textContent = pod.place === 'Placed' ? `${name} is on ${pod.node}` : `${name} ${placeTexts[pod.place]}`;
    byId('pod-body').replaceChildren(...podParts(pod, showNode));
  };
  address.watch(['pod'], follow);
  dialog.addEventListener('close', close);
  // A click beside the dialog closes it, as Escape does.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close();
  });
  byId('pod-close').addEventListener('click', close);
  follow();
}
