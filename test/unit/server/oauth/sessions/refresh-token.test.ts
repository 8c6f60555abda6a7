import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  newRefreshToken,
  parseRefreshToken,
  sameHash,
  successor,
} from '../../../../../server/oauth/sessions/refresh-token.ts';
import { newSessionID } from '../../../../../server/oauth/sessions/session-object.ts';

describe('a refresh token', () => {
  const id = newSessionID(randomBytes);

  it('contains the session id and is unique', () => {
    const tokens = Array.from({ length: 100 }, () => newRefreshToken(id, randomBytes));
    for (const { text, sessionID } of tokens) {
      expect(text).to.match(/^prt_s-[a-z2-7]{20}_[\w-]{64}$/);
      expect(sessionID).to.equal(id);
    }
    expect(new Set(tokens.map(({ text }) => text)).size).to.equal(100);
  });

  it('is parsed with the same hashes', () => {
    const token = newRefreshToken(id, randomBytes);
    expect(parseRefreshToken(token.text)).to.deep.equal(token);
    expect(token.hash).to.match(/^[0-9a-f]{64}$/);
  });

  it('has successors of the same family with different hashes', () => {
    const first = newRefreshToken(id, randomBytes);
    const second = successor(first, randomBytes);
    const third = successor(second, randomBytes);
    expect([second.familyHash, third.familyHash]).to.deep.equal([first.familyHash, first.familyHash]);
    expect(new Set([first.hash, second.hash, third.hash]).size).to.equal(3);
    expect(newRefreshToken(id, randomBytes).familyHash).to.not.equal(first.familyHash);
  });

  it('has one spelling', () => {
    const { text } = newRefreshToken(id, randomBytes);
    for (const other of [
      `${text}=`,
      `${text}A`,
      text.slice(0, -1),
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
      text.replace('prt_', 'PRT_'),
      'prt__',
      '',
    ]) {
      expect(parseRefreshToken(other), JSON.stringify(other)).to.equal(undefined);
    }
  });
});

describe('sameHash', () => {
  it('compares exactly, and never matches an empty hash', () => {
    expect(sameHash('a'.repeat(64), 'a'.repeat(64))).to.equal(true);
    expect(sameHash('a'.repeat(64), `${'a'.repeat(63)}b`)).to.equal(false);
    expect(sameHash('a'.repeat(64), 'a')).to.equal(false);
    expect(sameHash('', '')).to.equal(false);
  });
});
