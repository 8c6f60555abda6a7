// Tests of the attributes of forwarded requests: those of kube-apiserver, and a rejection of targets that have no certain ones.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { proxiedRequests } from '../../../../server/gateway/proxied-request.ts';
import type { ProxiedRequest } from '../../../../server/request/gateway-route.ts';

const select = proxiedRequests(['resources.platform.io'], 'pages.example');

function selected(target: string, protocol?: string): ProxiedRequest | undefined {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: target });
  request.headers = { host: 'gateway' };
  const upgrade = protocol === undefined ? undefined : { head: Buffer.alloc(0), accept: () => new Socket() };
  return select({ request, upgrade });
}

const SERVICE = '/api/v1/namespaces/shop/services/web/proxy';
const POD = '/api/v1/namespaces/shop/pods/cart';

describe('the target of a forwarded request', () => {
  for (const target of [
    '/api/v1/pods?x;y',
    '/api/v1/pods?watch=1;x',
    '/api/v1/pods?watch=%zz',
    '/api/v1/pods?labelSelector=%ff',
    `/api/v1/pods?${'a&'.repeat(1000)}`,
    '/api/v1/namespaces%2Fdefault%2Fpods',
    '/api/v1/namespaces/default%2fpods',
    '/api/v1//pods',
    '/api/v1/pods//',
    '/api/v1/../v1/pods',
    '/api/v1/%2e%2e/v1/pods',
    '/api/v1/pods/%00',
    '/api/v1/pods/%ff',
    '/api/v1/pods/%z',
    '/api/v1/pods/a#b',
    '/api/v1/pods\\a',
    '/api/v1/pods/\u00fc',
    '/apis/apps%2Fv1/deployments',
    '/apis//apps/v1/deployments',
    '/openapi/v3/a//b',
    '/version?a;b',
    `${SERVICE.replace('shop', 'a%2Fb')}/page`,
    `${SERVICE.replace('services', 'services%2Fx')}/page`,
    '/api/v1/namespaces/shop/services/a/b%2Fproxy/x',
    '/api/v1/proxy/namespaces/shop/services/web',
    '/api/v1/w%61tch/pods',
    '/api/v1/watch/watch/pods',
    '/api/v1/watch//pods',
    '/api/v1/watch/pods?a;b',
  ]) {
    it(`is rejected if it is ambiguous: ${target.slice(0, 60)}`, () => {
      expect(() => selected(target))
        .to.throw(StatusError)
        .with.property('code', 400);
    });
  }

  for (const [target, expected] of [
    [POD, { verb: 'get', resource: 'pods', namespace: 'shop', name: 'cart', subresource: '' }],
    ['/api/v1/watch/pods', { verb: 'watch', resource: 'pods', namespace: '', name: '' }],
    [
      '/api/v1/watch/namespaces/shop/pods/cart?timeoutSeconds=1',
      { verb: 'watch', resource: 'pods', namespace: 'shop', name: 'cart' },
    ],
    [
      '/apis/apps/v1/watch/deployments?fieldSelector=metadata.name%3Da&labelSelector=b',
      {
        verb: 'watch',
        group: 'apps',
        resource: 'deployments',
        name: '',
        path: '/apis/apps/v1/watch/deployments',
      },
    ],
    [
      `${SERVICE}//a%2Fb/../c?d;e&%zz`,
      { verb: 'get', resource: 'services', name: 'web', subresource: 'proxy' },
    ],
    [
      '/apis/cluster.example.io/v1/clusters/a/proxy/api/v1//pods?x;y',
      { group: 'cluster.example.io', resource: 'clusters', name: 'a', subresource: 'proxy' },
    ],
    ['/api/v1/namespaces/a/status/b/proxy', { resource: 'namespaces', name: 'a', subresource: 'status' }],
  ] as const) {
    it(`has the attributes of kube-apiserver: ${target}`, () => {
      expect(selected(target)?.info).to.include({ isResourceRequest: true, ...expected });
      expect(selected(target)?.info).to.not.have.any.keys('labelSelector', 'fieldSelector');
    });
  }

  for (const [target, upgrade, expected] of [
    ['/api/v1/pods', undefined, false],
    ['/api/v1/pods?watch=0', undefined, false],
    ['/api/v1/pods?watch=0&watch=1', undefined, false],
    ['/api/v1/pods?watch=1', undefined, true],
    ['/api/v1/watch/pods', undefined, true],
    [`${POD}/log`, undefined, true],
    [`${POD}/exec`, undefined, true],
    [`${SERVICE}/x;y`, undefined, true],
    [`${POD}/status`, undefined, false],
    ['/version', undefined, false],
    // An upgrade that no server accepts is an ordinary request, however expensive its response is.
    ['/api/v1/pods', 'websocket', false],
    [POD, 'SPDY/3.1', false],
    ['/apis', 'websocket', false],
    ['/version', 'websocket', false],
    ['/api/v1/pods?watch=1', 'websocket', true],
    [`${POD}/exec`, 'SPDY/3.1', true],
    ['/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/b/vnc', 'websocket', true],
  ] as const) {
    it(`${expected ? 'is' : 'is not'} that of a stream: ${target}${upgrade ? `, upgrade to ${upgrade}` : ''}`, () => {
      expect(selected(target, upgrade)?.longRunning).to.equal(expected);
    });
  }
});
