// Objects that change all the time, of kinds that the acceleration caches. With frequent changes, the caches need no bookmark
// to prove that they are current.
import { setTimeout as delay } from 'node:timers/promises';
import { definitionOf, version } from '../../support/cluster/custom-resource.ts';
import type { Platform } from '../platform.ts';

const GROUP = 'compared.example.com';
const PAUSE_MS = 20;

export class BusyObjects {
  readonly #writing: Promise<void>;
  readonly #end: AbortController;

  private constructor(writing: Promise<void>, end: AbortController) {
    this.#writing = writing;
    this.#end = end;
  }

  /** Also creates the custom resource `widgets`, with an object `first` in the namespace `default`. */
  static async start(platform: Platform): Promise<BusyObjects> {
    const apply = async (items: readonly object[]): Promise<void> => {
      const list = JSON.stringify({ kind: 'List', apiVersion: 'v1', items });
      await platform.succeeding('apply -f', await platform.write('busy.json', list));
    };
    await apply(WIDGETS);
    await platform.succeeding(`wait --for=condition=Established crd/widgets.${GROUP}`);
    await apply(OBJECTS);
    const end = new AbortController();
    const { client } = platform.controlPlane;
    const signal = AbortSignal.any([platform.signal, end.signal]);
    const write = async (): Promise<void> => {
      for (let round = 0; !signal.aborted; round++) {
        const body = { metadata: { annotations: { round: String(round) } } };
        await client.expect(
          PATHS[round % PATHS.length] ?? '',
          { method: 'PATCH', body, contentType: 'application/merge-patch+json' },
          [200],
        );
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    };
    return new BusyObjects(write(), end);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#writing;
  }
}

const NAMESPACE = 'busy';
const PATHS = [
  `/api/v1/namespaces/${NAMESPACE}/configmaps/busy`,
  `/api/v1/namespaces/${NAMESPACE}/pods/busy`,
  `/api/v1/namespaces/${NAMESPACE}/services/busy`,
  `/apis/${GROUP}/v1/namespaces/${NAMESPACE}/widgets/busy`,
];

const WIDGETS = [
  definitionOf({
    group: GROUP,
    plural: 'widgets',
    kind: 'Widget',
    listKind: 'WidgetCollection',
    scope: 'Namespaced',
    versions: [version('v1', { selectableFields: [{ jsonPath: '.spec.size' }] })],
  }),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'widgets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [{ apiGroups: [GROUP], resources: ['widgets'], verbs: ['get', 'list', 'watch'] }],
  },
];

const metadata = { name: 'busy', namespace: NAMESPACE };
const OBJECTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: 'large' },
    // Both servers compress a response from 128 KiB.
    data: { a: 'x'.repeat(140_000) },
  },
  { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [{ name: 'main', image: 'registry.local/main:1' }], nodeName: 'none' },
  },
  { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata, spec: { size: 2 } },
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'Widget',
    metadata: { name: 'first', namespace: 'default' },
    spec: { size: 1 },
  },
];
