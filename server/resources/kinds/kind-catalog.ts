// Catalog of the kinds that the server can list, by the resource name in a path. API discovery, CustomResourceDefinitions
// and APIServices update the catalog.
import type { Logger } from 'pino';
import {
  newBadRequest,
  newResourceNotFound,
  newServiceUnavailable,
  type StatusError,
} from '../../../apis/meta/v1/errors.ts';
import { shortened } from '../../../apis/reading/schema-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { API_SERVICES, type APIService, CUSTOM_RESOURCE_DEFINITIONS, exactName, type Kind } from '../kind.ts';
import type { FeatureFacts } from '../profiles/feature-facts.ts';
import { aggregatedReason, apiServiceIn, outageOf, unknownReason } from './api-service.ts';
import type { KindCopies } from './kind-copies.ts';
import type { KindCopy } from './kind-copy.ts';
import { discover, type GroupVersion } from './kind-discovery.ts';
import { isServed, restrictedReason } from './restricted-kinds.ts';

interface KindCatalogOptions {
  readonly client: ClusterClient;
  readonly copies: Pick<KindCopies, 'hold'>;
  readonly log: Logger;
  /** The domain of the platform, for instance `platform.io`. */
  readonly domain: string;
  /** Exact names of restricted kinds to serve. */
  readonly allowed: readonly string[];
  /** Kinds of aggregated APIs to serve, as `plural.group`, or `*.group` for all kinds of a group. */
  readonly callerIndependent: readonly string[];
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
  readonly #definitions: KindCopy;
  readonly #services: KindCopy;
  readonly #failures = new RepeatedFailure();
  #kinds: readonly Kind[] | undefined;
  /** The aggregated APIs that did not respond to the last discovery. Their known kinds stay in the catalog. */
  #unavailable: readonly GroupVersion[] = [];
  /** The same kinds by their exact name. */
  #byName: ReadonlyMap<string, Kind> = new Map();
  #plurals: ReadonlySet<string> = new Set();
  /** Why kinds of the cluster are not served, by plural and by exact name. */
  #excluded: ReadonlyMap<string, string> = new Map();
  /** The custom resources of the last discovery without a definition, by plural and by exact name. */
  #undefined: ReadonlySet<string> = new Set();
  /** The restricted kinds of the last discovery that are not allowed. */
  #restricted: readonly Kind[] = [];
  #refreshing: Promise<void> | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  /** Requests for discovery that a change of a definition still needs. */
  #pending = 0;
  /** Ends the pause before the next request for discovery. */
  readonly #wakeup = new Wakeup();

