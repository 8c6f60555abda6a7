// Test fixture: a fake kube-apiserver with discovery, CustomResourceDefinitions, and lists of any kind.
import type { ServerResponse } from 'node:http';
import type { ClusterConnection } from '../../../server/cluster/connection/connection.ts';
import {
  API_SERVICES,
  CUSTOM_RESOURCE_DEFINITIONS,
  exactName,
  type Kind,
  sourcePath,
} from '../../../server/resources/kind.ts';
import { apiServiceNameOf } from '../../../server/resources/kinds/api-service.ts';
import {
  bookmark,
  type Call,
  event,
  list,
  refuse,
  ScriptedCluster,
  send,
} from '../cluster/scripted-cluster.ts';
import type { PlainObject } from './kind-cache.ts';

export const API_SERVICES_PATH = sourcePath(API_SERVICES);
export const CUSTOM_DEFINITIONS_PATH = sourcePath(CUSTOM_RESOURCE_DEFINITIONS);

/** Returns the discovery document of the kinds. `verbs`: of all kinds. */
export function discoveryOf(
  kinds: readonly Kind[],
  verbs: readonly string[] = ['get', 'list', 'watch'],
): { readonly items: readonly object[] } {
  const groups = Map.groupBy(kinds, ({ group }) => group);
  const document = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: Array.from(groups, ([name, members]) => ({
      metadata: name === '' ? {} : { name },
      versions: Array.from(
        Map.groupBy(members, ({ version }) => version),
        ([version, resources]) => ({
          version,
          resources: resources.map(({ plural, kind, namespaced }) => ({
            resource: plural,
            responseKind: { kind },
            scope: namespaced ? 'Namespaced' : 'Cluster',
            verbs,
          })),
        }),
      ),
    })),
  };
  return document;
}

/** Built-in groups whose names have a dot. */
const BUILT_IN_GROUPS: ReadonlySet<string> = new Set([
  'apiregistration.k8s.io',
  'networking.k8s.io',
  'rbac.authorization.k8s.io',
]);

/** Returns true for a custom resource, which kube-apiserver serves by a CustomResourceDefinition. */
function isCustom({ group }: Kind): boolean {
  return group.includes('.') && !BUILT_IN_GROUPS.has(group);
}

/** Returns the CustomResourceDefinition of a kind. `color`: name of its printer column and selectable field. */
function definitionOf(
  { group, plural }: Kind,
  versions: Iterable<string>,
  resourceVersion: number,
  color = 'color',
): PlainObject {
  return {
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, uid: `uid-${plural}`, resourceVersion: String(resourceVersion) },
    spec: {
      versions: [...versions].map((name) => ({
        name,
        additionalPrinterColumns: [{ name: color, jsonPath: `.spec.${color}`, type: 'string' }],
        selectableFields: [{ jsonPath: `.spec.${color}` }],
      })),
    },
  };
}

export class KindCluster {
  readonly client: ClusterConnection;
  readonly #cluster: ScriptedCluster;
  #kinds: readonly Kind[];
  /** The aggregated APIs that do not respond: discovery has their versions without kinds. */
  unavailable: readonly Pick<Kind, 'group' | 'version'>[] = [];
  /** Responses by path, in place of those of this class. */
  readonly responses = new Map<string, (call: Call) => void>();
  /** The objects of each kind, by path. */
  readonly objects = new Map<string, readonly PlainObject[]>();
  /** Open lists and watches by path. */
  readonly #streams = new Map<string, Set<ServerResponse>>();
  /** The versions of the definitions of custom resources, by exact name. */
  readonly #versions = new Map<string, Set<string>>();
  /** The services of aggregated APIs, by the name of their APIService. */
  readonly #services = new Map<string, object>();
  #version = 1_000;

  private constructor(kinds: readonly Kind[], cluster: ScriptedCluster) {
    this.#kinds = kinds;
    this.#cluster = cluster;
    this.client = cluster.connect();
  }

