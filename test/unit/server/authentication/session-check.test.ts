// Tests of the session check for callers that kube-apiserver authenticates.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import { CREDENTIAL_ID, credentialID } from '../../../../apis/oauth/claim-mapping.ts';
import { CallerRejected } from '../../../../server/authentication/authenticator.ts';
import {
  sessionCheck,
  sessionCheckedAuthentication,
  sessionCheckedTokens,
  type TokenIDChecker,
} from '../../../../server/authentication/session-check.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import { rejection } from '../../../support/rejection.ts';

const context = {
  request: new IncomingMessage(new Socket()),
  secure: true,
  signal: new AbortController().signal,
};
const over = newUnauthorized(new Error('the session was terminated'));
const withToken = (...ids: string[]): UserInfo => ({
  name: 'bob',
  uid: 'u',
  groups: [],
  extra: { [CREDENTIAL_ID]: ids },
});
const failure = (check: () => unknown): Promise<Error> => rejection(Promise.try(check));

/** A checker that decides synchronously, and one that decides after a request to the cluster. */
const checkers: Readonly<Record<string, (checked: unknown[]) => TokenIDChecker>> = {
  'at once': (checked) => ({
    check: (jti, user) => {
      checked.push([jti, user]);
      if (jti === 'over') throw over;
    },
  }),
  later: (checked) => ({
    check: async (jti, user) => {
      checked.push([jti, user]);
      await Promise.resolve();
      if (jti === 'over') throw over;
    },
  }),
};

for (const [when, checker] of Object.entries(checkers)) {
  describe(`the session check of a forwarded identity, ${when}`, () => {
    let checked: unknown[];
    let tokens: TokenIDChecker;

    beforeEach(() => {
      checked = [];
      tokens = checker(checked);
    });

    it('accepts a valid session, and callers without one of our tokens', async () => {
      const check = sessionCheck(tokens);
      expect(await check(withToken(credentialID('lasts')), context)).to.equal(undefined);
      expect(checked).to.deep.equal([['lasts', { name: 'bob', uid: 'u' }]]);
      expect(await check(withToken('X509SHA256=abc'), context)).to.equal(undefined);
      expect(await check({ ...withToken(), extra: {} }, context)).to.equal(undefined);
      expect(checked).to.have.length(1);
      for (const nobody of [undefined, Promise.resolve(undefined)]) {
        const inner = { name: 'review', authenticate: () => nobody };
        expect(await sessionCheckedTokens(inner, tokens).authenticate({ text: 'token' }, context)).to.equal(
          undefined,
        );
      }
      expect(checked).to.have.length(1);
    });

    it('rejects a forwarded identity with an ended session before all other authenticators', async () => {
      const forwarded = (user: UserInfo | undefined) =>
        sessionCheckedAuthentication({ name: 'front-proxy', authenticate: () => user }, tokens);
      const refusal = await failure(() => forwarded(withToken(credentialID('over'))).authenticate(context));
      expect(refusal).to.be.instanceOf(CallerRejected).and.to.have.nested.property('cause.code', 401);
      for (const user of [withToken(credentialID('lasts')), withToken(), undefined]) {
        expect(await forwarded(user).authenticate(context)).to.equal(user);
      }
    });

    it('rejects an ended session, even with other tokens', async () => {
      const check = sessionCheck(tokens);
      for (const ids of [['over'], ['lasts', 'over'], ['over', 'lasts']]) {
        expect(await failure(() => check(withToken(...ids.map(credentialID)), context))).to.equal(over);
      }
    });

    it('rejects an ended session even if the cluster accepts the token', async () => {
      for (const found of [(user: UserInfo) => user, (user: UserInfo) => Promise.resolve(user)]) {
        const reviewed = (jti: string) => {
          const inner = { name: 'review', authenticate: () => found(withToken(credentialID(jti))) };
          return sessionCheckedTokens(inner, tokens).authenticate({ text: 'token' }, context);
        };
        expect(await failure(() => reviewed('over'))).to.equal(over);
        expect(await reviewed('lasts')).to.include({ name: 'bob' });
      }
    });
  });
}