  constructor(options: KindCatalogOptions) {
    this.#options = options;
    this.#definitions = options.copies.hold(CUSTOM_RESOURCE_DEFINITIONS);
    this.#definitions.cache.onChange(() => {
      if (!this.#definitions.synced) return;
      this.#publish();
      this.#pending = REPEATS;
      this.#wakeup.wake();
    });
    this.#services = options.copies.hold(API_SERVICES);
    this.#services.cache.onChange(() => {
      if (this.#services.synced) this.#publish();
    });
  }

  /**
   * Returns the kind of a resource in a path: a plural, or `plural.group`. A plural alone means the built-in kind, or
   * the only custom resource with this plural. Throws NotFound for an unknown resource, BadRequest for an ambiguous
   * one, and ServiceUnavailable while discovery, or the APIService of the group, has not responded, or the definition of
   * a custom resource is unknown.
   */
  resolve(resource: string, call: CallContext): Promise<Kind> | Kind {
    const kind = this.#find(resource);
    return kind && !this.outage(kind) ? kind : this.#resolveNew(resource, call);
  }

  /** The kind may be new, its API may be available again, or this may be the first request. */
  async #resolveNew(resource: string, { signal }: CallContext): Promise<Kind> {
    if (performance.now() - this.#refreshedAt > PAUSE_MS) await orAborted(this.#refresh(), signal);
    using bounded = boundedSignal(signal, WAIT_MS);
    const settled = Promise.all([this.#services.informer.settled, this.#definitions.informer.settled]);
    await orAborted(settled, bounded.signal).catch(() => signal.throwIfAborted());
    const kind = this.#find(resource);
    if (kind) return kind;
    const unknown = this.apiServicesOutage;
    if (unknown) throw newServiceUnavailable(unknown, 1);
    if (!this.#kinds) throw newServiceUnavailable('the resources of the cluster are not known yet', 1);
    const api = this.#unavailable.find(({ group }) => resource.endsWith(`.${group}`));
    if (api) throw newServiceUnavailable(outageOf(api), 1);
    throw this.absence(resource);
  }

  /**
   * Returns the cause if it is unknown which APIs are aggregated. Until it is known, no kind may be served from a cache,
   * because an API that was aggregated meanwhile can show each caller other objects.
   */
  get apiServicesOutage(): string | undefined {
    return this.#services.isStale ? unknownOf(this.#services) : undefined;
  }

  /**
   * True from the failure of the watch of APIServices, and for a custom resource also of CustomResourceDefinitions, until
   * they are known to be up to date again.
   */
  isInterrupted({ apiService }: Kind): boolean {
    return (
      this.#services.isInterrupted || (apiService?.isCustom !== false && this.#definitions.isInterrupted)
    );
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

  /** Returns the error for a resource that is not served: ServiceUnavailable if its definition is unknown, else NotFound. */
  absence(resource: string): StatusError {
    if (this.#lacksDefinition(resource)) return newServiceUnavailable(unknownOf(this.#definitions), 1);
    const reason =
      this.#excluded.get(resource) ??
      `the cluster has no resource ${JSON.stringify(shortened(resource))} that can be listed and watched: use a NAME of kubectl api-resources, such as pods or deployments.apps`;
    return newResourceNotFound(resource, reason);
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#refresh();
      const waitMs = this.#pending > 0 ? PAUSE_MS : INTERVAL_MS;
      this.#pending = Math.max(0, this.#pending - 1);
      await this.#wakeup.next(signal, waitMs);
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
      this.#restricted = kinds.filter((kind) => !isServed(kind, domain, allowed));
      this.#publish();
    } catch (err) {
      if (this.#failures.isNews('discovery'))
        log.warn({ err }, 'the resources of the cluster cannot be read');
    }
  }

  /** Combines discovery with the definitions of custom resources and the APIServices. */
  #publish(): void {
    const excluded = new Map<string, string>();
    const withoutDefinition = new Set<string>();
    const exclude = (kind: Kind, reason: string): void => {
      excluded.set(kind.plural, reason).set(exactName(kind), reason);
    };
    const kinds = (this.#kinds ?? []).flatMap((found): Kind[] => {
      const name = exactName(found);
      // Discovery can have a new preferred version before its APIService is known.
      const kind = [found, this.#byName.get(name)].find((each) => each && this.#serviceOf(each)) ?? found;
      const service = this.#serviceOf(kind);
      const custom = featuresIn(this.#definitions, name)?.definitions?.get(kind.version);
      if (service?.isCustom && !custom) {
        // Its objects must not be read and printed as those of a built-in kind.
        withoutDefinition.add(kind.plural).add(name);
        return [];
      }
      if (service && (!service.aggregated || this.#isCallerIndependent(kind))) {
        return [{ ...kind, apiService: service, custom }];
      }
      // Without its APIService, it is unknown where kube-apiserver gets the objects from.
      exclude(kind, service ? aggregatedReason(name) : unknownReason(kind));
      return [];
    });
    for (const kind of this.#restricted) exclude(kind, restrictedReason(kind, this.#options.domain));
    this.#excluded = excluded;
    this.#undefined = withoutDefinition;
    const before = this.#byName;
    this.#byName = new Map(kinds.map((kind) => [exactName(kind), kind]));
    this.#plurals = new Set(kinds.map(({ plural }) => plural));
    const isSame =
      before.size === this.#byName.size &&
      kinds.every((kind) => isSameKind(kind, before.get(exactName(kind))));
    if (!isSame) this.#options.changed();
  }

  #serviceOf(kind: Kind): APIService | undefined {
    return apiServiceIn((name) => featuresIn(this.#services, name)?.apiService, kind);
  }

  #isCallerIndependent(kind: Kind): boolean {
    const { callerIndependent } = this.#options;
    return callerIndependent.includes(exactName(kind)) || callerIndependent.includes(`*.${kind.group}`);
  }

  /** Returns true for a custom resource whose definition can exist, but is not known. */
  #lacksDefinition(resource: string): boolean {
    return this.#undefined.has(resource) && this.#definitions.isInterrupted;
  }

  #find(resource: string): Kind | undefined {
    const exact = this.#byName.get(resource);
    if (exact && (resource.includes('.') || exact.group === '')) return exact;
    const candidates = [...this.#byName.values()].filter(({ plural }) => plural === resource);
    const builtIn = candidates.find(
      ({ apiService }) => apiService && !apiService.aggregated && !apiService.isCustom,
    );
    if (builtIn) return builtIn;
    // A further kind can have this plural.
    if (this.#lacksDefinition(resource)) return undefined;
    if (candidates.length < 2) return candidates[0];
    const names = candidates.map(exactName).sort().join(', ');
    throw newBadRequest(`"${resource}" is the name of several resources: use one of ${names}`);
  }
}

function featuresIn({ synced, cache }: KindCopy, name: string): FeatureFacts | undefined {
  return synced ? cache.facts().get(name)?.facts.features : undefined;
}

/** Why it is unknown which objects exist. */
function unknownOf({ kind, reason }: KindCopy): string {
  return `the ${kind.plural} of the cluster are not known: ${reason}`;
}

/** Returns true if both are the same version, definition and source of a kind, so that its cached objects stay valid. */
export function isSameKind(kind: Kind, other: Kind | undefined): boolean {
  return (
    other !== undefined &&
    kind.version === other.version &&
    kind.kind === other.kind &&
    kind.namespaced === other.namespaced &&
    kind.custom?.revision === other.custom?.revision &&
    kind.apiService?.revision === other.apiService?.revision
  );
}
