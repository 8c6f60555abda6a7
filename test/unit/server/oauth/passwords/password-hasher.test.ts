// Tests of the password hasher.
import { hash as bcryptHash } from '@node-rs/bcrypt';
import { expect } from 'chai';
import {
  HashQueue,
  hashConcurrency,
  PasswordHasher,
} from '../../../../../server/oauth/passwords/password-hasher.ts';
import { rejection } from '../../../../support/rejection.ts';

const QUEUE = { concurrency: 2, length: 64, timeoutMs: 30_000 };
const hasher = new PasswordHasher({ memory: 19 * 1024 * 1024, iterations: 2, queue: QUEUE });

describe('the password hasher', () => {
  let stored = '';
  before(async () => {
    stored = await hasher.hash('pass wörd', { caller: 'user test' });
  });

  it("creates argon2id hashes with OWASP's parameters and a random salt", async () => {
    expect(stored).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(await hasher.hash('pass wörd', { caller: 'user test' })).not.to.equal(stored);
  });

  it('hashes for the callers in turn', async () => {
    const one = new PasswordHasher({ memory: 8192, iterations: 1, queue: { ...QUEUE, concurrency: 1 } });
    const order: string[] = [];
    const create = (caller: string): Promise<unknown> =>
      one.hash('password', { caller }).then(() => order.push(caller));
    await Promise.all(['eve', 'eve', 'eve', 'bob'].map(create));
    expect(order).to.deep.equal(['eve', 'eve', 'bob', 'eve']);
  });

  it('compares passwords byte for byte', async () => {
    expect(await hasher.verify(stored, 'pass wörd')).to.equal(true);
    expect(await hasher.verify(stored, 'pass wörd ')).to.equal(false);
    expect(await hasher.verify(stored, 'pass wo\u0308rd')).to.equal(false);
  });

  it('takes the same CPU time without a stored hash', async () => {
    await hasher.prepare();
    // The minimum CPU time of several alternating runs, over all threads, which excludes other work of the machine.
    const least = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    for (let i = 0; i < 8; i++) {
      for (const [kind, hash] of [
        ['known', stored],
        ['unknown', undefined],
      ] as const) {
        const before = process.cpuUsage();
        expect(await hasher.verify(hash, 'wrong')).to.equal(false);
        const { user, system } = process.cpuUsage(before);
        least[kind] = Math.min(least[kind], user + system);
      }
    }
    // Without a decoy hash, the ratio would be about 0.001.
    expect(least.unknown / least.known).to.be.within(0.25, 4);
  });

  it('verifies bcrypt hashes of imported users', async () => {
    const longest = await bcryptHash('x'.repeat(72), { cost: 4 });
    for (const imported of [longest, longest.replace('$2b$', '$2a$')]) {
      expect(await hasher.verify(imported, 'x'.repeat(72))).to.equal(true);
      expect(await hasher.verify(imported, 'X'.repeat(72))).to.equal(false);
      expect(await hasher.verify(imported, 'x'.repeat(73)), 'bcrypt ignores further bytes').to.equal(false);
    }
  });

  for (const broken of [
    '',
    'secret',
    '$argon2id$',
    '$2b$31$abcdefghijklmnopqrstuuJ8B8v9h8qk2QO2yqYI0p8eG4h9bqQe6',
    '$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$c29tZWhhc2hzb21laGFzaHNvbWVoYXNoc29tZWhhc2g',
  ]) {
    it(`never matches the stored value ${JSON.stringify(broken)}, in bounded time`, async () => {
      expect(await hasher.verify(broken, 'secret')).to.equal(false);
    });
  }

  it('needs a rehash for another algorithm or a lower cost', async () => {
    expect(hasher.needsRehash(stored)).to.equal(false);
    expect(hasher.needsRehash(await bcryptHash('secret', { cost: 4 }))).to.equal(true);
    expect(hasher.needsRehash(stored.replace('m=19456', 'm=9728'))).to.equal(true);
    expect(hasher.needsRehash(stored.replace('m=19456', 'm=65536'))).to.equal(false);
    expect(hasher.needsRehash(stored.replace('$argon2id', '$argon2i'))).to.equal(true);
  });
});

describe('the hash queue', () => {
  it('rejects with 503 and Retry-After when it is full', async () => {
    const queue = new HashQueue({ concurrency: 1, length: 0, timeoutMs: 1000 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = queue.run({}, () => promise);
    expect(await rejection(queue.run({}, () => promise)))
      .to.include({ code: 503 })
      .and.have.nested.property('details.retryAfterSeconds', 2);
    resolve();
    await running;
    await queue.run({}, () => Promise.resolve());
  });

  it('keeps half of a full queue, and the next hash, for known users', async () => {
    const queue = new HashQueue({ concurrency: 1, length: 4, timeoutMs: 30_000 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const order: string[] = [];
    const join = (flow: 'known' | 'unknown', name: string): Promise<unknown> =>
      queue.run({ flow }, async () => void order.push(name)).catch((error: unknown) => error);
    const running = queue.run({}, () => promise);
    const unknown = ['u1', 'u2', 'u3', 'u4'].map((name) => join('unknown', name));
    const known = ['k1', 'k2'].map((name) => join('known', name));
    for (const surplus of [unknown[3], unknown[2]]) expect(await surplus).to.include({ code: 503 });
    resolve();
    await Promise.all([running, ...unknown, ...known]);
    expect(order).to.have.members(['k1', 'k2', 'u1', 'u2']);
    expect(order.indexOf('k2')).to.be.below(order.indexOf('u2'));
  });
});

describe('the hash queue of unknown callers', () => {
  it('serves the networks round-robin, and drops requests of the network with the most', async () => {
    const queue = new HashQueue({ concurrency: 1, length: 6, timeoutMs: 30_000 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const order: string[] = [];
    const join = (name: string): Promise<unknown> =>
      queue
        .run({ caller: name.slice(0, 1) }, async () => void order.push(name))
        .catch(({ code }: { code: number }) => `${name} ${code}`);
    const running = queue.run({ caller: 'a' }, () => promise);
    const joined = ['a1', 'a2', 'a3', 'b1', 'c1'].map(join);
    expect(await Promise.all([joined[1], joined[2]])).to.deep.equal(['a2 503', 'a3 503']);
    resolve();
    await Promise.all([running, ...joined]);
    expect(order.toSorted()).to.deep.equal(['a1', 'b1', 'c1']);
  });
});

describe('hashConcurrency', () => {
  it('is the number of cores, but reserves one thread of the pool', () => {
    expect(hashConcurrency(2, 4)).to.equal(2);
    expect(hashConcurrency(16, 4)).to.equal(3);
    expect(hashConcurrency(4, 1)).to.equal(1);
  });
});
