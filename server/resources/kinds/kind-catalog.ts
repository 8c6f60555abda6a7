// Catalog of the kinds that the server can list, by the resource name in a path. API discovery and
// CustomResourceDefinitions update the catalog.
import type { Logger } from 'pino';
import {
  newBadRequest,
  newResourceNotFound,
  newServiceUnavailable,
  type StatusError,
} from '../../../apis/meta/v1/errors.ts';
import { shortened } from '../../../apis/meta/v1/query-decoder.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import { pause } from '../../concurrency/pause.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { exactName, type Kind } from '../kind.ts';
import { CUSTOM_DEFINITIONS_PATH, CustomDefinitions } from './custom-definitions.ts';
import { discover, type GroupVersion } from './discovery.ts';

export interface KindCatalogOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  /** The domain of the platform, for instance `platform.io`. */
  readonly domain: string;
  /** Exact names of restricted kinds to serve. */
  readonly allowed: readonly string[];
  /** Called when kinds were added, changed or removed. */
  readonly changed: () => void;
}

/** Interval of discovery in ms, for aggregated APIs and new versions. Changes of custom resources are noticed at once. */
const INTERVAL_MS = 30_000;
/** Minimum time between two requests for discovery, in ms. */
const PAUSE_MS = 500;
/**
 * Number of requests for discovery after a change of a CustomResourceDefinition. Discovery shows the change seconds
 * later.
 */
const REPEATS = 8;
/** Maximum wait of a request for discovery, in ms. */
const WAIT_MS = 5_000;

export class KindCatalog {
  readonly #options: KindCatalogOptions;
  readonly #definitions: CustomDefinitions;
  readonly #failures = new RepeatedFailure();
  #kinds: readonly Kind[] | undefined;
  /** The aggregated APIs that did not respond to the last discovery. Their known kinds stay in the catalog. */
  #unavailable: readonly GroupVersion[] = [];
  /** The same kinds by their exact name. */
  #byName: ReadonlyMap<string, Kind> = new Map();
  #plurals: ReadonlySet<string> = new Set();
  /** Plurals and exact names of restricted kinds. */
  #restricted: ReadonlySet<string> = new Set();
  #refreshing: Promise<void> | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  /** Requests for discovery that a change of a definition still needs. */
  #pending = 0;
  /** Ends the pause before the next request for discovery. */
  #wake = new AbortController();

