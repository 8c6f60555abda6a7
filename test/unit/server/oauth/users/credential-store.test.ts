// Tests of the conversion between credentials and Credential objects.
import { expect } from 'chai';
import { pino } from 'pino';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../../../../server/cluster/connection/client.ts';
import {
  ClusterCredentialStore,
  readCredential,
} from '../../../../../server/oauth/users/credential-store.ts';
import { fewSeats } from '../../../../support/request-pools.ts';

const metadata = { name: 'ada', uid: 'u', resourceVersion: '7' };

describe('a Credential object', () => {
  it('is owned by its user, and read as it was written', async () => {
    const changedAt = 1_700_000_000_123;
    const credential = { passwordHash: '$argon2id$x', userUID: 'u', mustChange: true, changedAt };
    let object: unknown;
    const json: ClusterClient['json'] = async (request) => {
      object = request.json;
      return { metadata };
    };
    const store = new ClusterCredentialStore({
      client: { open: () => Promise.reject(new Error('no reflector in this test')), json },
      group: 'iam.platform.io',
      lookups: fewSeats(4, 'reserve'),
      log: pino({ level: 'silent' }),
    });
    await store.set('ada', { ...credential, resourceVersion: '7' }, new AbortController().signal);
    expect(object).to.have.nested.property('metadata.resourceVersion', '7');
    const owner = { apiVersion: 'iam.platform.io/v1beta1', kind: 'User', name: 'ada', uid: 'u' };
    expect(object).to.have.deep.nested.property('metadata.ownerReferences', [owner]);
    const read = { ...credential, uid: 'u', resourceVersion: '7' };
    expect(readCredential({ ...record(object), metadata })).to.deep.equal(read);
  });

  it('is invalid without hash, user uid or time', () => {
    const spec = { userUID: 'u', passwordHash: 'h', changedTime: '2026-01-01T00:00:00Z' };
    expect(readCredential({ metadata, spec })).not.to.equal(undefined);
    const invalid = Object.keys(spec).flatMap((field) => [{ [field]: undefined }, { [field]: 7 }]);
    for (const change of [...invalid, { changedTime: 'soon' }]) {
      const object = { metadata, spec: { ...spec, ...change } };
      expect(readCredential(object), JSON.stringify(object)).to.equal(undefined);
    }
  });
});
