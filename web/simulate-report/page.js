// Draws the report that stands in the page. Names come from files of others: they only ever become text nodes.
'use strict';
(() => {
  const report = JSON.parse(document.getElementById('report').textContent);
  const byId = (id) => document.getElementById(id);
  const explained = new Map((report.explanations || []).map((told) => [told.pod, told]));
  const podsShownAtOnce = 300;
  const nodesWithNames = 150;

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === 'onclick') element.addEventListener('click', value);
      else if (value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== undefined && child !== ''));
    return element;
  }
  const row = (tag, cells) => make('tr', {}, ...cells.map((cell) => (cell instanceof Node ? cell : make(tag, {}, cell))));
  const head = (...titles) => make('thead', {}, row('th', titles.map((title) => make('th', { scope: 'col' }, title))));
  const percent = (share) => Math.round(share * 100) + '%';
  const number = (value) => make('td', { class: 'number' }, String(value));
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

  function drawSummary() {
    const summary = report.summary;
    byId('verdict').textContent = `${summary.scheduled} of ${counted(report.pods.length, 'pod')} scheduled onto ` +
      `${counted(summary.nodes, 'node')}; ${summary.boundBefore} bound before.`;
    const tiles = [['Nodes', summary.nodes], ['Placed', summary.scheduled, 'Scheduled'], ['Pending', summary.pending, 'Pending'],
      ['Gated', summary.gated, 'Gated'], ['Other schedulers', summary.notOurs, 'NotOurs'], ['Preempted', summary.preempted, 'Preempted']];
    for (const [title, count, look] of tiles) {
      if (look && look !== 'Scheduled' && look !== 'Pending' && count === 0) continue;
      byId('tiles').append(make('div', {}, make('dt', {}, title), make('dd', { class: count ? look : undefined }, String(count))));
    }
  }

  function bar(share) {
    const element = make('span', { class: share > 1 ? 'bar over' : 'bar', 'aria-hidden': 'true' }, make('span'));
    element.style.setProperty('--share', share);
    return element;
  }

  function drawFullness() {
    const body = make('tbody');
    const nodeShare = (entry) => (entry ? `${percent(entry.share)} ${entry.node}` : '-');
    for (const use of report.summary.utilisation) {
      body.append(row('td', [make('th', { scope: 'row' }, use.resource), make('td', { class: 'tight' }, bar(use.share), ' ' + percent(use.share)),
        `${use.requested} of ${use.allocatable}`, nodeShare(use.lowest), use.median ? percent(use.median.share) : '-', nodeShare(use.highest)]));
    }
    byId('resources').append(head('Resource', 'Requested', 'Amounts', 'Emptiest node', 'Median', 'Fullest node'), body);
    if (report.summary.zones.length === 0) return;
    const zones = make('tbody');
    for (const zone of report.summary.zones) {
      zones.append(row('td', [make('th', { scope: 'row' }, zone.zone || '(no zone)'), number(zone.nodes), number(zone.pods), number(zone.placed)]));
    }
    const title = (text) => make('th', { scope: 'col', class: 'number' }, text);
    byId('zones').append(make('caption', {}, `Zones; the pods placed differ by ${report.summary.placedSpread}`),
      make('thead', {}, row('th', [make('th', { scope: 'col' }, 'Zone'), title('Nodes'), title('Pods'), title('Placed now')])), zones);
    byId('zones').hidden = false;
  }

  const useOf = (node, resource) => node.resources.find((use) => use.resource === resource);

  function paint(resource) {
    const dense = report.nodes.length > nodesWithNames;
    report.nodes.forEach((node, i) => {
      const cell = byId('heat').children[i].firstChild;
      const use = useOf(node, resource);
      const share = use ? use.share : 0;
      cell.style.setProperty('--share', share);
      cell.classList.toggle('deep', share > 0.5);
      cell.classList.toggle('over', share > 1);
      cell.classList.toggle('none', !use);
      const text = use ? `${percent(share)} of ${resource}` : `no ${resource}`;
      const label = `${node.node}: ${text}` + (use ? `, ${use.requested} of ${use.allocatable}` : '');
      cell.title = label;
      cell.setAttribute('aria-label', label);
      if (!dense) cell.lastChild.textContent = use ? percent(share) : '-';
    });
  }

  function showNode(node, cell) {
    for (const other of byId('heat').querySelectorAll('[aria-pressed="true"]')) other.setAttribute('aria-pressed', 'false');
    cell.setAttribute('aria-pressed', 'true');
    const outcomes = new Map(report.pods.map((pod) => [pod.pod, pod]));
    const pods = make('ul');
    for (const name of node.pods) {
      const placed = outcomes.has(name);
      const shown = explained.has(name) ? make('button', { type: 'button', class: 'link', onclick: () => explain(name) }, name) : name;
      pods.append(make('li', {}, shown, placed ? make('span', { class: 'small' }, ' placed now') : ''));
    }
    const panel = byId('node-panel');
    panel.replaceChildren(make('strong', {}, node.node), node.zone ? make('span', { class: 'small' }, ` in ${node.zone}`) : '',
      make('div', { class: 'small' }, node.resources.map((use) => `${use.resource} ${use.requested} of ${use.allocatable} (${percent(use.share)})`).join(' · ')),
      make('div', {}, counted(node.pods.length, 'pod')), pods);
    panel.hidden = false;
  }

  function drawNodes() {
    const heat = byId('heat');
    const dense = report.nodes.length > nodesWithNames;
    heat.classList.toggle('dense', dense);
    for (const node of report.nodes) {
      const cell = make('button', { type: 'button', class: 'cell', 'aria-pressed': 'false', onclick: () => showNode(node, cell) });
      if (!dense) cell.append(make('b', {}, node.node), make('span'));
      heat.append(make('li', {}, cell));
    }
    report.summary.utilisation.forEach((use, i) => {
      const radio = make('input', { type: 'radio', name: 'resource', value: use.resource });
      radio.checked = i === 0;
      radio.addEventListener('change', () => paint(use.resource));
      byId('resource-choice').append(make('label', {}, radio, ' ' + use.resource));
    });
    if (report.summary.utilisation.length > 0) paint(report.summary.utilisation[0].resource);
  }

  function detailOf(pod) {
    if (pod.outcome === 'Preempted') return `made room for ${pod.preemptedBy}`;
    if (pod.outcome !== 'Scheduled') return pod.message || '';
    if (pod.byPreemption) return 'its nominated node';
    return pod.score === undefined ? 'the only feasible node' : `${pod.feasibleNodes} nodes feasible`;
  }

  function podRow(pod) {
    const name = explained.has(pod.pod)
      ? make('button', { type: 'button', class: 'link', title: 'why', onclick: () => explain(pod.pod) }, pod.pod) : pod.pod;
    return row('td', [make('th', { scope: 'row' }, name), make('td', { class: 'tight' }, pod.node || '-'), make('td', { class: pod.outcome }, pod.outcome),
      number(pod.score === undefined ? '-' : pod.score), make('td', { class: 'tight' }, pod.runnerUp ? `${pod.runnerUp.node} (${pod.runnerUp.margin === 0 ? 'equal' : '-' + pod.runnerUp.margin})` : '-'),
      make('td', { class: 'message' }, detailOf(pod))]);
  }

  function drawPods() {
    const listed = new Set(report.pods.map((pod) => pod.pod));
    const pods = report.pods.concat(report.preempted.filter((pod) => !listed.has(pod.pod)));
    for (const outcome of new Set(pods.map((pod) => pod.outcome))) byId('filter-outcome').append(make('option', {}, outcome));
    const body = make('tbody');
    byId('pod-table').append(head('Pod', 'Node', 'Outcome', 'Score', 'Runner-up', 'Detail'), body);
    let limit = podsShownAtOnce;
    const draw = () => {
      const text = byId('filter-text').value.toLowerCase();
      const outcome = byId('filter-outcome').value;
      const found = pods.filter((pod) => (!outcome || pod.outcome === outcome) &&
        (pod.pod.toLowerCase().includes(text) || (pod.node || '').toLowerCase().includes(text)));
      body.replaceChildren(...found.slice(0, limit).map(podRow));
      byId('more').hidden = found.length <= limit;
      byId('shown').textContent = found.length > limit ? `${limit} of ${counted(found.length, 'pod')}` : counted(found.length, 'pod');
    };
    const again = () => { limit = podsShownAtOnce; draw(); };
    byId('filter-text').addEventListener('input', again);
    byId('filter-outcome').addEventListener('change', again);
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    byId('more').addEventListener('click', () => { limit += podsShownAtOnce; draw(); });
    draw();
  }

  function scoreTable(told) {
    const scored = told.nodes.filter((node) => node.scores).sort((a, b) => b.score - a.score);
    if (scored.length === 0) return '';
    const body = make('tbody');
    for (const node of scored) {
      const line = row('td', [make('th', { scope: 'row' }, node.node), number(node.score),
        ...node.scores.map(([raw, normalised, weighted]) => make('td', { class: 'number', title: `raw ${raw}, normalised ${normalised}` },
          String(weighted), ' ', make('span', { class: 'small' }, String(raw))))]);
      if (node.node === told.node) line.className = 'winner';
      body.append(line);
    }
    const titles = told.scorePlugins.map((plugin) => make('th', { scope: 'col', class: 'number' }, plugin.plugin, make('br'),
      make('span', { class: 'small' }, 'weight ' + plugin.weight)));
    return make('div', { class: 'scroll' }, make('table', {}, make('caption', {}, 'Scores: weighted, and as the plugin gave them'),
      make('thead', {}, row('th', [make('th', { scope: 'col' }, 'Node'), make('th', { scope: 'col', class: 'number' }, 'Total'), ...titles])), body));
  }

  function verdictTable(told) {
    const rejected = told.nodes.filter((node) => !node.feasible);
    if (rejected.length === 0) return '';
    const plugins = [...new Set(rejected.flatMap((node) => node.rejections.map((no) => no.plugin || '')))];
    const body = make('tbody');
    for (const node of rejected) {
      const cells = plugins.map((plugin) => {
        const no = node.rejections.find((entry) => (entry.plugin || '') === plugin);
        if (!no) return make('td', { class: 'yes' }, 'fits');
        return make('td', { class: 'no' }, no.reason, no.detail ? make('div', { class: 'small' }, no.detail) : '');
      });
      body.append(row('td', [make('th', { scope: 'row' }, node.node), ...cells]));
    }
    return make('div', { class: 'scroll' }, make('table', {}, make('caption', {}, `Nodes that were turned down: ${rejected.length} of ${told.nodes.length}`),
      head('Node', ...plugins), body));
  }

  function preemptionTable(story) {
    const part = make('div', {}, make('h3', {}, 'Preemption'));
    if (story.notEligible) part.append(story.notEligible);
    if (story.trials.length > 0) {
      const body = make('tbody');
      for (const trial of story.trials) {
        const victims = (trial.victims || []).map((victim) => `${victim.pod} (priority ${victim.priority})`).join(', ');
        const line = row('td', [make('th', { scope: 'row' }, trial.node), trial.wouldFit ? victims : '-',
          number(trial.wouldFit ? trial.disruptionBudgetViolations : '-'), trial.chosen ? 'chosen' : '', trial.verdict || '']);
        if (trial.chosen) line.className = 'winner';
        body.append(line);
      }
      part.append(make('div', { class: 'scroll' }, make('table', {}, head('Node', 'Victims', 'Budgets violated', '', 'Why'), body)));
    }
    if (story.nodesNotHelpful > 0) part.append(make('p', { class: 'small' }, `${counted(story.nodesNotHelpful, 'node')} where evicting pods would not help.`));
    return part;
  }

  let opener = null;

  function explain(name) {
    opener = document.activeElement;
    const told = explained.get(name);
    byId('why-title').textContent = told.node ? `${name} is on ${told.node}` : `${name} has no node`;
    const body = byId('why-body');
    body.replaceChildren();
    if (told.message) body.append(make('p', {}, told.message));
    if (told.preFilter) body.append(make('p', {}, `Turned down before any node was looked at: ${told.preFilter.reason}`));
    if (told.wouldFitWith && told.wouldFitWith.length > 0) {
      body.append(make('h3', {}, 'Would fit with'), make('ul', {}, ...told.wouldFitWith.map((remedy) =>
        make('li', {}, make('b', {}, remedy.node), ': ' + remedy.changes.join(' and ')))));
    }
    body.append(scoreTable(told), verdictTable(told));
    if (told.preemption) body.append(preemptionTable(told.preemption));
    byId('why').hidden = false;
    byId('why').scrollIntoView({ block: 'start' });
    byId('why').focus({ preventScroll: true });
  }
  byId('why-close').addEventListener('click', () => {
    byId('why').hidden = true;
    const back = opener && opener.isConnected && opener !== document.body ? opener : byId('filter-text');
    back.focus();
  });

  drawSummary();
  drawFullness();
  drawNodes();
  drawPods();
  if (location.hash.startsWith('#pod=')) {
    const name = decodeURIComponent(location.hash.slice(5));
    if (explained.has(name)) explain(name);
  }
})();
