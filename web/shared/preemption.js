// What evicting pods would bring, node by node.
import { make, someOf } from './dom.js';
import { counted } from './text.js';

export function preemptionPart(story) {
  const part = make('div', {}, make('h3', {}, 'Preemption'));
  if (story.notEligible) part.append(make('p', {}, story.notEligible));
  if (story.trials.length > 0) {
    const trials = [...story.trials].sort(
      (a, b) => Boolean(b.chosen) - Boolean(a.chosen) || Boolean(b.wouldFit) - Boolean(a.wouldFit),
    );
    part.append(
      someOf(trials, 8, (trial) =>
        make(
          'div',
          { class: trial.chosen ? 'winner' : undefined },
          make('b', {}, trial.node),
          trial.chosen && make('span', { class: 'tag' }, 'chosen'),
          ' ',
          trial.wouldFit
            ? `evicts ${trial.victims.map((victim) => `${victim.pod} (priority ${victim.priority})`).join(', ')}`
            : '',
          trial.wouldFit && trial.disruptionBudgetViolations > 0
            ? `; violates ${counted(trial.disruptionBudgetViolations, 'disruption budget')}`
            : '',
          trial.verdict ? ` ${trial.verdict}` : '',
        ),
      ),
    );
  }
  if (story.nodesNotHelpful > 0)
    part.append(
      make('p', { class: 'small' }, `${counted(story.nodesNotHelpful, 'node')} where evicting pods would not help.`),
    );
  return part;
}
