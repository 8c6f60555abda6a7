// Tests of the REST handlers for parity with kube-apiserver. Responses must be equal except for API group, list
// resourceVersion and column descriptions.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { CORE, OURS, type ServedNodes, type Spoken } from './served-nodes.ts';
import { sharedNodes } from './shared-nodes.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const JSON_FORM = 'application/json';

const SPACES = [' ', '\t', '\n', '\u00a0'];
const LABEL_PIECES = [
  ...['kubernetes.io/os', 'none', 'A/b', '-a', 'linux', '', '5', '99999999999999999999', 'é'],
  ...['=', '==', '!=', '!', '>', '<', ' in ', ' notin ', '(', ')', '(linux,x)', '()', ',', ',', ...SPACES],
];
const FIELD_PIECES = [
  ...['metadata.name', 'metadata.name', 'spec.unschedulable', 'x', 'node-00002', 'true', 'é', ...SPACES],
  ...['=', '=', '==', '!=', '!', ',', ',', '\\', '\\,', '\\=', '\\\\', '(', '"'],
];

/** Invalid selectors, and unusual valid ones. */
const LABEL_SELECTORS = [
  ...['a===b', 'a b', ',', '-a', 'a=-b', 'a/b/c', 'X/b', 'a in b', 'a in (b', 'a in ()', 'a>b', 'a>1'],
  ...['a in (,b,)', '!a=b', 'a in\u2003(b)', 'a\u00a0b\u0001', 'a=\u{1f600}\u2028', 'a in (b,'],
  ...['__proto__!=x', 'a=x,', 'a in (', 'a=b=c', 'a=b_', '/a', 'a'.repeat(64), `a=${'b'.repeat(64)}`],
];
const FIELD_SELECTORS = [
  ...['metadata.namespace=x', 'spec.podCIDR=x', 'x', 'metadata.name=a=b', 'metadata.name=a\\b', 'a!==b', ','],
  ...['metadata.name=a\\', 'metadata.name=a,metadata.name=b'],
];

const TOKEN = '{"v":"meta.k8s.io/v1"';
const CONTINUE_TOKENS = [
  ...['nonsense', '[7]', 'null', '"\u0001\\"', '{"v":7}', '{"v":true,"rv":1,"start":[]}', `${TOKEN},}`],
  ...[`${TOKEN},"rv":1,"sta`, `${TOKEN},"rv":1}`, `${TOKEN},"rv":"1","start":"a"}`],
  ...['0', '1.5', '1e3'].map((version) => `${TOKEN},"rv":${version},"start":"a"}`),
  ...['{"v":"meta.k8s.io/v2","rv":1,"start":"a"}', `${TOKEN},"rv":1,"start":"a/../../b\\u0000"}`],
];

function neutralTable(table: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const columns = table['columnDefinitions'];
  return {
    ...table,
    columnDefinitions: Array.isArray(columns)
      ? columns.map((column) => {
          const { description, ...rest } = record(column);
          return { ...rest, described: description !== '' };
        })
      : columns,
    rows: array(table['rows']).map((row) => {
      const { cells, ...rest } = record(row);
      // The ages of the two responses may differ by a second.
      return { ...rest, cells: array(cells).map((cell, index) => (index === 3 ? typeof cell : cell)) };
    }),
  };
}

function neutral({ status, contentType, body, text: spoken }: Spoken): unknown {
  const text = JSON.stringify(body)
    .replaceAll('resources.platform.io/v1alpha3', 'v1')
    .replaceAll('nodes.resources.platform.io', 'nodes')
    .replaceAll('"group":"resources.platform.io",', '');
  const value = record(JSON.parse(text));
  const metadata = record(value['metadata']);
  const isList = /List$|^Table$/.test(String(value['kind']));
  return {
    status,
    contentType,
    // kube-apiserver indents errors when another representation than the object was requested.
    ...(status < 400
      ? { end: spoken.slice(spoken.trimEnd().length), indented: spoken.startsWith('{\n  ') }
      : {}),
    body: {
      ...(value['kind'] === 'Table' ? neutralTable(value) : value),
      metadata: {
        ...metadata,
        ...(isList ? { resourceVersion: typeof metadata['resourceVersion'] } : {}),
        ...('continue' in metadata ? { continue: typeof metadata['continue'] } : {}),
      },
    },
  };
}