  constructor(options: KindCatalogOptions) {
    this.#options = options;
    this.#definitions = new CustomDefinitions(() => {
      this.#publish();
      this.#pending = REPEATS;
      this.#wake.abort();
    });
  }

  /**
   * Returns the kind of a resource in a path: a plural, or `plural.group`. A plural alone means the built-in kind, or
   * the only custom resource with this plural. Throws NotFound for an unknown resource, BadRequest for an ambiguous
   * one, and ServiceUnavailable while discovery, or the APIService of the group, has not responded.
   */
  resolve(resource: string, call: CallContext): Promise<Kind> | Kind {
    const kind = this.#find(resource);
    return kind && !this.outage(kind) ? kind : this.#resolveNew(resource, call);
  }

  /** The kind may be new, its API may be available again, or this may be the first request. */
  async #resolveNew(resource: string, { signal }: CallContext): Promise<Kind> {
    if (performance.now() - this.#refreshedAt > PAUSE_MS) await orAborted(this.#refresh(), signal);
    const kind = this.#find(resource);
    if (kind) return kind;
    if (!this.#kinds) throw newServiceUnavailable('the resources of the cluster are not known yet', 1);
    const api = this.#unavailable.find(({ group }) => resource.endsWith(`.${group}`));
    if (api) throw newServiceUnavailable(outageOf(api), 1);
    throw this.notFound(resource);
  }

  /** Returns the cause if the API of a kind does not respond. */
  outage({ group, version }: GroupVersion): string | undefined {
    const api = this.#unavailable.find((other) => other.group === group && other.version === version);
    return api && outageOf(api);
  }

  /** Returns true if the resource in a path is a known kind. */
  has(resource: string): boolean {
    return this.#byName.has(resource) || this.#plurals.has(resource);
  }

  /** Returns the kind with this exact name as discovery describes it now; undefined if it does not exist any more. */
  current(name: string): Kind | undefined {
    return this.#byName.get(name);
  }

  /** Returns the NotFound error for a resource that is not served. */
  notFound(resource: string): StatusError {
    return newResourceNotFound(resource, this.#absence(resource));
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const reflector = new Reflector({
      client,
      log,
      path: CUSTOM_DEFINITIONS_PATH,
      sink: this.#definitions,
    });
    await Promise.all([reflector.run(signal), this.#poll(signal)]);
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#refresh();
      const waitMs = this.#pending > 0 ? PAUSE_MS : INTERVAL_MS;
      this.#pending = Math.max(0, this.#pending - 1);
      this.#wake = new AbortController();
      await pause(waitMs, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  /** Requests discovery, at most once at a time. A failure keeps the known kinds. */
  #refresh(): Promise<void> {
    this.#refreshing ??= this.#discover().finally(() => {
      this.#refreshing = undefined;
      this.#refreshedAt = performance.now();
    });
    return this.#refreshing;
  }

  async #discover(): Promise<void> {
    const { client, log, domain, allowed } = this.#options;
    try {
      const { kinds, unavailable } = await discover(client, AbortSignal.timeout(WAIT_MS));
      this.#failures.end();
      this.#unavailable = unavailable;
      const found = kinds.filter((kind) => isServed(kind, domain, allowed));
      const names = new Set(found.map(exactName));
      const lost = (this.#kinds ?? []).filter((kind) => this.outage(kind) && !names.has(exactName(kind)));
      this.#kinds = [...found, ...lost];
      this.#restricted = new Set(
        kinds.filter(isRestricted).flatMap((kind) => [kind.plural, exactName(kind)]),
      );
      this.#publish();
    } catch (err) {
      if (this.#failures.isNews('discovery'))
        log.warn({ err }, 'the resources of the cluster cannot be read');
    }
  }

  /** Combines discovery with the definitions of custom resources. */
  #publish(): void {
    const kinds = (this.#kinds ?? []).map((kind): Kind => {
      const custom = this.#definitions.of(exactName(kind), kind.version);
      return custom ? { ...kind, custom } : kind;
    });
    const before = this.#byName;
    this.#byName = new Map(kinds.map((kind) => [exactName(kind), kind]));
    this.#plurals = new Set(kinds.map(({ plural }) => plural));
    const isSame =
      before.size === this.#byName.size &&
      kinds.every((kind) => isSameKind(kind, before.get(exactName(kind))));
    if (!isSame) this.#options.changed();
  }

  #find(resource: string): Kind | undefined {
    const exact = this.#byName.get(resource);
    if (exact && (resource.includes('.') || exact.group === '')) return exact;
    const candidates = [...this.#byName.values()].filter(({ plural }) => plural === resource);
    const builtIn = candidates.find((kind) => !this.#isCustom(kind));
    if (builtIn || candidates.length < 2) return builtIn ?? candidates[0];
    const names = candidates.map(exactName).sort().join(', ');
    throw newBadRequest(`"${resource}" is the name of several resources: use one of ${names}`);
  }

  /** Says why a resource is not served. */
  #absence(resource: string): string {
    if (this.#restricted.has(resource)) {
      return `${resource} are restricted: to serve them, name them in resources.restricted of the configuration`;
    }
    return `the cluster has no resource ${JSON.stringify(shortened(resource))} that can be listed and watched`;
  }

  /** Custom resources and aggregated APIs are not built in. */
  #isCustom(kind: Kind): boolean {
    return (
      this.#definitions.has(exactName(kind)) || (kind.group.includes('.') && !kind.group.endsWith('.k8s.io'))
    );
  }
}

/** Returns true if both are the same version and definition of a kind, so that its cached objects stay valid. */
export function isSameKind(kind: Kind, other: Kind | undefined): boolean {
  return (
    other !== undefined &&
    kind.version === other.version &&
    kind.kind === other.kind &&
    kind.namespaced === other.namespaced &&
    kind.custom?.revision === other.custom?.revision
  );
}

function outageOf({ group, version }: GroupVersion): string {
  return `the APIService ${version}.${group} is not available, so that its resources cannot be listed`;
}

/** Restricted kinds: they contain credentials, or show the permissions of users. */
function isRestricted({ group, plural }: Kind): boolean {
  return (group === '' && plural === 'secrets') || group === 'rbac.authorization.k8s.io';
}

/**
 * The groups of this server are excluded: their nodes are those of the core group, and users have an API of their own
 * that hides their credentials.
 */
function isServed(kind: Kind, domain: string, allowed: readonly string[]): boolean {
  if (kind.group === `resources.${domain}` || kind.group === `iam.${domain}`) return false;
  return !isRestricted(kind) || allowed.includes(exactName(kind));
}
