// Tests of the writer of `status.lastLoginTime`.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { User } from '../../../../../apis/iam/v1beta1/user.ts';
import {
  newInvalid,
  newNotFound,
  newServiceUnavailable,
  StatusError,
} from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { LastLogins } from '../../../../../server/oauth/users/last-logins.ts';
import { until } from '../../../../support/until.ts';

class Scene {
  readonly logins: LastLogins;
  now = Date.parse('2026-01-01T10:00:30Z');
  readonly written: string[] = [];
  readonly warned: string[] = [];
  failure: Error | undefined;
  readonly users = new Map<string, User>();
  readonly shown: unknown[] = [];
  #heard: () => void = () => undefined;

  constructor(retryMs: number) {
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
        object: (name) => this.users.get(name),
        put: (written) => this.shown.push(written),
      },
      log: { debug: () => undefined, warn: ({ err }: { err: Error }) => void this.warned.push(err.message) },
      now: () => this.now,
      retryMs,
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
  let stop: () => Promise<void>;

  function begin(retryMs: number): void {
    scene = new Scene(retryMs);
    const end = new AbortController();
    const running = scene.logins.run(end.signal);
    stop = async () => {
      end.abort();
      await running;
    };
  }

  beforeEach(() => begin(1));
  afterEach(() => stop());

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

  it('are not retried for a deleted or invalid user; a rejected write is logged', async () => {
    const failures = [
      newNotFound({ group: 'iam.platform.io', resource: 'users' }, 'alice'),
      newInvalid('the user is invalid', []),
    ];
    const names = ['alice', 'bob', 'carol'];
    for (const [at, name] of names.entries()) {
      scene.failure = failures[at];
      scene.logins.record(name);
      await scene.until(at + 1);
    }
    expect(scene.written.map((line) => line.split(' ')[0])).to.deep.equal(names);
    scene.failure = new StatusError(403, 'Forbidden', 'no permission for users/status');
    scene.logins.record('dora');
    await until(() => scene.warned.length === 2);
    expect(scene.warned).to.deep.equal(['the user is invalid', 'no permission for users/status']);
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

  it('back off for all users', async () => {
    await stop();
    begin(3_600_000);
    scene.failure = newServiceUnavailable('kube-apiserver is unreachable');
    scene.logins.record('alice');
    scene.logins.record('bob');
    await scene.until(1);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(scene.written).to.have.length(1);
  });

  it('do not overwrite a later time of another replica', async () => {
    const lastLoginTime = '2026-01-01T10:01:00Z';
    scene.failure = newServiceUnavailable('kube-apiserver is unreachable');
    scene.logins.record('alice');
    await scene.until(1);
    scene.users.set('alice', { metadata: { name: 'alice' }, spec: {}, status: { lastLoginTime } });
    scene.logins.record('bob');
    await scene.until(2);
    scene.now += 120_000;
    scene.logins.record('alice');
    await scene.until(3);
    expect(scene.written.slice(1)).to.deep.equal([
      'bob {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'alice {"status":{"lastLoginTime":"2026-01-01T10:02:00Z"}}',
    ]);
  });
});
