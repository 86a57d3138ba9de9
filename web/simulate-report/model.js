// The report and its context, as they stand in the page, joined into what the views show.
import { byId } from '../shared/dom.js';
import { naturalCompare } from '../shared/text.js';

const zoneLabel = 'topology.kubernetes.io/zone';
// Labels by which people name groups of nodes, as the usual providers write them.
const poolLabels = [
  'karpenter.sh/nodepool',
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'agentpool',
  'node.kubernetes.io/pool',
  'nodepool',
  'pool',
];
const mostGroups = 100;

const taintKey = (taint) => taint.split(/[=:]/)[0];
const keepsPodsOff = (taint) => !taint.endsWith(':PreferNoSchedule');
const sickTaints = new Set(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);
const cordonTaint = 'node.kubernetes.io/unschedulable';

function pairsOf(list) {
  const pairs = [];
  for (let i = 0; i < list.length; i += 2) pairs.push([list[i], list[i + 1]]);
  return pairs;
}

function sizeOf(list) {
  return list ? { priority: list[0], amounts: list.slice(1) } : undefined;
}

function nodeOf(entry, more, placedNow, labelKeys) {
  const labels = new Map(pairsOf(more.labels).map(([key, value]) => [labelKeys[key], value]));
  const conditions = pairsOf(more.conditions);
  const keys = more.taints.map(taintKey);
  return {
    name: entry.node,
    zone: entry.zone || '',
    uses: new Map(entry.resources.map((use) => [use.resource, use])),
    labels,
    taints: more.taints,
    // Pressure and the like; Ready is the one that should be true.
    conditions: conditions.filter(([type, status]) => (type === 'Ready' ? status !== 'True' : status !== 'False')),
    allocatable: more.allocatable,
    cordoned: more.cordoned || keys.includes(cordonTaint),
    notReady:
      conditions.some(([type, status]) => type === 'Ready' && status !== 'True') ||
      keys.some((key) => sickTaints.has(key)),
    tainted: more.taints.some(
      (taint) => keepsPodsOff(taint) && !sickTaints.has(taintKey(taint)) && taintKey(taint) !== cordonTaint,
    ),
    pods: entry.pods.map((key, i) => ({ key, now: placedNow.has(key), ...sizeOf(more.pods[i]) })),
    gone: [],
  };
}

// What nodes can be grouped by: zone and pool first, then every label that does not tell each node from all others.
function groupings(nodes) {
  const values = new Map();
  for (const node of nodes) {
    for (const [key, value] of node.labels) values.set(key, (values.get(key) || new Set()).add(value));
  }
  const useful = [...values]
    .filter(([, set]) => set.size <= mostGroups && (set.size < nodes.length || nodes.length === 1))
    .map(([key]) => key);
  const first = [zoneLabel, ...poolLabels].filter((key) => useful.includes(key));
  return [...first, ...useful.filter((key) => !first.includes(key)).sort(naturalCompare)];
}

export function readModel() {
  const report = JSON.parse(byId('report').textContent);
  const context = JSON.parse(byId('context').textContent);
  const resources = report.summary.utilisation.map((use) => use.resource);
  const listed = new Set(report.pods.map((pod) => pod.pod));
  const pods = report.pods
    .map((pod, i) => ({ ...pod, size: sizeOf(context.pods[i]) }))
    .concat(report.preempted.filter((pod) => !listed.has(pod.pod)))
    .sort((a, b) => naturalCompare(a.pod, b.pod));
  const placedNow = new Set(pods.filter((pod) => pod.outcome === 'Scheduled').map((pod) => pod.pod));
  const unknown = { labels: [], taints: [], conditions: [], allocatable: [], pods: [] };
  const nodes = report.nodes.map((entry, i) =>
    nodeOf(entry, (context.nodes && context.nodes[i]) || unknown, placedNow, context.labelKeys || []),
  );
  nodes.sort((a, b) => naturalCompare(a.name, b.name));
  const byName = new Map(nodes.map((node) => [node.name, node]));
  for (const pod of report.preempted) byName.get(pod.node)?.gone.push(pod);
  return {
    summary: report.summary,
    resources,
    pods,
    nodes,
    node: byName,
    explained: new Map((report.explanations || []).map((told) => [told.pod, told])),
    groupings: groupings(nodes),
    zoneLabel,
    context,
  };
}

// What nodes said to this pod, or else to one that is pending for the same reason; undefined when it does not stand in
// the page.
export function explanationOf(model, pod) {
  if (model.explained.has(pod.pod)) return model.explained.get(pod.pod);
  if (pod.outcome !== 'Pending' || !pod.message) return undefined;
  return [...model.explained.values()].find((told) => !told.node && told.message === pod.message);
}

// Worst first.
export const outcomes = ['Pending', 'Gated', 'NotOurs', 'Preempted', 'Scheduled'];

const outcomeNames = { NotOurs: 'Other scheduler' };
export const outcomeName = (outcome) => outcomeNames[outcome] || outcome;

export function detailOf(pod) {
  if (pod.outcome === 'Preempted') return `made room for ${pod.preemptedBy}`;
  if (pod.outcome !== 'Scheduled') return pod.message || '';
  if (pod.byPreemption) return 'its nominated node';
  return pod.score === undefined
    ? 'the only feasible node'
    : `${pod.feasibleNodes.toLocaleString('en')} nodes feasible`;
}
