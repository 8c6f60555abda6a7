// Conformance tests of log stores. The reference implementation is test/support/logging/memory-log-store.ts.
import { Comparison } from './log-store/comparison.ts';
import { describeCounts } from './log-store/counts.suite.ts';
import { describeFilters } from './log-store/filters.suite.ts';
import type { LogStoreTraits, StartedLogStore } from './log-store/harness.ts';
import { describeInjections } from './log-store/injections.suite.ts';
import { describeLifetime } from './log-store/lifetime.suite.ts';
import { describePages } from './log-store/pages.suite.ts';
import { describeProperties } from './log-store/properties.suite.ts';
import { describeRanges } from './log-store/ranges.suite.ts';
import type { Subject } from './log-store/subject.ts';

/** `start` is called once, before the first test; it may call `this.skip()`. */
export function describeLogStore(
  name: string,
  start: (test: Mocha.Context) => Promise<StartedLogStore>,
  traits: LogStoreTraits = {},
): void {
  describe(`${name}, as a log store`, () => {
    let subject: Subject | undefined;

    before(async function () {
      this.timeout(300_000);
      const started = await start(this);
      const compare = new Comparison(started, traits);
      const { records } = compare.oracle;
      const [first, last] = [records[0]?.time ?? '', records.at(-1)?.time ?? ''];
      const end = new Date(Date.parse(last) + 60_000).toISOString().replace('Z', '000000Z');
      subject = {
        started,
        traits,
        compare,
        records,
        range: { start: `${first.slice(0, 19)}.000000000Z`, end },
      };
    });

    after(async () => {
      await subject?.started.stop();
    });

    const the = () => {
      if (subject === undefined) throw new Error('the store has not started');
      return subject;
    };
    describePages(the);
    describeRanges(the);
    describeCounts(the);
    describeFilters(the, traits);
    describeInjections(the);
    if (traits.core !== true) describeProperties(the);
    // Last, because it writes further records.
    describeLifetime(the);
  });
}
