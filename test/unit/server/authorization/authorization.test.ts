// Tests of the authorizers, and of the message for forbidden requests.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { newForbidden, newServiceUnavailable, StatusError } from '../../../../apis/meta/v1/errors.ts';
import type { Seats } from '../../../../server/admission/seats.ts';
import { ANONYMOUS, type UserInfo } from '../../../../server/authentication/user.ts';
import { AccessReviewAuthorizer } from '../../../../server/authorization/access-review.ts';
import type {
  Attributes,
  Decision,
  ResourceAttributes,
} from '../../../../server/authorization/authorizer.ts';
import { delegatingAuthorizer } from '../../../../server/authorization/delegating-authorizer.ts';
import { forbiddenMessage } from '../../../../server/authorization/forbidden-message.ts';
import { isPublicPath } from '../../../../server/authorization/public-paths.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { ClusterReviews } from '../../../../server/cluster/reviews.ts';
import { rejection } from '../../../support/rejection.ts';
import { fewSeats } from '../../../support/request-pools.ts';

const bob: UserInfo = { name: 'bob', uid: 'u', groups: ['dev'], extra: { k: ['v'] } };
const listNodes: ResourceAttributes = {
  user: bob,
  verb: 'list',
  group: 'resources.platform.io',
  version: 'v1alpha3',
  resource: 'nodes',
  subresource: '',
  namespace: '',
  name: '',
};
const scope = { signal: new AbortController().signal };

type Cluster = ReturnType<typeof fakeCluster>;

function fakeCluster(status: unknown) {
  const requests: unknown[] = [];
  const cluster = { requests, answer: (): Promise<unknown> => Promise.resolve({ status }) };
  const client: ClusterClient = {
    open: () => Promise.reject(new Error('not used')),
    json: ({ json }) => {
      requests.push(json);
      return cluster.answer();
    },
  };
  return Object.assign(cluster, { client });
}

