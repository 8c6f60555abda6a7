// Store of the objects of one kind of the IAM API, such as User or Credential. Reads come from a cache that a reflector fills; writes go
// to kube-apiserver, and into the cache. While the watch can be behind, reads update single objects.
import type { Logger } from 'pino';
import { type CustomResource, isUserName } from '../../../apis/iam/v1beta1/custom-resource.ts';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user-resource.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  newInternalError,
  newNotFound,
  newServiceUnavailable,
} from '../../../apis/meta/v1/errors.ts';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Seats } from '../../admission/seats.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../../cluster/reflector/freshness.ts';
import { ObjectIndex, type ValueListener } from '../../cluster/reflector/object-index.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import { SHORT_WATCHES } from '../../cluster/reflector/reflector-tuning.ts';
import { retryConflicts } from '../../cluster/retry-conflicts.ts';
import type { UserID } from './account.ts';

export interface ObjectStoreOptions {
  readonly client: ClusterClient;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  /** The seats of reads of single objects, which callers share. */
  readonly lookups: Seats;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Time without contact to the cluster, in ms, after which the cache is stale. */
  readonly staleAfterMs?: number;
  /** Monotonic ms. */
  readonly monotonic?: () => number;
}

type RawObject = Readonly<Record<string, unknown>>;

/** The object to write, with the resourceVersion of the current one; `null` to delete it, undefined to change nothing. */
type Change = (
  current: RawObject | undefined,
) => Promise<object | null | undefined> | object | null | undefined;

export class ObjectStore<T> {
  protected readonly index: ObjectIndex<T>;
  protected readonly path: string;
  protected readonly options: ObjectStoreOptions;
  readonly #kind: CustomResource;
  readonly #freshness: Freshness;

  /** `read` converts an object; it returns undefined for an invalid one. `changed` is called after each change of the cache. */
  constructor(
    kind: CustomResource,
    read: (object: unknown) => T | undefined,
    options: ObjectStoreOptions,
    changed?: ValueListener<T>,
  ) {
    this.path = `/apis/${options.group}/${VERSION}/${kind.plural}`;
    this.index = new ObjectIndex(read, changed);
    this.options = options;
    this.#kind = kind;
    this.#freshness = new Freshness(options.monotonic);
  }

  /** Fills the cache until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.options;
    const reflector = new Reflector({
      client,
      path: this.path,
      sink: this.index,
      log,
      observer: this.#freshness,
      tuning: SHORT_WATCHES,
    });
    await reflector.run(signal);
  }

  get synced(): boolean {
    return this.index.synced && this.#freshness.within(this.options.staleAfterMs ?? STALE_AFTER_MS);
  }

  /**
   * Reads one object from the cluster into the cache. A deleted object stays in the cache until its watch event arrives.
   * Throws ServiceUnavailable during an outage of the cluster, and without a seat for the caller.
   */
  async catchUp(name: string, { signal, caller = '' }: CallContext): Promise<void> {
    if (!isUserName(name)) return;
    try {
      using _seat = await this.options.lookups.take(caller, { signal });
      await this.readObject(name, signal);
    } catch (cause) {
      throw newServiceUnavailable(`cannot look up ${this.#kind.plural}`, 1, { cause });
    }
  }

  /** The current object of the cluster. */
  protected async readObject(name: string, signal: AbortSignal): Promise<RawObject | undefined> {
    try {
      const found = record(await this.options.client.json({ path: this.#pathOf(name), signal }));
      this.index.put(found);
      return found;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Throws AlreadyExists. */
  protected postObject(object: object, signal: AbortSignal): Promise<unknown> {
    return this.#write('POST', this.path, object, signal);
  }

  /** Throws Conflict if the object has a resourceVersion that is not the current one. */
  protected putObject(name: string, object: object, signal: AbortSignal): Promise<unknown> {
    return this.#write('PUT', this.#pathOf(name), object, signal);
  }

  /** False if the object does not exist. Throws Conflict if the cluster has another one of this name. */
  protected async deleteObject(
    name: string,
    preconditions: { readonly uid: string; readonly resourceVersion?: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const json = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
    let found = true;
    try {
      await this.options.client.json({ method: 'DELETE', path: this.#pathOf(name), json, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      found = false;
    }
    // With finalizers the object still exists, but is treated as deleted.
    this.index.remove(name, preconditions.uid);
    return found;
  }

  /** Changes the current object on condition that no other client does meanwhile: after a conflict, `change` decides again. */
  protected async updateObject(name: string, change: Change, signal: AbortSignal): Promise<void> {
    await retryConflicts(async () => {
      const current = await this.readObject(name, signal);
      const { uid, resourceVersion } = recordIn(current, 'metadata');
      const next = await change(current);
      if (next === undefined) return;
      if (next !== null) await (current ? this.putObject(name, next, signal) : this.postObject(next, signal));
      else if (current)
        await this.deleteObject(name, { uid: text(uid), resourceVersion: text(resourceVersion) }, signal);
    }, isRace);
  }

  /** An object of this kind. `replaces`: the object in the cluster that it replaces. */
  protected newObject(name: string, spec: object, replaces?: object, owner?: UserID): object {
    const apiVersion = `${this.options.group}/${VERSION}`;
    const { resourceVersion } = recordIn(replaces, 'metadata');
    return {
      apiVersion,
      kind: this.#kind.kind,
      metadata: {
        name,
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        // The garbage collector deletes the object with its user.
        ...(owner
          ? { ownerReferences: [{ apiVersion, kind: USER.kind, name: owner.name, uid: owner.uid }] }
          : {}),
      },
      spec,
    };
  }

  async #write(method: 'POST' | 'PUT', path: string, json: object, signal: AbortSignal): Promise<unknown> {
    const written = await this.options.client.json({ method, path, json, signal });
    this.index.put(written);
    return written;
  }

  /** Throws NotFound for an invalid name, so that a name cannot inject another path. */
  #pathOf(name: string): string {
    const { plural: resource } = this.#kind;
    if (!isUserName(name)) throw newNotFound({ group: this.options.group, resource }, name);
    return `${this.path}/${name}`;
  }
}

/** The object was changed, created or deleted meanwhile. */
export function isRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

/** Replaces the message of kube-apiserver about an invalid object, because it contains the invalid value. */
export function withoutValues(error: unknown): unknown {
  if (!isInvalid(error)) return error;
  const { kind = 'object', causes: [cause] = [] } = error.details ?? {};
  return newInternalError(new Error(`kube-apiserver rejected the ${kind} (${cause?.field})`));
}
