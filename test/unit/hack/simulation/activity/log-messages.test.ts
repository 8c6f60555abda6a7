// Tests of the log lines in a lively cluster.
import { expect } from 'chai';
import { Random } from '../../../../../hack/log-data/random.ts';
import { LogMessages } from '../../../../../hack/simulation/activity/log-messages.ts';
import { APPLICATIONS } from '../../../../../hack/simulation/applications.ts';

describe('the log of the past hour', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');

  for (const application of APPLICATIONS) {
    it(`of ${application.name} is in the order of time, and has a peak of errors after an outage`, () => {
      const messages = new LogMessages(new Random(1));
      const lines = messages.past(application, true, now).trimEnd().split('\n');
      const times = lines.map((line) => line.slice(0, 30));
      expect(times).to.deep.equal(times.toSorted());
      expect(Date.parse(times.at(-1) ?? '')).to.be.below(now + 1);
      const errors = (text: string): number =>
        text.split('\n').filter((line) => / stderr /.test(line)).length;
      const usual = errors(messages.past(application, false, now));
      expect(errors(lines.join('\n'))).to.be.above(usual + 100);
    });
  }
});
