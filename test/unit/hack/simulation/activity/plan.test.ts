// Tests of the order of incidents in a lively cluster.
import { expect } from 'chai';
import { Random } from '../../../../../hack/log-data/random.ts';
import { type PlannedIncident, planIncidents } from '../../../../../hack/simulation/activity/plan.ts';

describe('the plan of incidents', () => {
  const first = (count: number, seed: number): PlannedIncident[] =>
    planIncidents(new Random(seed)).take(count).toArray();

  it('depends only on the seed', () => {
    expect(first(40, 7)).to.deep.equal(first(40, 7));
    expect(first(40, 7)).to.not.deep.equal(first(40, 8));
  });

  it('contains each incident within the first minute, and starts with a roll-out, whose pods can be scaled', () => {
    let elapsed = 0;
    const seen: string[] = [];
    for (const { incident, pauseMs } of first(40, 1)) {
      if (elapsed < 60_000) seen.push(incident);
      elapsed += pauseMs;
    }
    expect(new Set(seen)).to.have.all.keys('roll-out', 'outage', 'job', 'scaling', 'memory-pressure');
    expect(seen[0]).to.equal('roll-out');
  });
});
