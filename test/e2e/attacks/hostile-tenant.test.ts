// Attack tests: a tenant with permission to create CustomResourceDefinitions writes columns and objects that cost work.
// Meanwhile other callers are served, and the kinds of the tenant are listed.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { Client } from '../../../hack/control-plane/client.ts';
import { definitionOf, version } from '../../support/cluster/custom-resource.ts';
import { until } from '../../support/until.ts';
import { Platform } from '../platform.ts';

const GROUP = 'hostile.example.com';
const LISTS = '/kapis/resources.platform.io/v1alpha3';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
/** The deepest nesting that kube-apiserver accepts for an object is 10,000. */
const DEPTH = 9_000;
const ITEMS = 20_000;

interface Attack {
  readonly plural: string;
  readonly columns: readonly { readonly name: string; readonly jsonPath: string }[];
  /** The JSON of `spec`. */
  readonly spec: string;
  /** A sort key, and the expected status. */
  readonly sortBy: readonly [key: string, status: 200 | 400];
}

const column = (jsonPath: string, i = 0) => ({ name: `Column${i}`, jsonPath });
const many = (count: number, jsonPath: string) =>
  Array.from({ length: count }, (_, i) => column(jsonPath, i));
const nested = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;
const items = `{"items":[${Array.from({ length: ITEMS }, () => '{"a":1}').join()}]}`;
const evil = `{"items":[{"a":"${'a'.repeat(64)}!"}]}`;

const ATTACKS: readonly Attack[] = [
  {
    plural: 'expressions',
    columns: [column('.spec.items[?(match(@.a, "(a+)+$"))].a')],
    spec: evil,
    sortBy: ['Column0', 400],
  },
  {
    plural: 'searches',
    columns: [column('.spec.items[?search(@.a, "(a|aa)+$")]')],
    spec: evil,
    sortBy: ['Column0', 400],
  },
  { plural: 'wildcards', columns: [column('.spec..*..*..*')], spec: items, sortBy: ['Column0', 400] },
  { plural: 'descents', columns: [column('.spec..a')], spec: `{"a":${nested}}`, sortBy: ['Column0', 400] },
  {
    plural: 'depths',
    columns: [column('.spec'), column('.spec.a[0]', 1)],
    spec: `{"a":${nested}}`,
    sortBy: ['Column0', 200],
  },
  {
    plural: 'filters',
    columns: many(64, '.spec.items[?(@.a=="x")].a'),
    spec: items,
    sortBy: ['Column63', 200],
  },
  { plural: 'slices', columns: many(64, '.spec.items[*].b'), spec: items, sortBy: ['Column63', 200] },
  { plural: 'texts', columns: many(8, '.spec'), spec: items, sortBy: ['Column0', 200] },
  { plural: 'counts', columns: many(5_000, '.spec.items[-1].a'), spec: items, sortBy: ['Column4999', 400] },
  {
    plural: 'names',
    columns: ['age', 'name', '__proto__', 'constructor', 'x'.repeat(10_000)].map((name) => ({
      name,
      jsonPath: '.spec.a',
    })),
    spec: '{"a":1,"__proto__":{"a":2},"constructor":{"prototype":null}}',
    sortBy: ['__proto__', 200],
  },
];

const ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'hostile-view', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
  rules: [{ apiGroups: [GROUP], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
};

describe('a tenant who writes hostile definitions and objects', () => {
  let platform: Platform;
  let token: string;

  before(async () => {
    platform = await Platform.start(1, {
      configure: async () => ({ gateway: { acceleration: true } }),
    });
    await platform.succeeding('create serviceaccount reader');
    token = (await platform.succeeding('create token reader')).trim();
    await platform.bind('view', '--serviceaccount=default:reader');
    const { client } = platform.controlPlane;
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    await client.expect(roles, { method: 'POST', body: ROLE }, [201]);
    for (const attack of ATTACKS) await create(attack);
    await platform.permitted(`list names.${GROUP} --as=system:serviceaccount:default:reader`);
  });
  after(() => platform?.stop());

  const pathOf = (plural: string): string => `/apis/${GROUP}/v1/namespaces/default/${plural}`;

  async function create({ plural, columns, spec }: Attack): Promise<void> {
    const { client } = platform.controlPlane;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const additionalPrinterColumns = columns.map((each) => ({ ...each, type: 'string' }));
    const versions = [version('v1', { schema, additionalPrinterColumns })];
    const kind = `Hostile${plural}`;
    const body = definitionOf({ group: GROUP, plural, kind, scope: 'Namespaced', versions });
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await client.expect(definitions, { method: 'POST', body }, [201]);
    const head = JSON.stringify({ apiVersion: `${GROUP}/v1`, kind, metadata: { name: 'hostile' } });
    const file = await platform.write(`${plural}.json`, `${head.slice(0, -1)},"spec":${spec}}`);
    // As bytes, because JSON.stringify cannot write the nesting.
    await until(async () => (await platform.kubectl('create --raw', pathOf(plural), '-f', file)).code === 0);
  }

  const ask = (path: string, accept = 'application/json') => platform.client.send(path, { token, accept });

  it('does not delay other callers while the caches contain hostile objects', async () => {
    const done = new AbortController();
    const victim = (async () => {
      const statuses: number[] = [];
      while (!done.signal.aborted || statuses.length === 0) {
        statuses.push((await ask(`${LISTS}/namespaces?sortBy=name`)).status);
      }
      return statuses;
    })();
    for (const { plural } of ATTACKS) {
      const path = `${LISTS}/namespaces/default/${plural}.${GROUP}`;
      await until(async () => (await ask(path)).status === 200);
      const list = record(JSON.parse((await ask(`${path}?limit=0`)).body));
      expect(list, plural).to.include({ totalItems: 1 });
    }
    done.abort();
    expect(new Set(await victim)).to.deep.equal(new Set([200]));
  });

  for (const { plural, sortBy } of ATTACKS) {
    const [key, status] = sortBy;
    it(`gets ${status} for the order of ${plural} by ${key}`, async () => {
      const path = `${LISTS}/namespaces/default/${plural}.${GROUP}?limit=0&sortBy=${key}`;
      const response = await ask(path);
      expect(response.status, response.body).to.equal(status);
      if (status === 400) expect(text(record(JSON.parse(response.body))['message'])).to.include(key);
    });

    it(`gets the Table of kube-apiserver for ${plural}`, async () => {
      const path = `${pathOf(plural)}?resourceVersion=0&includeObject=None`;
      const direct = new Client(platform.controlPlane.url, { ca: platform.controlPlane.ca });
      const [ours, theirs] = await Promise.all([
        ask(path, TABLE),
        direct.send(path, { token, accept: TABLE }),
      ]);
      direct.close();
      expect(cellsOf(ours.body)).to.deep.equal(cellsOf(theirs.body)).and.to.have.length(1);
    });
  }

  it('stops no cache: neither a reflector nor an object failed', async () => {
    const log = await readFile(platform.server.logFile, 'utf8');
    expect(log).not.to.match(/the sink failed|without its facts|Maximum call stack/);
    const changed = JSON.stringify({ metadata: { labels: { step: 'one' } } });
    for (const { plural } of ATTACKS) {
      await platform.succeeding(`patch ${plural}.${GROUP} hostile --type=merge -p`, changed);
      const path = `${LISTS}/namespaces/default/${plural}.${GROUP}?labelSelector=step=one&limit=0`;
      await until(async () => record(JSON.parse((await ask(path)).body))['totalItems'] === 1);
    }
  });
});

function cellsOf(body: string): readonly unknown[] {
  const table = record(JSON.parse(body));
  expect(recordIn(table, 'metadata')).to.have.property('resourceVersion');
  return array(table['rows']).map((row) => record(row)['cells']);
}