  static async start(...kinds: Kind[]): Promise<KindCluster> {
    const respond: ((call: Call) => void)[] = [];
    const scripted = await ScriptedCluster.start((call) => {
      for (const each of respond) each(call);
    });
    const cluster = new KindCluster(kinds, scripted);
    respond.push((call) => cluster.#respond(call));
    return cluster;
  }

  /**
   * The kinds of discovery. kube-apiserver has an APIService for each of their group versions, and a definition for each
   * custom resource.
   */
  get kinds(): readonly Kind[] {
    return this.#kinds;
  }

  set kinds(kinds: readonly Kind[]) {
    const known = new Set(this.#kinds.map(apiServiceNameOf));
    this.#kinds = kinds;
    for (const kind of kinds) {
      if (!known.has(apiServiceNameOf(kind))) this.serveBy('ADDED', kind);
      if (isCustom(kind) && !this.#versionsOf(kind).has(kind.version)) this.define('MODIFIED', kind);
    }
  }

  /** Sends a change of the APIService of a kind. `service`: that of an aggregated API; undefined for a local group. */
  serveBy(type: 'ADDED' | 'MODIFIED' | 'DELETED', kind: Kind, service?: object): void {
    if (service) this.#services.set(apiServiceNameOf(kind), service);
    else this.#services.delete(apiServiceNameOf(kind));
    this.send(API_SERVICES_PATH, type, this.#apiService(kind, ++this.#version));
  }

  /** Number of requests for a path. */
  requests(path: string): number {
    return this.#cluster.calls.filter(({ url }) => url.pathname === path).length;
  }

  /** Number of open lists and watches of a kind. */
  streams(kind: Kind): number {
    return this.#streams.get(sourcePath(kind))?.size ?? 0;
  }

  /** Sends a change to the watches of a path. */
  send(path: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: object): void {
    for (const response of this.#streams.get(path) ?? []) send(response, event(type, JSON.stringify(object)));
  }

  /** Ends the open lists and watches of a path. */
  disconnect(path: string): void {
    for (const response of this.#streams.get(path) ?? []) response.destroy();
  }

  /** Sends a change of a CustomResourceDefinition. */
  define(type: 'ADDED' | 'MODIFIED' | 'DELETED', kind: Kind, color?: string): void {
    const versions = this.#versionsOf(kind).add(kind.version);
    this.send(CUSTOM_DEFINITIONS_PATH, type, definitionOf(kind, versions, ++this.#version, color));
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.#cluster.stop();
  }

  #respond(call: Call): void {
    const { url, response, kind } = call;
    const path = url.pathname;
    const own = this.responses.get(path);
    if (own) return own(call);
    if (path === '/api' || path === '/apis') {
      const kinds = this.kinds.filter(({ group }) => (group === '') === (path === '/api'));
      const found = kinds.filter(
        ({ group, version }) =>
          !this.unavailable.some((api) => api.group === group && api.version === version),
      );
      const stale = this.unavailable.map(({ group, version }) => ({
        metadata: { name: group },
        versions: [{ version, freshness: 'Stale' }],
      }));
      const { items, ...list } = discoveryOf(found);
      const document = { ...list, items: [...items, ...(path === '/apis' ? stale : [])] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      return;
    }
    if (path === API_SERVICES_PATH && kind === 'stream') {
      const found = new Map(this.kinds.map((served) => [apiServiceNameOf(served), served]));
      this.objects.set(
        path,
        [...found.values()].map((served) => this.#apiService(served, 1)),
      );
    }
    if (path === CUSTOM_DEFINITIONS_PATH && kind === 'stream') {
      const custom = this.kinds.filter(isCustom);
      for (const defined of custom) this.#versionsOf(defined).add(defined.version);
      const definitions = custom.map((defined) => definitionOf(defined, this.#versionsOf(defined), 1));
      this.objects.set(path, definitions);
    }
    const isKnown =
      path === API_SERVICES_PATH ||
      path === CUSTOM_DEFINITIONS_PATH ||
      this.kinds.some((kind) => sourcePath(kind) === path);
    if (!isKnown) return refuse(response, 404, 'NotFound');
    const streams = this.#streams.get(path) ?? new Set();
    this.#streams.set(path, streams.add(response));
    response.on('close', () => streams.delete(response));
    if (kind === 'position') return list(response, this.#version);
    const objects = (this.objects.get(path) ?? []).map((object) => JSON.stringify(object));
    if (kind === 'page') return list(response, this.#version, objects);
    if (kind !== 'stream') return send(response, '');
    const added = objects.map((object) => event('ADDED', object));
    send(response, ...added, bookmark(this.#version, true));
  }

  #versionsOf(kind: Kind): Set<string> {
    const name = exactName(kind);
    const versions = this.#versions.get(name) ?? new Set();
    this.#versions.set(name, versions);
    return versions;
  }

  #apiService(kind: Kind, resourceVersion: number): PlainObject {
    const { group, version } = kind;
    const name = apiServiceNameOf(kind);
    const service = this.#services.get(name);
    return {
      metadata: {
        name,
        uid: `uid-${name}`,
        resourceVersion: String(resourceVersion),
        ...(service
          ? {}
          : { labels: { 'kube-aggregator.kubernetes.io/automanaged': isCustom(kind) ? 'true' : 'onstart' } }),
      },
      spec: { group, version, ...(service ? { service } : {}) },
    };
  }
}
