// Tests of the writer of `status.lastLoginTime`.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { LastLogins } from '../../../../../server/oauth/users/last-logins.ts';
import { until } from '../../../../support/until.ts';

class Scene {
  readonly logins: LastLogins;
  now = Date.parse('2026-01-01T10:00:30Z');
  readonly written: string[] = [];
  failure: Error | undefined;
  readonly shown: unknown[] = [];
  #heard: () => void = () => undefined;

  constructor() {
    this.logins = new LastLogins({
      client: {
        json: async ({ path, json }: ClusterRequest & { readonly json?: unknown }) => {
          const failure = this.failure;
          this.failure = undefined;
          this.written.push(`${path.split('/')[5]} ${JSON.stringify(json)}`);
          this.#heard();
          if (failure) throw failure;
          return { answerTo: path };
        },
      },
      group: 'iam.platform.io',
      users: {
        object: () => undefined,
        put: (written) => this.shown.push(written),
      },
      log: { debug: () => undefined, warn: () => undefined },
      now: () => this.now,
      retryMs: 1,
    });
  }

  async until(count: number): Promise<void> {
    while (this.written.length < count) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }
}

describe('last login times', () => {
  let scene: Scene;
  let end: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    scene = new Scene();
    end = new AbortController();
    running = scene.logins.run(end.signal);
  });

  afterEach(async () => {
    end.abort();
    await running;
  });

  it('are written once per user and minute', async () => {
    for (let i = 0; i < 5; i++) scene.logins.record('alice');
    scene.logins.record('bob');
    await until(() => scene.shown.length === 2);
    scene.logins.record('alice');
    scene.logins.record('carol');
    await until(() => scene.shown.length === 3);
    scene.now += 60_000;
    scene.logins.record('alice');
    await scene.until(4);
    expect(scene.written).to.deep.equal([
      'alice {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'bob {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'carol {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'alice {"status":{"lastLoginTime":"2026-01-01T10:01:00Z"}}',
    ]);
  });

  it('are retried after those of other users', async () => {
    scene.failure = newServiceUnavailable('kube-apiserver is unreachable');
    scene.logins.record('alice');
    scene.logins.record('bob');
    await until(() => scene.shown.length === 2);
    expect(scene.written.map((line) => line.split(' ')[0])).to.deep.equal(['alice', 'bob', 'alice']);
    // The cache has the objects as kube-apiserver returned them.
    expect(scene.shown).to.deep.include({ answerTo: '/apis/iam.platform.io/v1beta1/users/alice/status' });
    scene.logins.record('alice');
    scene.logins.record('carol');
    await scene.until(4);
    expect(scene.written[3]).to.match(/^carol /);
  });
});
