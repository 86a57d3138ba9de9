// The page of `berth simulate -o html`: reads the report that stands in it and wires the views together.
import { Address } from '../shared/address.js';
import { byId } from '../shared/dom.js';
import { readModel } from './model.js';
import { drawNodes } from './nodes.js';
import { drawPending } from './pending.js';
import { drawPods } from './pods.js';
import { drawFoot, drawFullness, drawSummary } from './summary.js';
import { setUpWhy } from './why.js';

function start() {
  const model = readModel();
  const address = new Address({
    pod: '',
    node: '',
    nodes: '',
    view: 'tiles',
    size: model.resources[0] || '',
    group: model.groupings.includes(model.zoneLabel) ? model.zoneLabel : '',
    nodesort: 'name',
    q: '',
    outcome: '',
    sort: 'outcome',
  });
  const goTo = (id) => {
    byId(id).scrollIntoView({ block: 'start' });
    byId(id).focus({ preventScroll: true });
  };
  const showPod = (name) => address.set({ pod: name }, { push: true });
  // From elsewhere in the page: the panel has to come into view, and a filter may hide the node.
  const showNode = (name) => {
    address.set({ node: name, nodes: '' });
    goTo('node-panel-title');
  };
  drawSummary(model, (outcome) => {
    address.set({ outcome, q: '' });
    goTo('pods-title');
  });
  drawPending(model, showPod, showNode);
  drawFullness(model, showNode);
  drawNodes(model, address, (name) => address.set({ node: name }));
  drawPods(model, address, showPod, showNode);
  drawFoot(model);
  setUpWhy(model, address, showNode);
  // The fragment of the address is the view, so these links only move the focus.
  for (const skip of document.querySelectorAll('a.skip')) {
    skip.addEventListener('click', (event) => {
      event.preventDefault();
      goTo(skip.hash.slice(1));
    });
  }
}

start();
