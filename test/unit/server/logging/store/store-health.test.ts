// Tests of the periodic health check of the log store.
import { expect } from 'chai';
import { pino } from 'pino';
import { UnfitOptionError } from '../../../../../server/logging/store/configuration-errors.ts';
import { newStoreUnavailable } from '../../../../../server/logging/store/store-errors.ts';
import { StoreHealth } from '../../../../../server/logging/store/store-health.ts';

describe('StoreHealth', () => {
  /** Runs one check for each failure; `undefined` is a success. */
  async function check(failures: readonly (Error | undefined)[]) {
    const stop = new AbortController();
    const lines: Record<string, unknown>[] = [];
    const results: { readonly up: boolean; readonly description: string }[] = [];
    const health: StoreHealth = new StoreHealth({
      name: 'opensearch',
      backend: {
        check: async () => {
          const failure = failures[results.length];
          if (failure) throw failure;
        },
      },
      metrics: {
        storeUp: (_name, up) => {
          results.push({ up, description: health.describe() });
          if (results.length === failures.length) stop.abort();
        },
      },
      log: pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
      intervalMs: 1,
    });
    expect(health.describe()).to.equal('the log store opensearch has not been checked yet');
    await health.run(stop.signal);
    return { results, lines };
  }

  it('reports the result of the last check, and logs a failure and the recovery once', async () => {
    const refused = new Error('10.0.0.1 refused');
    const { results, lines } = await check([undefined, refused, refused, undefined]);
    const available = { up: true, description: 'the log store opensearch is available' };
    const unavailable = {
      up: false,
      description: 'the log store opensearch is unavailable; log queries return 503',
    };
    expect(results).to.deep.equal([available, unavailable, unavailable, available]);
    expect(lines).to.have.length(2);
    expect(JSON.stringify(lines[0])).to.include('10.0.0.1');
    expect(lines[1]?.['msg']).to.equal('the log store is available again');
  });

  it('names the option that the store does not match, and logs the path of its file', async () => {
    const option = 'logging.opensearch.caFile';
    const reasons = ['no such file', 'no such file', 'it is empty'];
    const causes = reasons.map(
      (reason) => new UnfitOptionError(option, reason, 'log queries return 503', '/etc/logs/ca.pem'),
    );
    const { results, lines } = await check(causes.map((cause) => newStoreUnavailable('opensearch', cause)));
    for (const [n, reason] of reasons.entries()) {
      const description = `the log store opensearch does not match ${option}: ${reason}; log queries return 503`;
      expect(results[n]?.description).to.equal(description);
    }
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include({ option, path: '/etc/logs/ca.pem', reason: 'no such file' });
  });
});
