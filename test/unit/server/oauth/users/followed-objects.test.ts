import { expect } from 'chai';
import { pino } from 'pino';
import { newNotFound, type StatusError } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { FollowedObjects } from '../../../../../server/oauth/users/followed-objects.ts';

const signal = new AbortController().signal;

describe('objects that are followed', () => {
  let asked: string[];
  let answer: (path: string) => unknown;
  let time: number;
  let objects: FollowedObjects<string>;

  beforeEach(() => {
    asked = [];
    time = 0;
    answer = () => ({ metadata: { name: 'alice', resourceVersion: '7' } });
    objects = new FollowedObjects('users', () => 'read', {
      client: {
        open: () => Promise.reject(new Error('nothing is followed here')),
        json: async ({ path }: ClusterRequest) => {
          asked.push(path);
          return answer(path);
        },
      },
      group: 'iam.platform.io',
      log: pino({ level: 'silent' }),
      monotonic: () => time,
    });
    objects.index.replacement().commit('5');
  });

  const reason = (name: string): Promise<string | undefined> =>
    objects.catchUp(name, signal).then(
      () => undefined,
      (error: StatusError) => error.reason,
    );

  it('are known as soon as one was looked up past the watch', async () => {
    expect(objects.index.get('alice')).to.equal(undefined);
    await objects.catchUp('alice', signal);
    expect(objects.index.get('alice')).to.equal('read');
    expect(asked).to.deep.equal(['/apis/iam.platform.io/v1beta1/users/alice']);
  });

  it('are not asked for under names that nobody can have, which take nobody a look-up away', async () => {
    for (let time = 0; time < 200; time++) await objects.catchUp('../secrets', signal);
    expect(asked).to.deep.equal([]);
    expect(await reason('alice')).to.equal(undefined);
  });

  it('may be gone; whether the cluster did not answer is told', async () => {
    answer = () => {
      throw newNotFound({ group: 'iam.platform.io', resource: 'users' }, 'alice');
    };
    expect(await reason('alice')).to.equal(undefined);
    answer = () => {
      throw new Error('cut');
    };
    expect(await reason('alice')).to.equal('ServiceUnavailable');
  });

  it('are looked up so many times at once, and not without end', async () => {
    for (let time = 0; time < 100; time++) await objects.catchUp('alice', signal);
    expect(await reason('alice')).to.equal('ServiceUnavailable');
    time = 1000;
    expect(await reason('alice')).to.equal(undefined);
    expect(asked).to.have.length(101);
  });
});
