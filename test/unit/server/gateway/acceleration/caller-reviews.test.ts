// Tests of the reviews of callers, with a scripted kube-apiserver.
import { expect } from 'chai';
import { newUnauthorized } from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import { CallerReviews } from '../../../../../server/gateway/acceleration/caller-reviews.ts';
import { parseRequestInfo, type ResourceRequest } from '../../../../../server/request/request-info.ts';
import { rejection } from '../../../../support/rejection.ts';
import { fewSeats } from '../../../../support/request-pools.ts';

const context = { signal: new AbortController().signal };

function read(target: string): ResourceRequest {
  const info = parseRequestInfo('GET', target);
  if (!info.isResourceRequest) throw new Error('no resource');
  return info;
}

describe('CallerReviews', () => {
  const sent: (ClusterRequest & { readonly json?: unknown })[] = [];
  let status: object;
  let reviews: CallerReviews;

  beforeEach(() => {
    sent.length = 0;
    status = { allowed: true };
    const json = async (request: ClusterRequest): Promise<unknown> => {
      sent.push(request);
      await Promise.resolve();
      if (status instanceof Error) throw status;
      return { status };
    };
    reviews = new CallerReviews({
      client: { json },
      allowTtlMs: 60_000,
      seats: fewSeats(100),
      denyTtlMs: 60_000,
      ...context,
    });
  });

  it('sends the token and the attributes of the request', async () => {
    const target = '/api/v1/namespaces/a/pods?watch=1&labelSelector=x%3Dy&fieldSelector=metadata.name%3Dp';
    expect(await reviews.allows('Bearer one', read(target), context)).to.equal(true);
    expect(sent[0]).to.deep.include({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      headers: { authorization: 'Bearer one' },
      timeoutMs: 1_000,
    });
    expect(sent[0]?.json).to.deep.include({
      spec: {
        resourceAttributes: {
          verb: 'watch',
          group: '',
          version: 'v1',
          resource: 'pods',
          namespace: 'a',
          name: 'p',
          labelSelector: { rawSelector: 'x=y' },
          fieldSelector: { rawSelector: 'metadata.name=p' },
        },
      },
    });
  });

  it('shares a decision only between requests with the same token and attributes', async () => {
    const list = '/api/v1/namespaces/a/pods';
    const others = [
      '/api/v1/pods',
      '/api/v1/namespaces/b/pods',
      `${list}?watch=1`,
      `${list}/p`,
      `${list}?labelSelector=x`,
      `${list}?fieldSelector=x%3Dy`,
      '/api/v2/namespaces/a/pods',
      '/apis/a/v1/namespaces/a/pods',
    ];
    await Promise.all([1, 2].map(async () => reviews.allows('Bearer one', read(list), context)));
    await reviews.allows('Bearer one', read(list), context);
    expect(sent).to.have.length(1);
    status = { allowed: false };
    for (const other of others) {
      expect(await reviews.allows('Bearer one', read(other), context), other).to.equal(false);
    }
    for (const token of ['Bearer two', 'bearer one', 'Bearer one ', '']) {
      expect(await reviews.allows(token, read(list), context), token).to.equal(false);
    }
  });

  it('denies an ambiguous decision', async () => {
    for (status of [{ allowed: true, denied: true }, { allowed: 'true' }, {}]) {
      const { length } = sent;
      expect(await reviews.allows(`Bearer ${length}`, read('/api/v1/pods'), context)).to.equal(false);
    }
  });

  it('throws without a decision, and reviews the next request again', async () => {
    status = newUnauthorized();
    const error = await rejection(
      (async () => reviews.allows('Bearer one', read('/api/v1/pods'), context))(),
    );
    expect(error).to.include({ code: 401 });
    status = { allowed: true };
    expect(await reviews.allows('Bearer one', read('/api/v1/pods'), context)).to.equal(true);
  });
});
