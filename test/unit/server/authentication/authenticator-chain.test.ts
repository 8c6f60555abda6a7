// Tests of AuthenticatorChain, which tries authenticators in order.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { newServiceUnavailable, newUnauthorized, StatusError } from '../../../../apis/meta/v1/errors.ts';
import {
  type AuthenticationRequest,
  type Authenticator,
  CallerRejected,
} from '../../../../server/authentication/authenticator.ts';
import { AuthenticatorChain } from '../../../../server/authentication/authenticator-chain.ts';
import { ANONYMOUS, type UserInfo } from '../../../../server/authentication/user.ts';

const bob: UserInfo = { name: 'bob', uid: '', groups: ['dev'], extra: {} };
const nothing: Authenticator = { name: 'nothing', authenticate: () => undefined };
const knows: Authenticator = { name: 'knows', authenticate: () => bob };
const refuses: Authenticator = {
  name: 'refuses',
  authenticate: () => {
    throw newUnauthorized(new Error('bad'));
  },
};
const unsure: Authenticator = {
  name: 'unsure',
  authenticate: () => Promise.reject(newServiceUnavailable('later')),
};

const requestOf = (): AuthenticationRequest => ({
  request: new IncomingMessage(new Socket()),
  secure: true,
  signal: new AbortController().signal,
});

async function result(authenticators: Authenticator[], anonymous = true): Promise<unknown> {
  const chain = new AuthenticatorChain(authenticators, { anonymous });
  try {
    return await chain.authenticate(requestOf());
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
}

describe('the authenticators of an AuthenticatorChain', () => {
  it('return the user of the first authenticator that recognises the caller', async () => {
    expect(await result([nothing, knows])).to.deep.equal({ ...bob, groups: ['dev', 'system:authenticated'] });
  });

  it('return the anonymous user without credentials, or undefined if disabled', async () => {
    expect(await result([nothing])).to.equal(ANONYMOUS);
    expect(await result([nothing], false)).to.equal(undefined);
  });

  it('never treat invalid credentials as anonymous, and prefer 503 to 401 when some could not be checked', async () => {
    expect(await result([refuses, nothing])).to.equal(401);
    expect(await result([unsure, nothing])).to.equal(503);
    expect(await result([refuses, unsure])).to.equal(503);
    expect(await result([unsure, refuses])).to.equal(503);
    expect(await result([refuses, unsure, knows]), 'beside valid ones of another kind').to.include({
      name: 'bob',
    });
  });

  it('wait for an asynchronous authenticator, and continue after undefined', async () => {
    const later = (user: UserInfo | undefined): Authenticator => ({
      name: 'later',
      authenticate: () => Promise.resolve(user),
    });
    const member = { ...bob, groups: ['dev', 'system:authenticated'] };
    expect(await result([later(bob), refuses])).to.deep.equal(member);
    expect(await result([later(undefined), knows])).to.deep.equal(member);
    expect(await result([later(undefined), refuses])).to.equal(401);
    expect(await result([refuses, later(undefined)])).to.equal(401);
    expect(await result([later(undefined)])).to.equal(ANONYMOUS);
  });

  it('join the reasons of several rejected credentials', async () => {
    const certificate: Authenticator = {
      name: 'certificate',
      authenticate: () => {
        throw newUnauthorized(new Error('client certificate', { cause: new Error('has expired') }));
      },
    };
    const chain = new AuthenticatorChain([certificate, nothing, refuses], { anonymous: true });
    const failed = await Promise.resolve()
      .then(() => chain.authenticate(requestOf()))
      .catch((error: unknown) => error);
    expect(failed).to.have.nested.property('cause.message', 'client certificate: has expired; bad');
  });

  it('end at a rejected caller, even with other credentials', async () => {
    const final = new CallerRejected(newUnauthorized(new Error('signed out')));
    const sync: Authenticator = {
      name: 'final',
      authenticate: () => {
        throw final;
      },
    };
    const later: Authenticator = { name: 'final', authenticate: () => Promise.reject(final) };
    expect(await result([sync, knows])).to.equal(401);
    expect(await result([later, knows])).to.equal(401);
    expect(await result([unsure, later, knows])).to.equal(401);
  });

  it('add the group once, and not to unauthenticated callers of a front proxy', async () => {
    const member = (groups: string[], name = 'x'): Authenticator => ({
      name: 'member',
      authenticate: () => ({ name, uid: '', groups, extra: {} }),
    });
    for (const [groups, name, expected] of [
      [[], 'x', ['system:authenticated']],
      [['system:authenticated'], 'x', ['system:authenticated']],
      [['system:unauthenticated'], 'x', ['system:unauthenticated']],
      [[], 'system:anonymous', []],
    ] as const) {
      expect(await result([member([...groups], name)])).to.have.deep.property('groups', expected);
    }
  });
});
