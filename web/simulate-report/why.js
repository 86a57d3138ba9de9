// The dialog that says why one pod is where it is, or why it is nowhere.
import { byId, link, make } from '../shared/dom.js';
import { amountText, counted } from '../shared/text.js';
import { explanationOf } from './model.js';
import { preemptionPart } from '../shared/preemption.js';
import { remedyList, scoreTable, verdictTable } from '../shared/verdicts.js';

export function requestText(model, size) {
  if (!size) return '';
  const parts = model.resources
    .map((resource, i) => [resource, size.amounts[i]])
    .filter(([resource, amount]) => amount > 0 && resource !== 'pods')
    .map(([resource, amount]) => `${amountText(resource, amount)} ${resource}`);
  return parts.length > 0 ? parts.join(', ') : 'nothing';
}

export function setUpWhy(model, address, showNode) {
  const dialog = byId('why');
  const close = () => address.set({ pod: '' });
  const toNode = (name) => {
    close();
    showNode(name);
  };
  const fill = (name) => {
    const pod = model.pods.find((entry) => entry.pod === name);
    const told = explanationOf(model, pod);
    byId('why-title').textContent = pod.outcome === 'Scheduled' ? `${name} is on ${pod.node}` : `${name} has no node`;
    const parts = [
      pod.size &&
        make('p', { class: 'small' }, `Asks for ${requestText(model, pod.size)}; priority ${pod.size.priority}.`),
    ];
    if (pod.message) parts.push(make('p', { class: 'reason' }, pod.message));
    if (pod.preemptedBy) parts.push(make('p', {}, `It made room for ${pod.preemptedBy}.`));
    if (pod.runnerUp)
      parts.push(
        make(
          'p',
          {},
          `Second: ${pod.runnerUp.node}, ${pod.runnerUp.margin === 0 ? 'equally good' : `${counted(pod.runnerUp.margin, 'point')} behind`}.`,
        ),
      );
    if (pod.node)
      parts.push(
        make(
          'p',
          {},
          link(`Show ${pod.node} among the nodes`, () => toNode(pod.node)),
        ),
      );
    if (!told) {
      parts.push(
        make(
          'p',
          {},
          'There are too many pods and nodes for the verdict of each node to stand in this page. ',
          make('code', {}, `--explain ${name}`),
          ' adds them.',
        ),
      );
    } else {
      if (told.pod !== name)
        parts.push(
          make('p', { class: 'small' }, `The numbers are those of ${told.pod}, which is pending for the same reason.`),
        );
      if (told.preFilter)
        parts.push(make('p', {}, `Rejected before any node was evaluated: ${told.preFilter.reason}`));
      const remedies = remedyList(told);
      if (remedies) parts.push(make('h3', {}, 'Would fit with'), remedies);
      parts.push(scoreTable(told, toNode), verdictTable(told, toNode));
      if (told.preemption) parts.push(preemptionPart(told.preemption));
    }
    byId('why-body').replaceChildren(...parts.filter(Boolean));
  };
  const follow = () => {
    const name = address.get('pod');
    const known = name && model.pods.some((pod) => pod.pod === name);
    if (!known) {
      if (dialog.open) dialog.close();
      return;
    }
    fill(name);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    byId('why-title').focus();
  };
  address.watch(['pod'], follow);
  dialog.addEventListener('close', close);
  // A click beside the dialog closes it, as Escape does.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close();
  });
  byId('why-close').addEventListener('click', close);
  follow();
}
