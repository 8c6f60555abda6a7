import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/client.ts';
import { decodeCrossing, encodeCrossing } from '../../../../../server/oauth/throttle/crossing-record.ts';
import type { Crossing } from '../../../../../server/oauth/throttle/login-throttle.ts';
import { SharedFailures } from '../../../../../server/oauth/throttle/shared-failures.ts';
import { memoryKeyRing } from '../../../../support/memory-key-ring.ts';

const CROSSING: Crossing = {
  key: 'account-k-abc',
  failures: 5,
  lastAt: 1000,
  knownSources: ['source-k-def'],
};

describe('a record of failures', () => {
  it('comes back as it was written', async () => {
    const keys = await memoryKeyRing();
    expect(decodeCrossing(CROSSING.key, encodeCrossing(CROSSING, keys), keys)).to.deep.equal(CROSSING);
  });

  it('counts for nothing when somebody else wrote it, changed it or moved it', async () => {
    const [keys, others] = [await memoryKeyRing(), await memoryKeyRing()];
    const value = encodeCrossing(CROSSING, keys);
    expect(decodeCrossing(CROSSING.key, value, others)).to.equal(undefined);
    expect(decodeCrossing('account-k-xyz', value, keys)).to.equal(undefined);
    expect(decodeCrossing(CROSSING.key, value.replace('"failures":5', '"failures":50'), keys)).to.equal(
      undefined,
    );
    for (const junk of ['', ' ', '{}', 'x {}', value.slice(0, -1)]) {
      expect(decodeCrossing(CROSSING.key, junk, keys)).to.equal(undefined);
    }
  });
});

describe('failures that are shared', () => {
  /** Answers writes; what follows the ConfigMap waits for ever. */
  class Writes {
    readonly requests: { method: string; json: unknown }[] = [];
    answers: (Error | undefined)[] = [];
    #heard: () => void = () => undefined;

    open({ signal }: ClusterRequest): Promise<never> {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      });
    }

    async json({ method = 'GET', json }: ClusterRequest & { readonly json?: unknown }): Promise<unknown> {
      this.requests.push({ method, json });
      this.#heard();
      const failure = this.answers.shift();
      if (failure) throw failure;
      return {};
    }

    async until(count: number): Promise<void> {
      while (this.requests.length < count) {
        await new Promise<void>((resolve) => {
          this.#heard = resolve;
        });
      }
    }
  }

  async function scene() {
    const writes = new Writes();
    const warnings: unknown[] = [];
    const shared = new SharedFailures({
      client: writes,
      namespace: 'ns',
      name: 'state',
      macs: await memoryKeyRing(),
      merge: () => undefined,
      lifetimeMs: 60_000,
      log: { debug: () => undefined, info: () => undefined, warn: (line: unknown) => warnings.push(line) },
      pauseMs: 1,
      now: () => 2000,
    });
    const stop = new AbortController();
    const running = shared.run(stop.signal);
    return {
      writes,
      warnings,
      shared,
      stop: async () => {
        stop.abort();
        await running;
      },
    };
  }

  it('are written into the ConfigMap as members of their own', async () => {
    const { writes, shared, stop } = await scene();
    shared.save(CROSSING);
    await writes.until(1);
    expect(writes.requests[0]?.method).to.equal('PATCH');
    expect(writes.requests[0]?.json).to.have.nested.property('data.account-k-abc');
    await stop();
  });

  it('make the ConfigMap where there is none, and patch it when somebody else was faster', async () => {
    const { writes, shared, stop } = await scene();
    writes.answers = [
      new StatusError(404, 'NotFound', 'not found'),
      new StatusError(409, 'AlreadyExists', 'already exists'),
    ];
    shared.save(CROSSING);
    await writes.until(3);
    expect(writes.requests.map(({ method }) => method)).to.deep.equal(['PATCH', 'POST', 'PATCH']);
    await stop();
  });

  it('are written later when the cluster does not take them now', async () => {
    const { writes, shared, warnings, stop } = await scene();
    writes.answers = [new StatusError(503, 'ServiceUnavailable', 'away')];
    shared.save(CROSSING);
    await writes.until(2);
    expect(writes.requests[1]?.json).to.deep.equal(writes.requests[0]?.json);
    expect(warnings).to.have.length(1);
    await stop();
  });
});
