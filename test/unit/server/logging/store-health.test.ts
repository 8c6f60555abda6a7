import { expect } from 'chai';
import { pino } from 'pino';
import { StoreHealth } from '../../../../server/logging/store-health.ts';

describe('the health of a log store', () => {
  it('is told as the store was found the last time, and its reasons to the log only', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    const seen: (readonly [string, string])[] = [];
    let looks = 0;
    const health: StoreHealth = new StoreHealth({
      name: 'opensearch',
      backend: {
        check: async () => {
          looks += 1;
          if (looks === 2 || looks === 3) throw new Error('10.0.0.1 refused');
        },
      },
      metrics: {
        storeUp: (name, up) => {
          seen.push([`${name} ${up}`, health.describe()]);
          if (looks === 4) stop.abort();
        },
      },
      log: pino({ level: 'info' }, { write: (line: string) => lines.push(line) }),
      intervalMs: 1,
    });
    expect(health.describe()).to.equal('the store opensearch has not been asked yet');
    await health.run(stop.signal);
    expect(seen.map(([up]) => up)).to.deep.equal([
      'opensearch true',
      'opensearch false',
      'opensearch false',
      'opensearch true',
    ]);
    expect(seen[0]?.[1]).to.equal('the store opensearch answers');
    expect(seen[1]?.[1])
      .to.match(/does not answer/)
      .and.not.include('10.0.0.1');
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include('10.0.0.1');
    expect(lines[1]).to.include('answers again');
  });
});
