// Tests of lists of many kinds against the lists of a real kube-apiserver.
import { expect } from 'chai';
import { array, record, recordIn, text, texts } from '../../../../apis/reading/unknown-value.ts';
import { CUSTOM_RESOURCES, KINDS, type KindCase, NAMESPACES } from './kind-cases.ts';
import { type Caller, type Fields, LISTS, ResourceCluster, type Server } from './resource-cluster.ts';

/** Candidates for fields of field selectors, besides the paths of the values in the objects, of which no kind has longer ones. */
const FIELDS = [
  'metadata.name', 'metadata.namespace', 'metadata.uid', 'metadata.labels', 'spec.host', 'spec.nodeName',
  'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'spec.hostNetwork', 'status.phase',
  'status.podIP', 'status.podIPs', 'status.nominatedNodeName', 'spec.unschedulable', 'status.successful',
  'status.replicas', 'spec.replicas', 'spec.clusterIP', 'spec.type', 'type', 'reason', 'source', 'source.host',
  'source.component', 'reportingComponent', 'reportingController', 'message', 'spec.signerName', 'spec.color',
  'spec.size', 'spec.deep.on', 'spec.volumeName', 'spec.storageClassName', 'status.loadBalancer', 'name',
  ...['involvedObject', 'regarding'].flatMap((target) =>
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((name) => `${target}.${name}`),
  ),
]; // biome-ignore format: a list

/** Fields whose values are those of a member with another name. */
const OTHER_MEMBERS: Readonly<Record<string, string>> = {
  host: 'nodeName',
  successful: 'succeeded',
  source: 'component',
  podIP: 'ip',
  podIPs: 'ip',
};

/** Of a field, in the objects of a kind: each one costs a list. */
const MAX_VALUES = 5;

interface KubeObject {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly text: string;
  readonly body: Fields;
  readonly metadata: Fields;
  readonly word: string;
}

function keyOf(object: unknown): string {
  const { namespace, name } = recordIn(object, 'metadata');
  return namespace === undefined ? text(name) : `${text(namespace)}/${text(name)}`;
}

function keysOf(list: Fields): string[] {
  return array(list['items']).map(keyOf);
}

/** Yields the path and value of each scalar in an object; elements of arrays have the path of the array. */
function* scalars(
  value: unknown,
  path: readonly string[] = [],
): Generator<[path: readonly string[], value: string]> {
  if (Array.isArray(value)) for (const one of value) yield* scalars(one, path);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name !== 'managedFields') yield* scalars(member, [...path, name]);
    }
  } else yield [path, String(value)];
}

/**
 * Returns the JSON of an object with `kind` before `apiVersion`, which custom resources have in the other order. Nodes
 * have the version of the platform's own group.
 */
