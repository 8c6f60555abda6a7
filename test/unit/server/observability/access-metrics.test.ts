// Tests of the metrics of authentication and authorization.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { newServiceUnavailable, newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import { countedAuthentication } from '../../../../server/authentication/authenticator-chain.ts';
import { ANONYMOUS } from '../../../../server/authentication/user.ts';
import { countedAuthorization } from '../../../../server/authorization/counted-authorization.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { ClusterReviews } from '../../../../server/cluster/reviews.ts';
import { AccessMetrics } from '../../../../server/observability/access-metrics.ts';
import { createRegistry } from '../../../../server/observability/metrics.ts';

const scope = { signal: new AbortController().signal };

function fail(error: unknown): never {
  throw error;
}

describe('access metrics', () => {
  let metrics: AccessMetrics;
  let text: () => Promise<string>;

  beforeEach(() => {
    const registry = createRegistry();
    metrics = new AccessMetrics(registry);
    text = () => registry.metrics();
  });

  it('count authentications by result', async () => {
    for (const authenticate of [
      () => ANONYMOUS,
      () => Promise.resolve(ANONYMOUS),
      () => undefined,
      () => fail(newUnauthorized(new Error('no'))),
      () => Promise.reject(newUnauthorized(new Error('no'))),
      () => Promise.reject(newServiceUnavailable('no response')),
    ]) {
      const counted = countedAuthentication({ name: 'any', authenticate }, metrics);
      const request = { request: new IncomingMessage(new Socket()), secure: true, ...scope };
      await (async () => counted.authenticate(request))().catch(() => undefined);
    }
    for (const line of ['result="success"} 2', 'result="failure"} 3', 'result="error"} 1']) {
      expect(await text()).to.contain(`authentication_attempts{${line}`);
    }
  });

  it('count decisions by result, and leave them unchanged', async () => {
    const results: unknown[] = [];
    const silence = newServiceUnavailable('no response');
    const allowed = { allowed: true, reason: 'rbac' };
    const denied = { allowed: false, reason: '' };
    for (const authorize of [
      () => allowed,
      () => Promise.resolve(denied),
      () => Promise.reject(silence),
      () => fail(silence),
    ]) {
      const counted = countedAuthorization({ authorize }, metrics);
      const attributes = { user: ANONYMOUS, verb: 'get', path: '/metrics' };
      results.push(
        await (async () => counted.authorize(attributes, scope))().catch((error: unknown) => error),
      );
    }
    expect(results).to.deep.equal([allowed, denied, silence, silence]);
    for (const line of ['result="allowed"} 1', 'result="denied"} 1', 'result="error"} 2']) {
      expect(await text()).to.contain(`authorization_attempts_total{${line}`);
    }
  });

  it('count failed reviews by status code, and `<error>` without a response', async () => {
    const spec = { user: 'u', uid: '', groups: [], extra: {} };
    for (const error of [newServiceUnavailable('etcd is unavailable'), new Error('no connection')]) {
      const reviews = new ClusterReviews(
        clusterThat(() => Promise.reject(error)),
        metrics,
      );
      await reviews.reviewAccess(spec, scope.signal).catch(() => undefined);
    }
    const exposition = await text();
    expect(exposition).to.contain('apiserver_delegated_authz_request_total{code="503"} 1');
    expect(exposition).to.contain('apiserver_delegated_authz_request_total{code="<error>"} 1');
  });
});

function clusterThat(json: ClusterClient['json']): ClusterClient {
  return { open: () => Promise.reject(new Error('not used')), json };
}
