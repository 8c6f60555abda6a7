// Tests of the log data set.
import { expect } from 'chai';
import { wordsOf } from '../../../../apis/logging/v1alpha2/log-query-validation.ts';
import { logData } from '../../../../hack/log-data/log-data.ts';
import { HUGE_LINE, ODD_LINES } from '../../../../hack/log-data/odd-lines.ts';

const data = logData({ lines: 5_000 });
const records = [...data.records()];

describe('the log data set', () => {
  it('has lines with equal nanoseconds and milliseconds, in one container and in several', () => {
    const neighbours = records.slice(1).map((record, index) => [records[index] ?? record, record] as const);
    const same = neighbours.filter(([one, other]) => one.time === other.time);
    const sameContainer = same.filter(
      ([one, other]) => one.kubernetes.docker_id === other.kubernetes.docker_id,
    );
    const sameMillisecond = neighbours.filter(
      ([one, other]) => one.time !== other.time && one.time.slice(0, 23) === other.time.slice(0, 23),
    );
    expect(sameContainer.length).to.be.above(100);
    expect(same.length - sameContainer.length).to.be.above(100);
    expect(sameMillisecond.length).to.be.above(100);
  });

  it('has every edge case, and no line that a store cannot hold', () => {
    // The size that the tests of the stores use.
    const lines = new Set(Array.from(logData({ lines: 6_000 }).records(), ({ log }) => log));
    for (const line of [...ODD_LINES, HUGE_LINE]) expect(lines.has(line), line).to.equal(true);
    for (const line of lines) {
      expect(line).not.to.equal('');
      expect(line).not.to.include('\n');
      expect(line.isWellFormed()).to.equal(true);
      for (const word of wordsOf(line)) expect(word.length).to.be.at.most(255);
    }
  });

  it('has a recreated namespace with lines from before and after, some of pods with the same name', () => {
    const own = data.pods.filter(({ namespace }) => namespace === 'sandbox');
    expect(new Set(own.map(({ exists }) => exists))).to.have.property('size', 2);
    for (const { kubernetes, time } of records) {
      if (kubernetes.namespace_name !== 'sandbox') continue;
      const pod = own.find(({ uid }) => uid === kubernetes.pod_id);
      if (time < data.recreatedAt) expect(pod?.exists).to.equal(false);
      else expect(pod?.containers.every(({ until }) => until > Date.parse(data.recreatedAt))).to.equal(true);
    }
  });
});
