// Tests of the authenticator of access tokens that this server has issued.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import { AccessTokenAuthenticator } from '../../../../server/authentication/access-token.ts';
import { CallerRejected } from '../../../../server/authentication/authenticator.ts';
import {
  sessionCheckedAuthentication,
  sessionCheckedTokens,
} from '../../../../server/authentication/session-check.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';

const scope = { signal: new AbortController().signal };
const CLAIMS = {
  sub: 'alice',
  uid: 'u-1',
  groups: ['developers'],
  jti: 'ks.s-abcdefghijklmnopqrst.AAAAAAAAAAAAAAAA',
};
const EXTRA = 'authentication.kubernetes.io/credential-id';

describe('AccessTokenAuthenticator', () => {
  it('maps claims to the same user as kube-apiserver', () => {
    const authenticator = new AccessTokenAuthenticator({ verify: () => CLAIMS });
    expect(authenticator.authenticate({ text: 'token' }, scope)).to.deep.equal({
      name: 'alice',
      uid: 'u-1',
      groups: ['developers'],
      extra: { [EXTRA]: [`JTI=${CLAIMS.jti}`] },
    });
  });

  it('returns the same user object for the same claims', async () => {
    const answers = [CLAIMS, Promise.resolve(CLAIMS)];
    const authenticator = new AccessTokenAuthenticator({ verify: () => answers.shift() });
    const first = authenticator.authenticate({ text: 'token' }, scope);
    expect(await authenticator.authenticate({ text: 'token' }, scope)).to.equal(first);
  });

  it('returns undefined for tokens of other issuers', async () => {
    const answers = [undefined, Promise.resolve(undefined)];
    const authenticator = new AccessTokenAuthenticator({ verify: () => answers.shift() });
    expect(authenticator.authenticate({ text: 'token' }, scope)).to.equal(undefined);
    expect(await authenticator.authenticate({ text: 'token' }, scope)).to.equal(undefined);
  });
});

describe('a forwarded identity', () => {
  const handedOn = (extra: UserInfo['extra']): UserInfo => ({ name: 'alice', uid: 'u-1', groups: [], extra });
  const request = { request: new IncomingMessage(new Socket()), secure: true, ...scope };

  function checking(user: UserInfo | undefined, check: () => Promise<void> | void = () => undefined) {
    const checked: string[] = [];
    const authenticator = sessionCheckedAuthentication(
      { name: 'front-proxy', authenticate: () => user },
      {
        check: (jti, { name, uid }) => {
          checked.push(`${jti} ${name} ${uid}`);
          return check();
        },
      },
    );
    return { authenticator, checked };
  }

  it('checks each token id of a forwarded identity', () => {
    const user = handedOn({ [EXTRA]: ['JTI=one', 'X509SHA256=aa', 'JTI=two'], other: ['JTI=three'] });
    const { authenticator, checked } = checking(user);
    expect(authenticator.authenticate(request)).to.equal(user);
    expect(checked).to.deep.equal(['one alice u-1', 'two alice u-1']);
  });

  it('checks nothing without a token id, or without a user', () => {
    for (const user of [handedOn({}), undefined]) {
      const { authenticator, checked } = checking(user);
      expect(authenticator.authenticate(request)).to.equal(user);
      expect(checked).to.deep.equal([]);
    }
  });

  it('rejects a revoked token, synchronously or asynchronously', async () => {
    const user = handedOn({ [EXTRA]: ['JTI=one'] });
    const refuse = (): never => {
      throw newUnauthorized(new Error('the session is over'));
    };
    for (const check of [refuse, () => Promise.reject(newUnauthorized())]) {
      const { authenticator } = checking(user, check);
      const refusal: unknown = await Promise.try(() => authenticator.authenticate(request)).catch(
        (error: unknown) => error,
      );
      expect(refusal).to.be.instanceOf(CallerRejected);
      expect(refusal).to.have.nested.property('cause.code', 401);
    }
  });
});

describe('reviewed tokens', () => {
  const reviewed: UserInfo = { name: 'alice', uid: 'u-1', groups: [], extra: { [EXTRA]: ['JTI=one'] } };

  it('rejects a revoked token that the cluster still accepts', async () => {
    for (const answer of [reviewed, Promise.resolve(reviewed)]) {
      const checked: string[] = [];
      const authenticator = sessionCheckedTokens(
        { name: 'token-review', authenticate: () => answer },
        {
          check: (jti, { name, uid }) => {
            checked.push(`${jti} ${name} ${uid}`);
            return Promise.reject(newUnauthorized(new Error('the session is over')));
          },
        },
      );
      const refusal: unknown = await Promise.resolve(
        authenticator.authenticate({ text: 'token' }, scope),
      ).catch((error: unknown) => error);
      expect(refusal).to.include({ code: 401 });
      expect(checked).to.deep.equal(['one alice u-1']);
    }
  });

  it('ignores unknown and foreign tokens', async () => {
    for (const user of [undefined, { ...reviewed, extra: {} }]) {
      const authenticator = sessionCheckedTokens(
        { name: 'token-review', authenticate: () => Promise.resolve(user) },
        { check: () => expect.fail('there is no id to ask about') },
      );
      expect(await authenticator.authenticate({ text: 'token' }, scope)).to.equal(user);
    }
  });
});