function withOurHead(json: string, { plural }: KindCase): string {
  const ordered = json.replace(/^{("apiVersion":"[^"]*"),("kind":"[^"]*")/, '{$2,$1');
  return plural === 'nodes' ? ordered.replace('"v1"', '"resources.platform.io/v1alpha3"') : ordered;
}

/** kube-apiserver prints placeholders for missing values. */
function printedValue(value: unknown): string {
  const printed = typeof value === 'number' ? String(value) : text(value);
  return printed.replace(/^<(none|unknown)>$/, '');
}

function compare<Value>(left: Value, right: Value): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

describe('lists of many kinds with a real cluster', () => {
  let cluster: ResourceCluster;
  let server: Server;
  let kube: Caller;

  before(async () => {
    cluster = await ResourceCluster.start();
    kube = cluster.direct({ pair: await cluster.certificate('admin', ['system:masters']) });
    for (const definition of CUSTOM_RESOURCES) {
      await cluster.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    }
    for (const name of NAMESPACES) {
      await cluster.create('/api/v1/namespaces', { metadata: { name } });
      await cluster.create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
    }
    for (const kind of KINDS) if (!kind.isView) await createObjects(kind);
    server = await cluster.serve();
  });

  after(() => cluster?.stop());

  /** Kinds and the parameters that were compared, as a table for the log. */
  const table = [
    '| kind | objects | fields of fieldSelector | sort keys | statuses |',
    '|---|---|---|---|---|',
  ];
  after(() => console.log(table.join('\n')));

  async function createObjects({ api, plural, objects }: KindCase): Promise<void> {
    for (const { namespace, manifest, status } of objects) {
      const path = `${api}${namespace === '' ? '' : `/namespaces/${namespace}`}/${plural}`;
      await cluster.create(path, manifest);
      if (status) await cluster.patch(`${path}/${text(manifest.metadata['name'])}/status`, { status });
    }
  }

  for (const kind of KINDS) {
    describe(kind.resource, () => {
      const source = `${kind.api}/${kind.plural}`;
      const path = `${LISTS}/${kind.resource}`;
      let objects: readonly KubeObject[];
      let fieldNames: readonly string[] = [];
      let keyNames: readonly string[] = [];

      after(() => {
        const words = [...new Set(objects.map(({ word }) => word))].sort();
        const cells = [fieldNames, keyNames, words].map((names) => names.join(', '));
        table.push(`| ${[kind.resource, objects.length, ...cells].join(' | ')} |`);
      });

      const listed = (query: string): Promise<Fields> => server.admin.list(`${path}?${query}`);
      const select = async (query: string): Promise<string[]> => keysOf(await listed(query)).sort();
      const keys = (test: (object: KubeObject) => boolean): string[] =>
        objects
          .filter(test)
          .map(({ key }) => key)
          .sort();
      const aliasOf = ({ metadata }: KubeObject): string =>
        texts(metadata['annotations'])['platform.io/alias-name'] ?? '';
      const ownersOf = ({ metadata }: KubeObject): Fields[] => array(metadata['ownerReferences']).map(record);

      before(async () => {
        await server.caughtUp(kind.resource, source);
        const words = new Map(
          kind.objects.map(({ namespace, manifest: { metadata }, word }) => [
            keyOf({ metadata: { ...metadata, ...(namespace === '' ? {} : { namespace }) } }),
            word,
          ]),
        );
        objects = await Promise.all(
          array((await kube.list(source))['items']).map(async (item): Promise<KubeObject> => {
            const { namespace, name } = recordIn(item, 'metadata');
            const scope = namespace === undefined ? '' : `/namespaces/${text(namespace)}`;
            const got = await kube.ask(`${kind.api}${scope}/${kind.plural}/${text(name)}`);
            const key = keyOf(item);
            return {
              key,
              name: text(name),
              namespace: text(namespace),
              text: withOurHead(got.text.trimEnd(), kind),
              body: got.body,
              metadata: recordIn(got.body, 'metadata'),
              word: words.get(key) ?? kind.otherWord?.(record(got.body)) ?? '',
            };
          }),
        );
        expect(objects.length).to.be.at.least(kind.objects.length).and.above(4);
      });

      it('returns the bytes of kube-apiserver, with a selfLink that works', async () => {
        const sorted = objects.toSorted((a, b) => compare(a.name, b.name) || compare(a.key, b.key));
        const { text: list } = await server.admin.ask(`${path}?sortBy=name&ascending=true`);
        const items = list.slice(list.indexOf('"items":[') + 9, list.lastIndexOf('],"totalItems":'));
        const withoutLinks = (json: string): string => json.replaceAll(/"selfLink":"[^"]*",/g, '');
        expect(withoutLinks(items)).to.equal(sorted.map((object) => object.text).join());
        const links = array(record(JSON.parse(list))['items']).map(
          (item) => recordIn(item, 'metadata')['selfLink'],
        );
        for (const [index, object] of sorted.entries()) {
          const answer = await server.admin.ask(text(links[index]));
          expect(answer.status, text(links[index])).to.equal(200);
          expect(withoutLinks(answer.text).trimEnd()).to.equal(object.text);
          expect(record(answer.body)).to.include.keys('apiVersion', 'kind');
        }
      });

      it('returns the values of columns that kube-apiserver prints', async () => {
        const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
        const printed = (await kube.ask(`${source}?includeObject=Metadata`, { accept })).body;
        const definitions = array(printed['columnDefinitions']).map(record);
        const rows = new Map(
          array(printed['rows'])
            .map(record)
            .map(({ object, cells }) => [keyOf(object), array(cells)]),
        );
        const list = await listed('columns=true');
        const columns = array(list['columns']).map(record);
        const names = columns.map((column) => column['name']);
        const keysOfPage = keysOf(list);
        expect([names[0], names.at(-1)]).to.deep.equal(['Status', 'Age']);
        expect(names).to.include.members(kind.columns ?? []);
        for (const [index, cells] of array(list['cells']).entries()) {
          const key = keysOfPage[index] ?? '';
          expect(array(cells)).to.have.length(columns.length);
          const ours = Object.fromEntries(names.map((name, i) => [String(name), array(cells)[i]]));
          expect(ours['Status'] ?? '', key).to.equal(objects.find((object) => object.key === key)?.word);
          for (const name of kind.columns ?? []) {
            const theirs = rows.get(key)?.[definitions.findIndex((column) => column['name'] === name)];
            expect(printedValue(ours[name]), `${key} ${name}`).to.equal(printedValue(theirs));
          }
        }
        const { totalItems, items } = await listed('');
        const { columns: _columns, cells: _cells, ...rest } = list;
        expect(rest).to.deep.include({ totalItems, items });
      });

      it('serves the paths of its scope, and 404 for the others', async () => {
        const missing = kind.namespaced ? `${LISTS}/namespaces/alpha/${kind.resource}/none` : `${path}/none`;
        const answer = await server.admin.ask(missing);
        expect(answer.status).to.equal(404);
        expect(answer.body).to.include({ kind: 'Status', reason: 'NotFound' });
        const theirs = await kube.ask(
          `${kind.api}${kind.namespaced ? '/namespaces/alpha' : ''}/${kind.plural}/none`,
        );
        expect(answer.body).to.deep.equal(theirs.body);
        for (const namespace of [...NAMESPACES, 'nowhere']) {
          const inNamespace = await server.admin.ask(`${LISTS}/namespaces/${namespace}/${kind.resource}`);
          if (kind.namespaced) {
            expect(keysOf(inNamespace.body).sort()).to.deep.equal(
              keys((object) => object.namespace === namespace),
            );
          } else expect(inNamespace.status).to.equal(404);
        }
        const withoutNamespace = await server.admin.ask(`${path}/web`);
        expect(withoutNamespace.status).to.equal(kind.namespaced ? 400 : 200);
      });

      it('selects labels as kube-apiserver does', async () => {
        // The parity tests of nodes compare many more selectors.
        for (const selector of ['app=web', 'app notin (web)', '!tier', 'tier=Front,app!=cart', '', 'a b']) {
          const query = `labelSelector=${encodeURIComponent(selector)}`;
          const [ours, theirs] = await Promise.all([
            server.admin.ask(`${path}?${query}`),
            kube.ask(`${source}?${query}`),
          ]);
          expect(ours.status, selector).to.equal(theirs.status);
          if (theirs.status !== 200) continue;
          expect(keysOf(ours.body).sort(), selector).to.deep.equal(keysOf(theirs.body).sort());
          expect(await select(`label=${encodeURIComponent(selector)}`), selector).to.deep.equal(
            keysOf(theirs.body).sort(),
          );
        }
      });

      it('accepts the fields of field selectors that kube-apiserver accepts, and selects the same objects', async () => {
        const leaves = objects.flatMap(({ body }) => [...scalars(body)]);
        const short = leaves.filter(([names]) => names.length <= 2);
        const candidates = new Set([...FIELDS, ...short.map(([names]) => names.join('.'))]);
        const accepted: string[] = [];
        for (const field of candidates) {
          const query = `fieldSelector=${encodeURIComponent(`${field}=zzz`)}`;
          const [ours, theirs] = await Promise.all([
            server.admin.ask(`${path}?${query}`),
            kube.ask(`${source}?${query}&limit=1`),
          ]);
          expect(`${field} ${ours.status}`).to.equal(`${field} ${theirs.status}`);
          if (theirs.status === 200) accepted.push(field);
        }
        fieldNames = accepted;
        for (const field of accepted) {
          const last = field.slice(field.lastIndexOf('.') + 1);
          const values = leaves
            .filter(([names]) => names.at(-1) === last || names.at(-1) === OTHER_MEMBERS[last])
            .toSorted(([a], [b]) => Number(b.join('.') === field) - Number(a.join('.') === field))
            .map(([, value]) => value);
          const some = [...new Set(values)].slice(0, MAX_VALUES);
          for (const selector of [
            ...new Set(['', 'true', 'false', '0', 'none', ...some].map((value) => `${field}=${value}`)),
            ...['', ...some.slice(0, 1)].map((value) => `${field}!=${value}`),
          ]) {
            const query = `fieldSelector=${encodeURIComponent(selector)}`;
            const theirs = keysOf(await kube.list(`${source}?${query}`)).sort();
            expect(await select(query), selector).to.deep.equal(theirs);
          }
        }
        for (const selector of [
          'metadata.name=web,metadata.name!=cart',
          'metadata.name=web,metadata.name=cart',
          'metadata.name==web',
          ',',
          'metadata.name',
        ]) {
          const query = `fieldSelector=${encodeURIComponent(selector)}`;
          const [ours, theirs] = await Promise.all([
            server.admin.ask(`${path}?${query}`),
            kube.ask(`${source}?${query}`),
          ]);
          expect(`${selector} ${ours.status}`).to.equal(`${selector} ${theirs.status}`);
          if (theirs.status === 200)
            expect(keysOf(ours.body).sort()).to.deep.equal(keysOf(theirs.body).sort());
        }
      });

      it('sorts by every key, in both directions', async () => {
        const created = ({ metadata }: KubeObject): string => text(metadata['creationTimestamp']);
        const readers: Record<string, (object: KubeObject) => string | number> = {
          name: ({ name }) => name,
          namespace: ({ namespace }) => namespace,
          creationTimestamp: created,
          createTime: created,
          age: (object) => -Date.parse(created(object)),
          status: ({ word }) => word,
        };
        for (const [key, reader] of Object.entries(kind.sortKeys ?? {}))
          readers[key] = ({ body }) => reader(body);
        keyNames = Object.keys(readers);
        for (const [key, reader] of Object.entries(readers)) {
          const sorted = objects
            .toSorted(
              (a, b) => compare(reader(a), reader(b)) || compare(a.name, b.name) || compare(a.key, b.key),
            )
            .map((object) => object.key);
          expect(keysOf(await listed(`sortBy=${key}&ascending=true`)), key).to.deep.equal(sorted);
          expect(keysOf(await listed(`sortBy=${key}`)), key).to.deep.equal(sorted.toReversed());
        }
        expect(keysOf(await listed(''))).to.deep.equal(keysOf(await listed('sortBy=creationTimestamp')));
        const { body } = await server.admin.ask(`${path}?sortBy=none`);
        for (const key of Object.keys(readers)) expect(text(body['message'])).to.contain(key);
      });

      it('divides the list into pages without gaps', async () => {
        for (const query of [
          '',
          'sortBy=name',
          'sortBy=status&ascending=true',
          'labelSelector=app!%3Dcart',
        ]) {
          const all = keysOf(await listed(query));
          for (const limit of [2, all.length]) {
            const found: string[] = [];
            for (let page = 1; page <= Math.ceil(all.length / limit); page++) {
              const list = await listed(`${query}&limit=${limit}&page=${page}`);
              expect(list['totalItems']).to.equal(all.length);
              found.push(...keysOf(list));
            }
            expect(found, `${query} ${limit}`).to.deep.equal(all);
            expect((await listed(`${query}&limit=${limit}&page=999`))['items']).to.deep.equal([]);
          }
        }
        expect(await listed('limit=0')).to.deep.include({ items: [], totalItems: objects.length });
      });

      it('filters by name, uid, alias, annotation, owner, namespace and text', async () => {
        for (const name of ['a', 'cart', 'Shop', 'shop', '-', 'none']) {
          expect(await select(`name=${name}`), name).to.deep.equal(
            keys((object) => object.name.includes(name) || aliasOf(object).includes(name)),
          );
          expect(await select(`alias=${name}`), name).to.deep.equal(
            keys((object) => aliasOf(object).includes(name)),
          );
        }
        expect(await select('names=cart,none,web')).to.deep.equal(
          keys(({ name }) => ['cart', 'web'].includes(name)),
        );
        for (const { metadata, key } of objects.slice(0, 3)) {
          expect(await select(`uid=${text(metadata['uid'])}`)).to.deep.equal([key]);
        }
        for (const [selector, test] of [
          ['example.com/team=red', (value: string | undefined) => value === 'red'],
          ['example.com/team!=red', (value: string | undefined) => value !== 'red'],
          ['!example.com/team', (value: string | undefined) => value === undefined],
        ] as const) {
          expect(await select(`annotation=${encodeURIComponent(selector)}`), selector).to.deep.equal(
            keys(({ metadata }) => test(texts(metadata['annotations'])['example.com/team'])),
          );
        }
        for (const [query, uid, owner] of [
          ['ownerReference=uid-1', 'uid-1', undefined],
          ['ownerKind=ReplicaSet', undefined, 'ReplicaSet'],
          ['ownerKind=ReplicaSet&ownerReference=uid-2', 'uid-2', 'ReplicaSet'],
          ['ownerKind=ReplicaSet&ownerReference=uid-1', 'uid-1', 'ReplicaSet'],
          ['ownerKind=replicaset', undefined, 'replicaset'],
        ] as const) {
          expect(await select(query), query).to.deep.equal(
            keys((object) =>
              ownersOf(object).some(
                (one) => (uid ?? one['uid']) === one['uid'] && (owner ?? one['kind']) === one['kind'],
              ),
            ),
          );
        }
        for (const q of ['CART', 'tier=front', 'shop 4', 'alph', 'nginx:1.27', 'Registry', 'none at all']) {
          const wanted = q.toLowerCase();
          expect(await select(`q=${encodeURIComponent(q)}`), q).to.deep.equal(
            keys((object) => {
              const labels = Object.entries(texts(object.metadata['labels'])).map(
                ([key, value]) => `${key}=${value}`,
              );
              const images = [...scalars(object.body)].filter(
                ([names]) => names.at(-1) === 'image' && names.at(-2) === 'containers',
              );
              return [
                object.name,
                object.namespace,
                aliasOf(object),
                ...labels,
                ...images.map(([, image]) => image),
              ].some((one) => one.toLowerCase().includes(wanted));
            }),
          );
        }
        if (kind.namespaced) {
          expect(await select('namespaces=gamma,alpha,nowhere')).to.deep.equal(
            keys(({ namespace }) => namespace === 'alpha' || namespace === 'gamma'),
          );
          expect(await select('namespace=beta')).to.deep.equal(keys(({ namespace }) => namespace === 'beta'));
        } else expect((await server.admin.ask(`${path}?namespaces=alpha`)).status).to.equal(400);
        expect(
          await select(
            'q=cart&labelSelector=tier&namespace=&name=a'.replace(
              '&namespace=',
              kind.namespaced ? '&namespace=alpha' : '',
            ),
          ),
        ).to.deep.equal(
          keys(
            ({ name, namespace, metadata }) =>
              name.includes('cart') &&
              texts(metadata['labels'])['tier'] !== undefined &&
              (!kind.namespaced || namespace === 'alpha'),
          ),
        );
      });

      it('selects statuses, and counts facets of the whole selection', async () => {
        const words = new Set(objects.map(({ word }) => word).filter((word) => word !== ''));
        for (const word of words) {
          expect(await select(`status=${encodeURIComponent(word)}`), word).to.deep.equal(
            keys((object) => object.word === word),
          );
        }
        const [first, second] = [...words];
        if (first && second) {
          expect(await select(`status=${first},${second}`)).to.deep.equal(
            keys(({ word }) => word === first || word === second),
          );
        }
        const counted = (
          read: (object: KubeObject) => readonly string[],
          selected = objects,
        ): Record<string, number> => {
          const counts: Record<string, number> = {};
          for (const object of selected) {
            for (const value of new Set(read(object)))
              if (value !== '') counts[value] = (counts[value] ?? 0) + 1;
          }
          return counts;
        };
        const { facets } = await listed('limit=1&facets=status,namespace,ownerKind,label:tier,label:none');
        expect(facets).to.deep.equal({
          status: counted(({ word }) => [word]),
          namespace: counted(({ namespace }) => [namespace]),
          ownerKind: counted((object) => ownersOf(object).map((owner) => text(owner['kind']))),
          'label:tier': counted(({ metadata }) => [texts(metadata['labels'])['tier'] ?? '']),
          'label:none': {},
        });
        const carts = await listed('q=cart&facets=status');
        expect(carts['facets']).to.deep.equal({
          status: counted(
            ({ word }) => [word],
            objects.filter(({ key }) => keysOf(carts).includes(key)),
          ),
        });
      });
    });
  }
});
