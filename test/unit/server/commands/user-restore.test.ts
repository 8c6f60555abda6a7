// Tests of the restore of users when the cluster rejects objects. test/integration/server/iam restores users in a real cluster.
import { expect } from 'chai';
import { newForbidden, newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { restore } from '../../../../server/commands/user-restore.ts';
import { rejection } from '../../../support/rejection.ts';

const metadata = (name: string) => ({ name, uid: `uid-${name}`, resourceVersion: '1' });
const userUID = 'uid-ada';
const BACKUP = JSON.stringify({
  items: [
    { kind: 'User', metadata: metadata('ada'), spec: {} },
    {
      kind: 'Authenticators',
      metadata: metadata('ada'),
      spec: { userUID, recoveryCodes: [{ hash: 'a'.repeat(64) }] },
    },
    {
      kind: 'Credential',
      metadata: metadata('ada'),
      spec: { userUID, passwordHash: 'hash', changedTime: '2026-11-01T00:00:00Z' },
    },
  ],
});

describe('the restore of users', () => {
  /** Returns the reported lines. `failure`: that of the write of recovery codes. */
  async function restored(failure: Error): Promise<readonly string[]> {
    const lines: string[] = [];
    await restore(
      BACKUP,
      {
        users: {
          create: async (user) => user,
          replace: async (user) => user,
          read: async (name) => ({ metadata: metadata(name), spec: {} }),
        },
        credentials: { create: async () => undefined },
        identities: { create: () => Promise.reject(new Error('there is no identity')) },
        authenticators: { update: () => Promise.reject(failure) },
      },
      (line) => lines.push(line),
      new AbortController().signal,
    );
    return lines;
  }

  it('restores no password without the recovery codes of its user', async () => {
    const forbidden = newForbidden(undefined, '', 'denied by a policy');
    expect(await restored(forbidden)).to.deep.equal([
      'user ada restored',
      `recovery codes of ada not restored: ${forbidden.message}`,
      'password of ada skipped: the recovery codes were not restored',
    ]);
  });

  it('ends during an outage of the cluster', async () => {
    const outage = newServiceUnavailable('no cluster', 1);
    expect(await rejection(restored(outage))).to.equal(outage);
  });
});
