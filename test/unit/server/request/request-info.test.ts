// Tests of the parser of RequestInfo.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { parseRequestInfo } from '../../../../server/request/request-info.ts';

const nodes = '/apis/resources.platform.io/v1alpha3/nodes';

function resource(method: string, target: string) {
  const info = parseRequestInfo(method, target);
  if (!info.isResourceRequest) throw new Error(`${target} is no resource request`);
  return info;
}

function refusal(target: string): unknown {
  try {
    parseRequestInfo('GET', target);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('parseRequestInfo', () => {
  it('parses the path of a grouped resource', () => {
    expect(resource('GET', `${nodes}/a%252fb`).name, 'decoded once').to.equal('a%2fb');
    expect(resource('GET', `${nodes}/n1/status`)).to.deep.equal({
      isResourceRequest: true,
      path: `${nodes}/n1/status`,
      prefix: 'apis',
      group: 'resources.platform.io',
      version: 'v1alpha3',
      verb: 'get',
      namespace: '',
      resource: 'nodes',
      subresource: 'status',
      name: 'n1',
      parts: ['nodes', 'n1', 'status'],
    });
  });

  it('derives the verb from the method, the name and the parameter watch', () => {
    const methods: readonly (readonly [string, string, string])[] = [
      ['GET', '', 'list'],
      ['HEAD', '', 'list'],
      ['GET', '/n1', 'get'],
      ['HEAD', '/n1', 'get'],
      ['GET', '/n1?watch=1', 'get'],
      ['GET', '?%77atch=1', 'watch'],
      ['GET', '?watch=0&watch=1', 'list'],
      ['POST', '', 'create'],
      ['PUT', '/n1', 'update'],
      ['PATCH', '/n1', 'patch'],
      ['DELETE', '/n1', 'delete'],
      ['DELETE', '', 'deletecollection'],
      ['OPTIONS', '', ''],
      ['get', '', ''],
    ];
    for (const [method, target, verb] of methods) {
      expect(resource(method, `${nodes}${target}`).verb, `${method} ${target}`).to.equal(verb);
    }
    for (const query of ['', '?x=1', '?watch=0', '?watch=false', '?watch=False', '?watch=FALSE']) {
      expect(resource('GET', `${nodes}${query}`).verb, query).to.equal('list');
    }
    for (const query of ['?watch', '?watch=', '?watch=1', '?watch=true', '?watch=no', '?watch=f']) {
      expect(resource('GET', `${nodes}${query}`).verb, query).to.equal('watch');
    }
  });

  it('reads paths as kube-apiserver does', () => {
    for (const [target, ...expected] of [
      // target, namespace, resource, name, subresource
      ['/api/v1/pods', '', 'pods', '', ''],
      ['/api/v1/namespaces', '', 'namespaces', '', ''],
      ['/api/v1/namespaces/a', 'a', 'namespaces', 'a', ''],
      ['/api/v1/namespaces/a/status', 'a', 'namespaces', 'a', 'status'],
      ['/api/v1/namespaces/a/finalize', 'a', 'namespaces', 'a', 'finalize'],
      ['/api/v1/namespaces/a/pods', 'a', 'pods', '', ''],
      ['/api/v1/namespaces/a/pods/p', 'a', 'pods', 'p', ''],
      ['/api/v1/namespaces/a/pods/p/log', 'a', 'pods', 'p', 'log'],
      ['/apis/apps/v1/namespaces/a/deployments/d/scale', 'a', 'deployments', 'd', 'scale'],
      ['/kapis/resources.platform.io/v1alpha3/nodes/n%31', '', 'nodes', 'n1', ''],
      ['/kapis/tenant.platform.io/v1beta1/namespaces/a/pods', 'a', 'pods', '', ''],
    ] as const) {
      const info = resource('GET', target);
      expect([info.namespace, info.resource, info.name, info.subresource], target).to.deep.equal(expected);
      // A slash at the end means nothing.
      expect(resource('GET', `${target}/`), target).to.deep.equal({ ...info, path: `${info.path}/` });
    }
    const others = '/ /livez /apis /apis/g /apis/g/v1 /api/v1 /apis/ /api/v1/ /APIS/g/v1/nodes /apisx/g/v/r';
    for (const path of others.split(' ')) {
      expect(parseRequestInfo('GET', path)).to.deep.equal({ isResourceRequest: false, path, verb: 'get' });
    }
  });

  it('rejects ambiguous paths and queries', () => {
    const dots = ['.', '..', '%2e%2E'];
    const names = [...dots, 'x%2fstatus', 'x%2Fstatus', '%', '%zz', '%ff', '%00', 'a%0ab', '%C2%9B31m'];
    const queries = ['a;b', '%zz', 'a%', '%ff', 'a%C3', '%ED%A0%80'];
    for (const target of [
      ...['//apis/g/v1/nodes', '/apis//v1/nodes', '/apis//', '/apis/g//', '/apis/g/v1//', `${nodes}//`],
      ...['/openapi/v3/../../metrics', `${nodes}/x#y`, `${nodes}/x\\y`, `${nodes}/ä`],
      // Former paths of kube-apiserver, and targets of proxies.
      ...['/api/v1/watch/pods', '/apis/apps/v1/watch/deployments', '/api/v1/proxy/nodes/n1'],
      ...['http://other/apis/g/v1/nodes', '*', ''],
      ...names.map((name) => `${nodes}/${name}`),
      ...queries.map((value) => `${nodes}?labelSelector=${value}`),
    ]) {
      expect(refusal(target), target).to.have.property('reason', 'BadRequest');
    }
  });

  it('accepts every well-escaped query, and names the parameter with a malformed escape', () => {
    for (const text of ['ß', '\u{1f600}', '%', '\ufffd', '\0', 'a b+c&d=e;f']) {
      expect(refusal(`${nodes}?x=${encodeURIComponent(text)}`), text).to.equal(undefined);
    }
    for (const escape of ['%', '%zz', '%ff', '%C3%28', '%c0%af', '%ED%A0%80', '%F5%80%80%80']) {
      const error = refusal(`${nodes}?limit=%C3%9F+1&labelSelector=a%3D${escape}&x=%25`);
      if (!(error instanceof StatusError)) throw new Error('it was taken');
      expect(error.message).to.include('labelSelector: has a percent escape');
      expect(error.details?.causes?.map(({ field }) => field)).to.deep.equal(['labelSelector']);
    }
  });

  it('accepts a thousand parameters, and rejects more before parsing them', () => {
    expect(resource('GET', `${nodes}?${'a&'.repeat(999)}watch`).verb).to.equal('watch');
    const error = refusal(`${nodes}?${'a&'.repeat(1_000)}watch`);
    if (!(error instanceof StatusError)) throw new Error('it was taken');
    expect([error.code, error.message]).to.deep.equal([400, 'the query has more than 1000 parameters']);
  });

  it('authorizes a list with a field selector for the name of one object', () => {
    for (const [selector, name] of [
      ['metadata.name=x', 'x'],
      ['metadata.name==x', 'x'],
      ['spec.unschedulable=true,metadata.name=x', 'x'],
      ['metadata.name!=x', ''],
      ['metadata.name=a/b', ''],
      ['metadata.name=..', ''],
      ['spec.a=b\\,metadata.name=x', ''],
      ['metadata.name=x\\,y', ''],
      ['metadata.namespace=x', ''],
    ] as const) {
      const query = new URLSearchParams({ fieldSelector: selector }).toString();
      expect(resource('GET', `${nodes}?${query}`), selector).to.include({ verb: 'list', name });
      expect(resource('GET', `${nodes}?watch=1&${query}`), selector).to.include({ verb: 'watch', name });
    }
  });

  it('authorizes a list with an undecodable parameter for all objects', () => {
    for (const query of ['limit=x', 'timeoutSeconds=1.5', 'labelSelector=a===b']) {
      const info = resource('GET', `${nodes}?fieldSelector=metadata.name%3Dx&${query}`);
      expect(info, query).to.include({ fieldSelector: 'metadata.name=x', name: '' });
    }
  });

  it('has the selectors of lists and watches, except on the console paths', () => {
    const selectors = { labelSelector: 'app=a,b', fieldSelector: 'spec.unschedulable=true' };
    const query = new URLSearchParams(selectors).toString();
    for (const watch of ['', '&watch=1']) {
      expect(resource('GET', `${nodes}?${query}${watch}`)).to.include({ ...selectors, name: '' });
    }
    for (const other of [resource('GET', `${nodes}/a?${query}`), resource('POST', `${nodes}?${query}`)]) {
      expect(other).to.not.have.any.keys('labelSelector', 'fieldSelector');
    }
    const info = resource('GET', '/kapis/g/v1/nodes?fieldSelector=metadata.name%3Dx&labelSelector=a');
    expect(info.name).to.equal('');
    expect(info).to.not.have.any.keys('labelSelector', 'fieldSelector');
  });

  it('rejects a target or agrees with the WHATWG URL parser', () => {
    const pieces = ['a', 'B', '.', '..', '%2f', '%2e', '%41', '/', '//', '?', ';', '#', '\\', '%', 'ü'];
    const piece = fc.constantFrom(...pieces);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const target = `/${pieces.join('')}`;
        let path: string;
        try {
          path = parseRequestInfo('GET', target).path;
        } catch (error) {
          return error instanceof StatusError && error.reason === 'BadRequest';
        }
        const { pathname } = new URL(`https://host${target}`);
        return path === pathname.split('/').map(decodeURIComponent).join('/');
      }),
      { numRuns: 2000 },
    );
  });
});
