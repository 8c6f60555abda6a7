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
  it('makes of claims the user that kube-apiserver makes of them', () => {
    const authenticator = new AccessTokenAuthenticator({ verify: () => CLAIMS });
    expect(authenticator.authenticate('token', scope)).to.deep.equal({
      name: 'alice',
      uid: 'u-1',
      groups: ['developers'],
      extra: { [EXTRA]: [`JTI=${CLAIMS.jti}`] },
    });
  });

  it('gives the same user for the same claims, so that what is known of a user can be kept', async () => {
    const answers = [CLAIMS, Promise.resolve(CLAIMS)];
    const authenticator = new AccessTokenAuthenticator({ verify: () => answers.shift() });
    const first = authenticator.authenticate('token', scope);
    expect(await authenticator.authenticate('token', scope)).to.equal(first);
  });

  it('leaves tokens of others to others', async () => {
    const answers = [undefined, Promise.resolve(undefined)];
    const authenticator = new AccessTokenAuthenticator({ verify: () => answers.shift() });
    expect(authenticator.authenticate('token', scope)).to.equal(undefined);
    expect(await authenticator.authenticate('token', scope)).to.equal(undefined);
  });
});

describe('an identity that was handed on', () => {
  const handedOn = (extra: UserInfo['extra']): UserInfo => ({ name: 'alice', uid: 'u-1', groups: [], extra });
  const request = { request: new IncomingMessage(new Socket()), secure: true, ...scope };

  function checking(user: UserInfo | undefined, check: () => Promise<void> | void = () => undefined) {
    const asked: string[] = [];
    const authenticator = sessionCheckedAuthentication(
      { name: 'front-proxy', authenticate: () => user },
      {
        check: (jti, { name, uid }) => {
          asked.push(`${jti} ${name} ${uid}`);
          return check();
        },
      },
    );
    return { authenticator, asked };
  }

  it('asks for each token id of an identity that was handed on', () => {
    const user = handedOn({ [EXTRA]: ['JTI=one', 'X509SHA256=aa', 'JTI=two'], other: ['JTI=three'] });
    const { authenticator, asked } = checking(user);
    expect(authenticator.authenticate(request)).to.equal(user);
    expect(asked).to.deep.equal(['one alice u-1', 'two alice u-1']);
  });

  it('has nothing to ask for identities without one, and for nobody', () => {
    for (const user of [handedOn({}), undefined]) {
      const { authenticator, asked } = checking(user);
      expect(authenticator.authenticate(request)).to.equal(user);
      expect(asked).to.deep.equal([]);
    }
  });

  it('lets nobody in whose token was revoked, at once or after the cluster was asked', async () => {
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

describe('tokens that the cluster has reviewed', () => {
  const reviewed: UserInfo = { name: 'alice', uid: 'u-1', groups: [], extra: { [EXTRA]: ['JTI=one'] } };

  it('lets nobody in with a revoked token, although the cluster still takes it', async () => {
    for (const answer of [reviewed, Promise.resolve(reviewed)]) {
      const asked: string[] = [];
      const authenticator = sessionCheckedTokens(
        { name: 'token-review', authenticate: () => answer },
        {
          check: (jti, { name, uid }) => {
            asked.push(`${jti} ${name} ${uid}`);
            return Promise.reject(newUnauthorized(new Error('the session is over')));
          },
        },
      );
      const refusal: unknown = await Promise.resolve(authenticator.authenticate('token', scope)).catch(
        (error: unknown) => error,
      );
      expect(refusal).to.include({ code: 401 });
      expect(asked).to.deep.equal(['one alice u-1']);
    }
  });

  it('has nothing to say about tokens that the cluster does not know, and about foreign ones', async () => {
    for (const user of [undefined, { ...reviewed, extra: {} }]) {
      const authenticator = sessionCheckedTokens(
        { name: 'token-review', authenticate: () => Promise.resolve(user) },
        { check: () => expect.fail('there is no id to ask about') },
      );
      expect(await authenticator.authenticate('token', scope)).to.equal(user);
    }
  });
});