describe('parity with kube-apiserver', () => {
  let served: ServedNodes;

  before(async () => {
    served = await sharedNodes();
  });

  async function same(query: string, accept: string): Promise<void> {
    const headers = { Accept: accept };
    const theirs = await served.askCluster(CORE + query, headers);
    const ours = await served.askUs(OURS + query, headers);
    expect(neutral(ours)).to.deep.equal(neutral(theirs));
  }

  for (const accept of [JSON_FORM, TABLE, PARTIAL_LIST, TABLE.replace('v=v1;', 'v=v1beta1;')]) {
    for (const query of [
      '',
      '?limit=3',
      '?limit=-1',
      '?limit=3&resourceVersion=0&labelSelector=none',
      '?labelSelector=kubernetes.io%2Fos%3Dlinux',
      '?labelSelector=!kubernetes.io%2Fos',
      '?labelSelector=kubernetes.io%2Fhostname+in+(node-00001,node-00002)',
      '?fieldSelector=metadata.name%3Dnode-00002',
      '?fieldSelector=metadata.name!%3Dnode-00002',
      '?fieldSelector=spec.unschedulable%3Dtrue',
      '?fieldSelector=%3D',
      '?resourceVersion=1&resourceVersionMatch=NotOlderThan',
    ]) {
      it(`lists ${query} as ${accept}`, () => same(query, accept));
    }
  }

  for (const accept of [JSON_FORM, TABLE, PARTIAL]) {
    it(`gets a node as ${accept}`, () => same('/node-00003', accept));
    it(`gets a missing node as ${accept}`, () => same('/nothing', accept));
    it(`gets a missing node with an unusual name as ${accept}`, () => same('/a%22%5Cb%C2%A0', accept));
  }

  it('ignores a slash at the end of the path', async () => {
    await same('/?limit=1', JSON_FORM);
    await same('/node-00003/', JSON_FORM);
  });

  it('indents equally', async () => {
    await same('/node-00003?pretty=true', JSON_FORM);
    await same('?pretty=true&limit=2', TABLE);
    await same('?pretty=true', JSON_FORM);
  });

  for (const include of ['None', 'Metadata', 'Object']) {
    it(`includes ${include} in tables`, async () => {
      await same(`?includeObject=${include}&limit=2`, TABLE);
      await same(`/node-00001?includeObject=${include}`, TABLE);
    });
  }

  for (const query of [
    ...LABEL_SELECTORS.map((selector) => `?labelSelector=${encodeURIComponent(selector)}`),
    ...FIELD_SELECTORS.map((selector) => `?fieldSelector=${encodeURIComponent(selector)}`),
    ...['?limit=many', '?limit=%07', '?timeoutSeconds=soon', '?timeoutSeconds=-1', '?sendInitialEvents=true'],
    '?labelSelector=-a&fieldSelector=x&limit=many',
    ...['?resourceVersion=abc', '?resourceVersion=-1', '?resourceVersionMatch=Exact'],
    ...['?resourceVersion=0&resourceVersionMatch=Exact', '?resourceVersion=5&resourceVersionMatch=Odd'],
    ...['?watch=1&sendInitialEvents=true', '?watch=1&resourceVersionMatch=NotOlderThan'],
    '?watch=1&resourceVersion=5&resourceVersionMatch=Exact&sendInitialEvents=true',
    '?watch=1&fieldSelector=spec.podCIDR%3Dx',
    ...['?watch=1&continue=abc', '?watch=1&continue=abc&resourceVersion=0'],
  ]) {
    it(`responds equally to ${query}`, () => same(query, JSON_FORM));
  }

  for (const token of [
    ...CONTINUE_TOKENS.map((json) => Buffer.from(json).toString('base64url')),
    ...['e30', 'e3!0', 'e3001'],
  ]) {
    it(`rejects the continue token ${token} as kube-apiserver does, except for the message`, async () => {
      const responses = [
        await served.askCluster(`${CORE}?continue=${token}`, {}),
        await served.askUs(`${OURS}?continue=${token}`, {}),
      ];
      for (const { status, body } of responses) {
        expect({ status, reason: record(body)['reason'] }).to.deep.equal({
          status: 400,
          reason: 'BadRequest',
        });
        expect(record(body)['message']).to.match(/^invalid continue token: continue key is not valid/);
      }
    });
  }

  for (const [parameter, pieces] of [
    ['labelSelector', LABEL_PIECES],
    ['fieldSelector', FIELD_PIECES],
  ] as const) {
    it(`responds equally to any ${parameter}`, () =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 9 }), (chosen) =>
          same(`?limit=2&${parameter}=${encodeURIComponent(chosen.join(''))}`, PARTIAL_LIST),
        ),
        // A fixed seed: every run uses the same values, so a failure always has a cause in the code.
        { numRuns: 300, seed: 1 },
      ));
  }

  it('rejects an unknown includeObject equally', () => same('?includeObject=All', TABLE));

  for (const accept of [
    'application/xml',
    'Application/JSON',
    'application/json;as=Table;v=v2;g=meta.k8s.io, application/json',
    'application/json;q=0.5, application/json;as=Table;v=v1;g=meta.k8s.io',
    'text/html, */*;q=0.1',
    'application/json;as=Table;v=v2;g=meta.k8s.io, application/*',
    'application/json;as=Table;v=v1;g=meta.k8s.io;sv=v1',
    '*/*',
  ]) {
    it(`negotiates ${accept} equally`, async () => {
      const theirs = await served.askCluster(`${CORE}?limit=1`, { Accept: accept });
      const ours = await served.askUs(`${OURS}?limit=1`, { Accept: accept });
      expect(ours.status).to.equal(theirs.status);
      expect(record(ours.body)['kind']).to.equal(record(theirs.body)['kind']);
    });
  }

  it('has the same timeout and error for a future resourceVersion', async () => {
    const shape = ({ status, body }: Spoken): unknown => {
      const { message, details, reason } = record(body);
      return { status, reason, details, message: String(message).replaceAll(/\d+/g, 'N') };
    };
    const theirs = await served.askCluster(`${CORE}?resourceVersion=99999999`);
    const ours = await served.askUs(`${OURS}?resourceVersion=99999999`);
    expect(shape(ours)).to.deep.equal(shape(theirs));
  });
});
