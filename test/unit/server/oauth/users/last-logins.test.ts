// Tests of the writer of `status.lastLoginTime`.
import { expect } from 'chai';
import type { User } from '../../../../../apis/iam/v1beta1/user-resource.ts';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { LastLogins } from '../../../../../server/oauth/users/last-logins.ts';
import { until } from '../../../../support/until.ts';

describe('last login times', () => {
  let now: number;
  let written: string[];
  let failure: Error | undefined;
  let cached: unknown[];
  let objects: Map<string, User>;
  let logins: LastLogins;

  beforeEach(() => {
    now = Date.parse('2026-01-01T10:00:30Z');
    written = [];
    cached = [];
    objects = new Map();
    failure = undefined;
    logins = new LastLogins({
      client: {
        json: async ({ path, json }: ClusterRequest & { readonly json?: unknown }) => {
          written.push(`${path.split('/')[5]} ${JSON.stringify(json)}`);
          const thrown = failure;
          failure = undefined;
          if (thrown) throw thrown;
          return { answerTo: path };
        },
      },
      group: 'iam.platform.io',
      users: { object: (name) => objects.get(name), put: (user) => cached.push(user) },
      log: { debug: () => undefined, warn: () => undefined },
      now: () => now,
    });
  });

  async function record(...users: string[]): Promise<void> {
    const written = cached.length + new Set(users).size;
    for (const user of users) logins.record(user);
    await until(() => cached.length === written);
  }

  it('are written once per user and minute', async () => {
    await record('alice', 'alice', 'alice', 'bob');
    logins.record('alice');
    await record('carol');
    now += 60_000;
    await record('alice');
    expect(written).to.deep.equal([
      'alice {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'bob {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'carol {"status":{"lastLoginTime":"2026-01-01T10:00:00Z"}}',
      'alice {"status":{"lastLoginTime":"2026-01-01T10:01:00Z"}}',
    ]);
  });

  it('replace a time of the future, but not one of a replica whose clock is ahead', async () => {
    for (const [name, lastLoginTime] of [
      ['alice', '9999-12-31T23:59:59Z'],
      ['bob', '2026-01-01T10:02:00Z'],
      ['carol', '2026-01-01T09:59:00Z'],
    ] as const) {
      objects.set(name, { metadata: { name }, spec: {}, status: { lastLoginTime } });
    }
    logins.record('bob');
    await record('alice', 'carol');
    expect(written.map((line) => line.split(' ')[0])).to.deep.equal(['alice', 'carol']);
  });

  it('are written at the next sign-in after a failure', async () => {
    failure = newServiceUnavailable('kube-apiserver is unreachable');
    logins.record('alice');
    await record('bob');
    await record('alice');
    expect(written.map((line) => line.split(' ')[0])).to.deep.equal(['alice', 'bob', 'alice']);
    // The cache has the objects as kube-apiserver returned them.
    expect(cached).to.deep.include({ answerTo: '/apis/iam.platform.io/v1beta1/users/alice/status' });
  });
});
