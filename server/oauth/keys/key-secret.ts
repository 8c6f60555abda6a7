// Reads and writes the Secret with the signing keys. An operator requests a rotation with an annotation of the
// Secret.
import { newNotFound } from '../../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { retryConflicts } from '../../cluster/retry-conflicts.ts';
import { fillSecret, type SecretLocation } from '../../cluster/secrets/installed-secret.ts';
import { type KeySet, readKeySet, writeKeySet } from './key-set.ts';

/** `kubectl annotate secret … ks-apiserver/rotate-keys=graceful`; `ks-apiserver keys rotate` writes it. */
export const ROTATE_ANNOTATION = 'ks-apiserver/rotate-keys';

/** The key of the keys in the Secret. */
export const KEYS_ENTRY = 'keys.json';

/**
 * An operator's request. `graceful`: publish a new key now and sign with it after `publishAhead`. `immediate`, for
 * compromised keys: sign with a new key at once; all signatures and MACs of the old keys become invalid.
 */
export type RotationRequest = 'graceful' | 'immediate';

export interface StoredKeys {
  readonly set: KeySet;
  readonly resourceVersion: string;
  /** The pending request of an operator. */
  readonly request: RotationRequest | undefined;
  /** The metadata and the data, which a replace preserves. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly data: Readonly<Record<string, unknown>>;
}

export class KeySecret {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #location: SecretLocation;

  constructor(client: Pick<ClusterClient, 'json'>, location: SecretLocation) {
    this.#client = client;
    this.#location = location;
  }

  /** Throws NotFound when there are no keys, and an Error when they are no valid key set. */
  async read(signal: AbortSignal): Promise<StoredKeys> {
    return storedKeys(await this.#find(signal));
  }

  /** Requests a rotation. An update, because the server has no permission to patch Secrets. Throws NotFound when there are no keys. */
  async requestRotation(request: RotationRequest, signal: AbortSignal): Promise<void> {
    const content = { annotations: { [ROTATE_ANNOTATION]: request }, data: {} };
    await retryConflicts(async () =>
      fillSecret(this.#client, this.#location, await this.#find(signal), content, signal),
    );
  }

  /**
   * Throws Conflict when the Secret has changed since `previous`. Removes the operator's request, and for compromised keys
   * the other entries of the Secret, which are then created again.
   */
  async replace(previous: StoredKeys, set: KeySet, signal: AbortSignal): Promise<StoredKeys> {
    const annotations = { ...recordIn(previous.metadata, 'annotations') };
    delete annotations[ROTATE_ANNOTATION];
    const metadata = { ...previous.metadata, annotations, resourceVersion: previous.resourceVersion };
    const data = {
      ...(previous.request === 'immediate' ? {} : previous.data),
      [KEYS_ENTRY]: Buffer.from(writeKeySet(set)).toString('base64'),
    };
    const json = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data };
    return storedKeys(await this.#client.json({ method: 'PUT', path: this.#path, json, signal }));
  }

  async #find(signal: AbortSignal): Promise<unknown> {
    const found = await this.#client.json({ path: this.#path, signal });
    if (KEYS_ENTRY in recordIn(found, 'data')) return found;
    throw newNotFound({ group: '', resource: 'secrets' }, this.#location.name);
  }

  get #path(): string {
    return `/api/v1/namespaces/${this.#location.namespace}/secrets/${this.#location.name}`;
  }
}

/** Throws for an object that is not a Secret with a key set. */
export function storedKeys(object: unknown): StoredKeys {
  const metadata = recordIn(object, 'metadata');
  const data = recordIn(object, 'data');
  const keys = data[KEYS_ENTRY];
  const { resourceVersion } = metadata;
  if (typeof keys !== 'string') throw new Error(`the Secret has no ${KEYS_ENTRY}`);
  const request = recordIn(metadata, 'annotations')[ROTATE_ANNOTATION];
  return {
    set: readKeySet(Buffer.from(keys, 'base64').toString('utf8')),
    resourceVersion: text(resourceVersion),
    request: request === 'graceful' || request === 'immediate' ? request : undefined,
    metadata,
    data,
  };
}
