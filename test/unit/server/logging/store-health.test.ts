import { expect } from 'chai';
import { pino } from 'pino';
import { UnfitOptionError, UnusableFileError } from '../../../../server/logging/configuration-errors.ts';
import { newStoreUnavailable } from '../../../../server/logging/store-errors.ts';
import { StoreHealth } from '../../../../server/logging/store-health.ts';

describe('StoreHealth', () => {
  it('reports the result of the last check, and logs the details', async () => {
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
    expect(health.describe()).to.equal('the log store opensearch has not been checked yet');
    await health.run(stop.signal);
    expect(seen.map(([up]) => up)).to.deep.equal([
      'opensearch true',
      'opensearch false',
      'opensearch false',
      'opensearch true',
    ]);
    expect(seen[0]?.[1]).to.equal('the log store opensearch is available');
    expect(seen[1]?.[1])
      .to.match(/is unavailable/)
      .and.not.include('10.0.0.1');
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include('10.0.0.1');
    expect(lines[1]).to.include('available again');
  });

  it('names the option of an unusable file, and logs its path once', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    const seen: string[] = [];
    const failures = [
      new Error('refused'),
      ...['no such file', 'no such file', 'it is empty'].map((reason) =>
        newStoreUnavailable(
          'opensearch',
          new UnusableFileError('logging.opensearch.caFile', '/etc/logs/ca.pem', reason),
        ),
      ),
    ];
    const health: StoreHealth = new StoreHealth({
      name: 'opensearch',
      backend: {
        check: async () => {
          const failure = failures.shift();
          if (failure) throw failure;
        },
      },
      metrics: {
        storeUp: () => {
          seen.push(health.describe());
          if (seen.length === 5) stop.abort();
        },
      },
      log: pino({ level: 'info' }, { write: (line: string) => lines.push(line) }),
      intervalMs: 1,
    });
    await health.run(stop.signal);
    const unusable = (reason: string) =>
      `the log store opensearch is not used because the file of logging.opensearch.caFile is unusable: ${reason}; log queries return 503`;
    expect(seen).to.deep.equal([
      'the log store opensearch is unavailable; log queries return 503',
      unusable('no such file'),
      unusable('no such file'),
      unusable('it is empty'),
      'the log store opensearch is available',
    ]);
    expect(lines).to.have.length(4);
    expect(JSON.parse(lines[1] ?? '')).to.include({
      option: 'logging.opensearch.caFile',
      path: '/etc/logs/ca.pem',
      reason: 'no such file',
    });
    expect(lines[1]).to.include('provide it or configure another path');
  });

  it('names the option that the store does not match', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    const option = 'logging.opensearch.fields';
    const health: StoreHealth = new StoreHealth({
      name: 'opensearch',
      backend: {
        check: async () => {
          throw newStoreUnavailable('opensearch', new UnfitOptionError(option, 'there is no field time'));
        },
      },
      metrics: { storeUp: () => stop.abort() },
      log: pino({ level: 'info' }, { write: (line: string) => lines.push(line) }),
    });
    await health.run(stop.signal);
    expect(health.describe()).to.equal(
      `the log store opensearch does not match ${option}: there is no field time; log queries return 503`,
    );
    expect(lines).to.have.length(1);
    expect(JSON.parse(lines[0] ?? '')).to.include({ option, reason: 'there is no field time' });
  });
});
