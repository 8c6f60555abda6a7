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

  const verbs: readonly (readonly [string, string, string])[] = [
    ['GET', nodes, 'list'],
    ['HEAD', nodes, 'list'],
    ['GET', `${nodes}/n1`, 'get'],
    ['HEAD', `${nodes}/n1`, 'get'],
    ['GET', `${nodes}?watch=true`, 'watch'],
    ['GET', `${nodes}?watch=1`, 'watch'],
    ['GET', `${nodes}?watch`, 'watch'],
    ['GET', `${nodes}?watch=`, 'watch'],
    ['GET', `${nodes}?watch=False`, 'list'],
    ['GET', `${nodes}?watch=0`, 'list'],
    ['GET', `${nodes}?watch=0&watch=1`, 'list'],
    ['GET', `${nodes}?%77atch=1`, 'watch'],
    ['GET', `${nodes}/n1?watch=1`, 'get'],
    ['POST', nodes, 'create'],
    ['PUT', `${nodes}/n1`, 'update'],
    ['PATCH', `${nodes}/n1`, 'patch'],
    ['DELETE', `${nodes}/n1`, 'delete'],
    ['DELETE', nodes, 'deletecollection'],
    ['OPTIONS', nodes, ''],
    ['get', nodes, ''],
  ];
  for (const [method, target, verb] of verbs) {
    it(`calls ${method} ${target.slice(nodes.length) || 'of the collection'} "${verb}"`, () => {
      expect(resource(method, target).verb).to.equal(verb);
    });
  }

  const paths: readonly (readonly [string, string, string, string, string])[] = [
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
  ];
  for (const [target, namespace, name, object, subresource] of paths) {
    it(`reads ${target} as kube-apiserver does`, () => {
      const info = resource('GET', target);
      expect([info.namespace, info.resource, info.name, info.subresource]).to.deep.equal([
        namespace,
        name,
        object,
        subresource,
      ]);
    });
  }

  for (const path of [
    nodes,
    `${nodes}/n1`,
    '/api/v1/namespaces',
    '/api/v1/namespaces/a',
    '/api/v1/namespaces/a/pods',
    '/kapis/iam.platform.io/v1beta1/users/ada/password',
  ]) {
    it(`reads a slash at the end of ${path} as kube-apiserver does: as nothing`, () => {
      expect(parseRequestInfo('GET', `${path}/`)).to.deep.equal({
        ...parseRequestInfo('GET', path),
        path: `${path}/`,
      });
    });
  }

  for (const path of [
    '/',
    '/livez',
    '/apis',
    '/apis/g',
    '/apis/g/v1',
    '/api/v1',
    '/apis/',
    '/apis/g/',
    '/apis/g/v1/',
    '/api/v1/',
    '/APIS/g/v1/nodes',
    '/apisx/g/v/r',
  ]) {
    it(`parses ${path} as a non-resource path`, () => {
      expect(parseRequestInfo('GET', path)).to.deep.equal({ isResourceRequest: false, path, verb: 'get' });
    });
  }

  const refused = [
    `${nodes}/%C2%9B31m`,
    `${nodes}//`,
    `//apis/g/v1/nodes`,
    '/apis//v1/nodes',
    '/apis//',
    '/apis/g//',
    '/apis/g/v1//',
    `${nodes}/x%2fstatus`,
    `${nodes}/x%2Fstatus`,
    `${nodes}/%`,
    `${nodes}/%zz`,
    `${nodes}/%ff`,
    `${nodes}/%00`,
    `${nodes}/a%0ab`,
    `${nodes}/.`,
    `${nodes}/..`,
    `${nodes}/%2e%2E`,
    '/openapi/v3/../../metrics',
    `${nodes}/x#y`,
    `${nodes}/x\\y`,
    `${nodes}/ä`,
    '/api/v1/watch/pods',
    '/apis/apps/v1/watch/deployments',
    '/api/v1/proxy/nodes/n1',
    'http://other/apis/g/v1/nodes',
    '*',
    '',
    `${nodes}?labelSelector=a;b`,
    `${nodes}?labelSelector=%zz`,
    `${nodes}?labelSelector=a%`,
    `${nodes}?labelSelector=%ff`,
    `${nodes}?labelSelector=a%C3`,
    `${nodes}?labelSelector=%ED%A0%80`,
  ];
  for (const target of refused) {
    it(`rejects ${JSON.stringify(target)} as ambiguous`, () => {
      expect(refusal(target), target).to.have.property('reason', 'BadRequest');
    });
  }

  for (const escape of ['%', '%zz', '%ff', '%C3%28', '%c0%af', '%ED%A0%80', '%F5%80%80%80']) {
    it(`names the parameter of a query with the malformed escape ${escape}`, () => {
      const error = refusal(`${nodes}?limit=%C3%9F+1&labelSelector=a%3D${escape}&x=%25`);
      if (!(error instanceof StatusError)) throw new Error('it was taken');
      expect(error.message).to.include('labelSelector: has a percent escape');
      expect(error.details?.causes?.map(({ field }) => field)).to.deep.equal(['labelSelector']);
    });
  }

  it('accepts every well-escaped query', () => {
    for (const text of ['ß', '\u{1f600}', '%', '\ufffd', '\0', 'a b+c&d=e;f']) {
      expect(refusal(`${nodes}?x=${encodeURIComponent(text)}`), text).to.equal(undefined);
    }
  });

  it('accepts a thousand parameters, and rejects more before parsing them', () => {
    expect(resource('GET', `${nodes}?${'a&'.repeat(999)}watch`).verb).to.equal('watch');
    const error = refusal(`${nodes}?${'a&'.repeat(1_000)}watch`);
    if (!(error instanceof StatusError)) throw new Error('it was taken');
    expect([error.code, error.message]).to.deep.equal([400, 'the query has more than 1000 parameters']);
  });

  const selected: readonly (readonly [string, string])[] = [
    ['metadata.name=x', 'x'],
    ['metadata.name==x', 'x'],
    ['spec.unschedulable=true,metadata.name=x', 'x'],
    ['metadata.name!=x', ''],
    ['metadata.name=a/b', ''],
    ['metadata.name=..', ''],
    ['spec.a=b\\,metadata.name=x', ''],
    ['metadata.name=x\\,y', ''],
    ['metadata.namespace=x', ''],
  ];
  for (const [selector, name] of selected) {
    it(`authorizes a list with the field selector ${selector} for ${name === '' ? 'all' : name}`, () => {
      const query = new URLSearchParams({ fieldSelector: selector }).toString();
      expect(resource('GET', `${nodes}?${query}`)).to.include({ verb: 'list', name });
      expect(resource('GET', `${nodes}?watch=1&${query}`)).to.include({ verb: 'watch', name });
    });
  }

  it('has the selectors of lists and watches', () => {
    const selectors = { labelSelector: 'app=a,b', fieldSelector: 'spec.unschedulable=true' };
    const query = new URLSearchParams(selectors).toString();
    for (const watch of ['', '&watch=1']) {
      expect(resource('GET', `${nodes}?${query}${watch}`)).to.include({ ...selectors, name: '' });
    }
    for (const other of [resource('GET', `${nodes}/a?${query}`), resource('POST', `${nodes}?${query}`)]) {
      expect(other).to.not.have.any.keys('labelSelector', 'fieldSelector');
    }
  });

  it('ignores selectors on the console paths', () => {
    const info = resource('GET', '/kapis/g/v1/nodes?fieldSelector=metadata.name%3Dx&labelSelector=a');
    expect(info.name).to.equal('');
    expect(info).to.not.have.any.keys('labelSelector', 'fieldSelector');
  });

  it('decodes a name once', () => {
    expect(resource('GET', `${nodes}/a%252fb`).name).to.equal('a%2fb');
    expect(resource('GET', `${nodes}/%C3%A4`).name).to.equal('ä');
  });

  it('rejects a target or agrees with the WHATWG URL parser', () => {
    const piece = fc.constantFrom(
      'a',
      'B',
      '.',
      '..',
      '%2f',
      '%2e',
      '%41',
      '/',
      '//',
      '?',
      ';',
      '#',
      '\\',
      '%',
      'ü',
    );
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

describe('the watch parameter', () => {
  it('is off only when absent, 0 or false', () => {
    const verb = (query: string) => parseRequestInfo('GET', `/api/v1/nodes${query}`).verb;
    for (const query of ['', '?x=1', '?watch=0', '?watch=false', '?watch=FALSE']) {
      expect(verb(query), query).to.equal('list');
    }
    for (const query of ['?watch', '?watch=', '?watch=1', '?watch=true', '?watch=no', '?watch=f']) {
      expect(verb(query), query).to.equal('watch');
    }
  });
});
