import { expect } from 'chai';
import { pino } from 'pino';
import { UnfitOptionError, UnusableFileError } from '../../../../server/logging/configuration-errors.ts';
import { newStoreUnavailable } from '../../../../server/logging/store-errors.ts';
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

  it('names the option whose file is missing, and the file itself to the log only, once', async () => {
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
    const told = (reason: string) =>
      `the store opensearch is not asked, since the file of logging.opensearch.caFile cannot be used: ${reason}; log queries get 503`;
    expect(seen).to.deep.equal([
      'the store opensearch does not answer as it should; log queries get 503',
      told('no such file'),
      told('no such file'),
      told('it is empty'),
      'the store opensearch answers',
    ]);
    expect(lines).to.have.length(4);
    expect(JSON.parse(lines[1] ?? '')).to.include({
      option: 'logging.opensearch.caFile',
      path: '/etc/logs/ca.pem',
      reason: 'no such file',
    });
    expect(lines[1]).to.include('put it there, or name another one');
  });

  it('names the option that does not fit to what the store holds', async () => {
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
      `the store opensearch cannot be used as ${option} says: there is no field time; log queries get 503`,
    );
    expect(lines).to.have.length(1);
    expect(JSON.parse(lines[0] ?? '')).to.include({ option, reason: 'there is no field time' });
  });
});
