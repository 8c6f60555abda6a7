// Reads and writes the Secret with the signing keys. An operator requests a rotation with an annotation of the
// Secret.
import { isNotFound, newNotFound } from '../../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { fillSecret, isEmptySecret, type SecretLocation } from '../secrets/installed-secret.ts';
import { type KeySet, readKeySet, writeKeySet } from './key-set.ts';

/** `kubectl annotate secret … ks-apiserver/rotate-keys=graceful`; `npm run keys` writes it. */
export const ROTATE_ANNOTATION = 'ks-apiserver/rotate-keys';

const DATA_KEY = 'keys.json';

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
  /** The metadata, which a replace preserves. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export class KeySecret {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #location: SecretLocation;

  constructor(client: Pick<ClusterClient, 'json'>, location: SecretLocation) {
    this.#client = client;
    this.#location = location;
  }

  /** Throws NotFound when the Secret is empty or does not exist, and an Error when it contains no key set. */
  async read(signal: AbortSignal): Promise<StoredKeys> {
    const found = await this.#client.json({ path: this.#path, signal });
    if (isEmptySecret(found)) throw newNotFound({ group: '', resource: 'secrets' }, this.#location.name);
    return storedKeys(found);
  }

  /** Stores the first keys. Returns the keys of another replica that was faster. */
  async create(set: KeySet, signal: AbortSignal): Promise<StoredKeys> {
    const present = await this.#client.json({ path: this.#path, signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (!isEmptySecret(present)) return storedKeys(present);
    const content = { data: dataOf(set) };
    return storedKeys(await fillSecret(this.#client, this.#location, present, content, signal));
  }

  /** Throws Conflict when the Secret has changed since `previous`. Removes the operator's request. */
  async replace(previous: StoredKeys, set: KeySet, signal: AbortSignal): Promise<StoredKeys> {
    const annotations = { ...recordIn(previous.metadata, 'annotations') };
    delete annotations[ROTATE_ANNOTATION];
    const metadata = { ...previous.metadata, annotations, resourceVersion: previous.resourceVersion };
    return storedKeys(
      await this.#client.json({ method: 'PUT', path: this.#path, json: secret(set, metadata), signal }),
    );
  }

  get #path(): string {
    return `/api/v1/namespaces/${this.#location.namespace}/secrets/${this.#location.name}`;
  }
}

/** Throws for an object that is not a Secret with a key set. */
export function storedKeys(object: unknown): StoredKeys {
  const metadata = recordIn(object, 'metadata');
  const data = recordIn(object, 'data')[DATA_KEY];
  const { resourceVersion } = metadata;
  if (typeof data !== 'string') throw new Error(`the Secret has no ${DATA_KEY}`);
  const request = recordIn(metadata, 'annotations')[ROTATE_ANNOTATION];
  return {
    set: readKeySet(Buffer.from(data, 'base64').toString('utf8')),
    resourceVersion: text(resourceVersion),
    request: request === 'graceful' || request === 'immediate' ? request : undefined,
    metadata,
  };
}

function secret(set: KeySet, metadata: Readonly<Record<string, unknown>>): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata,
    data: dataOf(set),
  };
}

function dataOf(set: KeySet): Readonly<Record<string, string>> {
  return { [DATA_KEY]: Buffer.from(writeKeySet(set)).toString('base64') };
}
