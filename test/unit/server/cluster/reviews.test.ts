// Tests of the client for TokenReviews and SubjectAccessReviews.
import { expect } from 'chai';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { type AccessReviewSpec, ClusterReviews } from '../../../../server/cluster/reviews.ts';
import { rejection } from '../../../support/rejection.ts';

const never = new AbortController().signal;
const SPEC: AccessReviewSpec = { user: 'alice', uid: '', groups: [], extra: {} };

describe('ClusterReviews', () => {
  const seen: string[] = [];

  function reviews(answer: (signal: AbortSignal) => unknown): ClusterReviews {
    seen.length = 0;
    const client = {
      open: () => Promise.reject(new Error('not expected')),
      json: async ({ signal }: { readonly signal: AbortSignal }) => {
        await Promise.resolve();
        return answer(signal);
      },
    };
    return new ClusterReviews(client, { reviewed: (kind, code) => seen.push(`${kind} ${code}`) });
  }

  it('allows nothing without an explicit decision', async () => {
    for (const [status, allowed] of [
      [{ allowed: true }, true],
      [{ allowed: false }, false],
      [{ allowed: true, denied: true }, false],
    ] as const) {
      expect(await reviews(() => ({ status })).reviewAccess(SPEC, never)).to.have.property(
        'allowed',
        allowed,
      );
    }
    for (const answer of [{}, { status: {} }, { status: { allowed: 'true' } }, 'yes', undefined]) {
      expect(await rejection(reviews(() => answer).reviewAccess(SPEC, never))).to.have.property('code', 503);
    }
    expect(seen).to.deep.equal(['SubjectAccessReview 201']);
  });

  it('returns no user for a token that the cluster does not authenticate', async () => {
    const user = { username: 'alice', groups: ['a', 1], extra: { k: ['v'], odd: 'x' } };
    const ask = (status: object) => reviews(() => ({ status })).reviewToken('t', never);
    expect((await ask({ authenticated: true, user })).user).to.deep.equal({
      name: 'alice',
      uid: '',
      groups: ['a'],
      extra: { k: ['v'], odd: [] },
    });
    expect((await ask({ user })).user).to.equal(undefined);
    expect((await ask({ authenticated: 'true', user })).user).to.equal(undefined);
    expect(await rejection(ask({ authenticated: true, user: { username: '' } }))).to.have.property(
      'code',
      503,
    );
  });

  it('throws ServiceUnavailable, not Forbidden, when the server is not allowed to create reviews', async () => {
    const forbidden = (): never => {
      throw new StatusError(403, 'Forbidden', 'not you');
    };
    expect(await rejection(reviews(forbidden).reviewAccess(SPEC, never))).to.have.property('code', 503);
    expect(seen).to.deep.equal(['SubjectAccessReview 403']);
    const broken = (): never => {
      throw new Error('cut');
    };
    expect(await rejection(reviews(broken).reviewToken('t', never))).to.have.property('code', 503);
    expect(seen).to.deep.equal(['TokenReview <error>']);
  });

  it("ends with the reason of the caller's signal and is not counted then", async () => {
    const end = new AbortController();
    const aborting = reviews((signal) => {
      end.abort(new Error('enough'));
      signal.throwIfAborted();
    });
    expect(await rejection(aborting.reviewAccess(SPEC, end.signal))).to.have.property('message', 'enough');
    expect(seen).to.deep.equal([]);
  });
});
