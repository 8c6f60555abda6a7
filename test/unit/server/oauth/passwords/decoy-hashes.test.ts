// Tests of the decoy hashes for unknown user names.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { DecoyHashes } from '../../../../../server/oauth/passwords/decoy-hashes.ts';
import { PasswordHasher } from '../../../../../server/oauth/passwords/password-hasher.ts';

const BCRYPT = '$2y$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234';
const ARGON2 =
  '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';
const digest = (name: string): string => createHash('sha256').update(name).digest('hex');
const NAMES = Array.from({ length: 1000 }, (_, index) => `nobody-${index}`);

describe('decoy hashes', () => {
  let hashes: string[];
  let time: number;
  let decoys: DecoyHashes;

  beforeEach(() => {
    hashes = [];
    time = 0;
    decoys = new DecoyHashes({ hashes: () => hashes, digest, monotonic: () => time });
  });

  it('have the distribution of algorithms and costs of the stored hashes', () => {
    hashes = [BCRYPT, ARGON2, ARGON2, ARGON2];
    const countOf = (start: string) => NAMES.filter((name) => decoys.of(name)?.startsWith(start)).length;
    const slow = countOf('$2y$10$');
    expect(slow).to.be.within(200, 300);
    expect(slow + countOf('$argon2id$v=19$m=19456,t=2,p=1$')).to.equal(NAMES.length);
  });

  it('stay the same for a name, and change in one direction only while hashes are renewed', () => {
    hashes = [BCRYPT, BCRYPT, ARGON2, ARGON2];
    const before = NAMES.map((name) => decoys.of(name));
    expect(NAMES.map((name) => decoys.of(name))).to.deep.equal(before);
    hashes = [ARGON2, BCRYPT, ARGON2, ARGON2];
    time = 60_000;
    for (const [index, name] of NAMES.entries()) {
      const was = before[index];
      if (was?.startsWith('$argon2')) expect(decoys.of(name)).to.equal(was);
    }
  });

  it('contain no part of a stored hash, match no password, and can be verified', async () => {
    const queue = { concurrency: 1, length: 1, timeoutMs: 30_000 };
    const hasher = new PasswordHasher({ memory: 7 * 1024 * 1024, iterations: 1, queue });
    for (const hash of [BCRYPT, ARGON2]) {
      hashes = [hash];
      time += 60_000;
      const decoy = decoys.of('nobody') ?? '';
      expect(decoy).to.have.length(hash.length);
      expect(decoy.slice(-20)).to.not.equal(hash.slice(-20));
      expect(await hasher.verify(decoy, 'password')).to.equal(false);
      expect(hasher.needsRehash(decoy)).to.equal(hash === BCRYPT);
    }
  });

  it('ignore invalid stored hashes', () => {
    hashes = ['', 'plain', '$2b$10$short'];
    expect(decoys.of('nobody')).to.equal(undefined);
  });
});