describe('AccessReviewAuthorizer', () => {
  let time = 0;

  function authorizer(
    cluster: Cluster,
    options: { cacheSize?: number; seats?: Seats } = {},
  ): AccessReviewAuthorizer {
    return new AccessReviewAuthorizer({
      reviews: new ClusterReviews(cluster.client),
      allowTtlMs: 10_000,
      denyTtlMs: 4000,
      seats: fewSeats(100),
      signal: scope.signal,
      monotonic: () => time,
      ...options,
    });
  }

  beforeEach(() => {
    time = 0;
  });

  it('sends all attributes of the caller', async () => {
    const cluster = fakeCluster({ allowed: true, reason: 'rbac' });
    const patch = { ...listNodes, verb: 'patch', name: 'n', subresource: 'status' };
    const decision = await authorizer(cluster).authorize(patch, scope);
    expect(decision).to.deep.equal({ allowed: true, reason: 'rbac' });
    await authorizer(cluster).authorize({ user: bob, verb: 'get', path: '/metrics' }, scope);
    const who = { user: 'bob', uid: 'u', groups: ['dev'], extra: { k: ['v'] } };
    expect(cluster.requests.map((review) => (review as { spec: unknown }).spec)).to.deep.equal([
      {
        ...who,
        resourceAttributes: {
          verb: 'patch',
          group: 'resources.platform.io',
          version: 'v1alpha3',
          resource: 'nodes',
          subresource: 'status',
          namespace: '',
          name: 'n',
        },
      },
      { ...who, nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    ]);
  });

  for (const allowed of [true, false]) {
    const kept = allowed ? 10_000 : 4000;
    it(`caches ${allowed ? 'allowed' : 'denied'} decisions for their TTL`, async () => {
      const cluster = fakeCluster({ allowed });
      const subject = authorizer(cluster);
      await Promise.all([subject.authorize(listNodes, scope), subject.authorize(listNodes, scope)]);
      time = kept - 1;
      expect(subject.authorize({ ...listNodes, user: { ...bob } }, scope)).to.include({ allowed });
      expect(cluster.requests).to.have.length(1);
      time = kept;
      await subject.authorize(listNodes, scope);
      expect(cluster.requests).to.have.length(2);
    });
  }

  const failures: Record<string, () => Promise<unknown>> = {
    'is not reached': () => Promise.reject(newServiceUnavailable('no connection')),
    'forbids reviews': () => Promise.reject(newForbidden(undefined, '', 'no')),
    'returns another kind': () => Promise.resolve({ kind: 'Banana' }),
    'returns nothing': () => Promise.resolve(undefined),
    'returns no decision': () => Promise.resolve({ status: { allowed: 'true' } }),
  };
  for (const [what, answer] of Object.entries(failures)) {
    it(`fails closed with 503, uncached, when the cluster ${what}`, async () => {
      const cluster = fakeCluster({ allowed: true });
      const subject = authorizer(cluster);
      const allow = cluster.answer;
      cluster.answer = answer;
      const failed = await rejection(Promise.resolve(subject.authorize(listNodes, scope)));
      expect(failed).to.include({ code: 503 });
      expect(failed).to.have.nested.property('details.retryAfterSeconds', 1);
      cluster.answer = allow;
      expect(await subject.authorize(listNodes, scope)).to.include({ allowed: true });
    });
  }

  it('denies a decision that both allows and denies', async () => {
    const both = authorizer(fakeCluster({ allowed: true, denied: true }));
    expect(await both.authorize(listNodes, scope)).to.include({ allowed: false });
  });

  it('never confuses different attributes', async () => {
    // Keys of long attributes are hashed.
    const LONG = 'c'.repeat(1024);
    const text = fc.constantFrom('', 'a', 'a,b', '"', '","', '[]', '\u0000', 'a"]["b', LONG, `${LONG}x`);
    const user = fc.record({
      name: text,
      uid: text,
      groups: fc.array(text, { maxLength: 2 }),
      extra: fc.dictionary(text, fc.array(text, { maxLength: 2 }), { maxKeys: 2 }),
    });
    const resource = {
      user,
      verb: text,
      group: text,
      version: text,
      resource: text,
      subresource: text,
      namespace: text,
      name: text,
    };
    const selector = text.filter((each) => each !== '');
    const selectors = { verb: fc.constant('other'), labelSelector: selector, fieldSelector: selector };
    const attributes = fc.oneof(
      fc.record({ user, verb: text, path: text }),
      fc.record(resource),
      fc.record({ ...resource, ...selectors }),
    );
    await fc.assert(
      fc.asyncProperty(attributes, attributes, async (one: Attributes, other: Attributes) => {
        const cluster = fakeCluster({ allowed: true });
        const subject = authorizer(cluster);
        await subject.authorize(one, scope);
        await subject.authorize(other, scope);
        expect(cluster.requests).to.have.length(JSON.stringify(one) === JSON.stringify(other) ? 1 : 2);
      }),
      { numRuns: 500 },
    );
  });

  it('reviews writes per object, also if the caller may write all of them', async () => {
    const cluster = fakeCluster({ allowed: true });
    const subject = authorizer(cluster);
    await subject.authorize(listNodes, scope);
    for (const name of ['', 'a', 'b']) await subject.authorize({ ...listNodes, verb: 'delete', name }, scope);
    expect(cluster.requests).to.have.length(4);
  });

  it('needs one review for all objects and selectors if the caller may read all of them', async () => {
    const cluster = fakeCluster({ allowed: true });
    const subject = authorizer(cluster);
    for (const [at, verb] of ['get', 'list', 'watch'].entries()) {
      for (const name of ['a', 'b', 'c']) {
        expect(await subject.authorize({ ...listNodes, verb, name }, scope)).to.include({ allowed: true });
      }
      expect(cluster.requests, verb).to.have.length(at + 1);
      expect(cluster.requests[at]).to.have.nested.property('spec.resourceAttributes.name', '');
    }
    for (const labelSelector of ['a', 'b', 'c']) {
      expect(await subject.authorize({ ...listNodes, labelSelector }, scope)).to.include({ allowed: true });
    }
    expect(cluster.requests).to.have.length(3);
  });

  it('reviews each object if the caller is not allowed to read all of them', async () => {
    const cluster = fakeCluster({ allowed: false });
    cluster.answer = () => {
      const allowed = JSON.stringify(cluster.requests.at(-1)).includes('"name":"mine"');
      return Promise.resolve({ status: { allowed } });
    };
    const subject = authorizer(cluster);
    const get = (name: string): Promise<Decision> | Decision =>
      subject.authorize({ ...listNodes, verb: 'get', name }, scope);
    expect(await get('mine')).to.include({ allowed: true });
    expect(await get('other')).to.include({ allowed: false });
    expect(await subject.authorize(listNodes, scope)).to.include({ allowed: false });
    expect(await get('mine')).to.include({ allowed: true });
  });

  it('reviews the selectors of a list if the caller is not allowed to list all objects', async () => {
    const cluster = fakeCluster({ allowed: false });
    cluster.answer = () => {
      const allowed = JSON.stringify(cluster.requests.at(-1)).includes('"rawSelector":"app=mine"');
      return Promise.resolve({ status: { allowed } });
    };
    const subject = authorizer(cluster);
    const list = (selectors: Partial<ResourceAttributes>, verb = 'list'): Promise<Decision> | Decision =>
      subject.authorize({ ...listNodes, verb, ...selectors }, scope);
    for (const verb of ['list', 'watch']) {
      expect(await list({ labelSelector: 'app=mine' }, verb)).to.include({ allowed: true });
      expect(cluster.requests.at(-1)).to.have.nested.property('spec.resourceAttributes.labelSelector');
      expect(await list({ labelSelector: 'app=other' }, verb)).to.include({ allowed: false });
      expect(await list({ fieldSelector: 'app=mine' }, verb)).to.include({ allowed: true });
      expect(cluster.requests.at(-1)).to.have.nested.property('spec.resourceAttributes.fieldSelector');
      expect(await list({}, verb)).to.include({ allowed: false });
    }
    const reviews = cluster.requests.length;
    expect(await list({ labelSelector: 'app=mine' })).to.include({ allowed: true });
    expect(cluster.requests).to.have.length(reviews);
  });

  it('evicts the oldest decisions above the limit', async () => {
    const cluster = fakeCluster({ allowed: true });
    const subject = authorizer(cluster, { cacheSize: 2 });
    const ask = (namespace: string): Promise<Decision> | Decision =>
      subject.authorize({ ...listNodes, namespace }, scope);
    await ask('a');
    await ask('b');
    await ask('c');
    expect(cluster.requests).to.have.length(3);
    expect(ask('b')).not.to.be.a('promise');
    expect(ask('c')).not.to.be.a('promise');
    expect(ask('a')).to.be.a('promise');
  });

  it('does not cache oversized attributes', async () => {
    const cluster = fakeCluster({ allowed: true });
    const subject = authorizer(cluster);
    const attributes = { user: bob, verb: 'get', path: `/${'x'.repeat(20_000)}` };
    await subject.authorize(attributes, scope);
    await subject.authorize(attributes, scope);
    expect(cluster.requests).to.have.length(2);
  });

  it('limits pending reviews in total and per caller, oversized ones included', async () => {
    const cluster = fakeCluster({ allowed: true });
    const given = Promise.withResolvers<unknown>();
    cluster.answer = () => given.promise;
    const subject = authorizer(cluster, { seats: fewSeats(4, 'reserve') });
    const ask = (user: UserInfo, path: string) =>
      Promise.resolve()
        .then(() => subject.authorize({ user, verb: 'get', path }, scope))
        .catch((error: unknown) => error);
    const requested = Array.from({ length: 10 }, (_, i) => ask(ANONYMOUS, `/${i}${'x'.repeat(20_000)}`));
    const other = ask(bob, '/metrics');
    await Promise.resolve();
    given.resolve({ status: { allowed: true } });
    const answers = await Promise.all(requested);
    expect(cluster.requests).to.have.length(3);
    const refused = answers.filter((answer) => answer instanceof StatusError && answer.code === 429);
    expect(refused).to.have.length(8);
    expect(await other).to.include({ allowed: true });
  });

  it('counts the ServiceAccounts of a namespace as one caller', async () => {
    const cluster = fakeCluster({ allowed: true });
    const subject = authorizer(cluster, { seats: fewSeats(4, 'reserve') });
    const requested = Array.from({ length: 4 }, (_, i) =>
      Promise.resolve()
        .then(() => subject.authorize({ ...listNodes, user: accountOf('evil', `n-${i}`) }, scope))
        .catch((error: unknown) => error),
    );
    const other = subject.authorize({ ...listNodes, user: accountOf('shop', 'cart') }, scope);
    const refused = (await Promise.all(requested)).filter((answer) => answer instanceof StatusError);
    expect(refused).to.have.length(2);
    expect(await other).to.include({ allowed: true });
  });
});

function accountOf(namespace: string, name: string): UserInfo {
  return { ...bob, name: `system:serviceaccount:${namespace}:${name}` };
}

describe('delegatingAuthorizer', () => {
  const requested: Attributes[] = [];
  const subject = delegatingAuthorizer(
    {
      authorize: (attributes) => {
        requested.push(attributes);
        return { allowed: false, reason: '' };
      },
    },
    (path) => path === '/oauth/token',
  );

  beforeEach(() => requested.splice(0));

  it('allows system:masters, and no similar group, everything without a review', async () => {
    const user = { ...bob, groups: ['system:masters'] };
    expect(await subject.authorize({ ...listNodes, user }, scope)).to.include({ allowed: true });
    expect(requested).to.have.length(0);
    const other = { ...bob, groups: ['a,system:masters', 'system:masters ', 'SYSTEM:MASTERS'] };
    expect(await subject.authorize({ ...listNodes, user: other }, scope)).to.include({ allowed: false });
  });

  it('allows reads of public paths, and every method of sign-in paths', async () => {
    const decide = async (verb: string, path: string): Promise<boolean> =>
      (await subject.authorize({ user: bob, verb, path }, scope)).allowed;
    expect(await decide('get', '/livez')).to.equal(true);
    expect(await decide('head', '/apis')).to.equal(true);
    expect(await decide('options', '/version')).to.equal(true);
    expect(await decide('post', '/livez')).to.equal(false);
    expect(requested).to.have.length(1);
    expect(await decide('post', '/oauth/token')).to.equal(true);
    expect(await decide('get', '/metrics')).to.equal(false);
    expect(await subject.authorize({ ...listNodes, resource: 'livez' }, scope)).to.include({
      allowed: false,
    });
    expect(requested).to.have.length(3);
  });
});

describe('isPublicPath', () => {
  it('includes health, version and discovery, and nothing else', () => {
    const health = ['/livez', '/livez/ping', '/readyz', '/healthz', '/version', '/kapis/version'];
    const discovery = ['/apis', '/apis/g', '/apis/g/v1', '/apis/', '/apis/g/', '/apis/g/v1/'];
    const openAPI = ['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/g/v1'];
    for (const path of [...health, ...discovery, ...openAPI]) expect(isPublicPath(path), path).to.equal(true);
    const similar = ['/', '/metrics', '/livezz', '/livez/', '/Livez', '/x/livez', '\n/livez', '/livez\n'];
    const resources = ['/api', '/apis//', '/apis/g/v1//', '/apis/g/v1/nodes', '/apis/g/v1/nodes/'];
    const others = [
      '/version/x',
      '/version/',
      '/kapis/version/',
      '/kapis/version/x',
      '/kapis',
      '/openapi',
      '/openapi/v2/x',
      '/debug/pprof',
    ];
    for (const path of [...similar, ...resources, ...others])
      expect(isPublicPath(path), path).to.equal(false);
  });
});

describe('forbiddenMessage', () => {
  it("equals kube-apiserver's message", () => {
    const status = { ...listNodes, group: '', subresource: 'status', namespace: 'a' };
    expect(forbiddenMessage(status, 'no role')).to.equal(
      'User "bob" cannot list resource "nodes/status" in API group "" in the namespace "a": no role',
    );
    const odd = { ...bob, name: '<b\u0001ö\u00ad&"' };
    expect(forbiddenMessage({ user: odd, verb: 'get', path: '/metrics' }, '')).to.equal(
      'User "&lt;b\\x01ö\\u00ad&amp;\\"" cannot get path "/metrics"',
    );
  });
});
