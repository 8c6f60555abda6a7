// Tests of the reads of the store of User and Credential objects.
import { expect } from 'chai';
import { pino } from 'pino';
import { USER } from '../../../../../apis/iam/v1beta1/user-resource.ts';
import { newNotFound } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { ObjectStore, type ObjectStoreOptions } from '../../../../../server/oauth/users/object-store.ts';
import { reasonOf } from '../../../../conformance/users.suite.ts';
import { fewSeats } from '../../../../support/request-pools.ts';

const signal = new AbortController().signal;

class Objects extends ObjectStore<string> {
  constructor(options: ObjectStoreOptions) {
    super(USER, () => 'read', options);
    this.index.replacement().commit('5');
  }

  get(name: string): string | undefined {
    return this.index.get(name);
  }
}

describe('an object store', () => {
  let requested: string[];
  let answer: (path: string) => unknown;
  let objects: Objects;

  beforeEach(() => {
    requested = [];
    answer = () => ({ metadata: { name: 'alice', resourceVersion: '7' } });
    objects = new Objects({
      client: {
        open: () => Promise.reject(new Error('no reflector in this test')),
        json: async ({ path }: ClusterRequest) => {
          requested.push(path);
          return answer(path);
        },
      },
      group: 'iam.platform.io',
      lookups: fewSeats(4, 'reserve'),
      log: pino({ level: 'silent' }),
    });
  });

  const reason = (name = 'alice', caller = 'eve'): Promise<string | undefined> =>
    reasonOf(objects.catchUp(name, { signal, caller }));

  it('contains an object after catchUp, before the watch event', async () => {
    expect(objects.get('alice')).to.equal(undefined);
    await objects.catchUp('alice', { signal });
    expect(objects.get('alice')).to.equal('read');
    expect(requested).to.deep.equal(['/apis/iam.platform.io/v1beta1/users/alice']);
  });

  it('does not look up invalid names, and does not count them', async () => {
    for (let i = 0; i < 200; i++) expect(await reason('../secrets')).to.equal(undefined);
    expect(requested).to.deep.equal([]);
    expect(await reason()).to.equal(undefined);
  });

  it('ignores a missing object, and reports an outage of the cluster as 503', async () => {
    answer = () => {
      throw newNotFound({ group: 'iam.platform.io', resource: 'users' }, 'alice');
    };
    expect(await reason()).to.equal(undefined);
    answer = () => {
      throw new Error('cut');
    };
    expect(await reason()).to.equal('ServiceUnavailable');
  });

  it('shares the lookups between callers, who have no limit of their rate', async () => {
    for (let i = 0; i < 200; i++) expect(await reason()).to.equal(undefined);
    const { promise, resolve } = Promise.withResolvers<object>();
    answer = () => promise;
    const pending = [reason('alice'), reason('bob')];
    expect(await reason('carl'), 'beyond her share').to.equal('ServiceUnavailable');
    const other = reason('carl', 'zoe');
    resolve({ metadata: { name: 'carl', resourceVersion: '8' } });
    expect(await Promise.all([...pending, other])).to.deep.equal([undefined, undefined, undefined]);
  });
});
