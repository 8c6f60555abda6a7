// Creates the first administrator in a cluster without users; only the leader runs this, so no other replica recreates an
// administrator that is deleted at once. A Secret contains the random initial password.

import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { administratorsGroup, groupName } from '../../../apis/iam/v1beta1/group-version.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { record, recordIn } from '../../../apis/reading/unknown-value.ts';
import { userCaller } from '../../authentication/user.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { fillSecret, isEmptySecret } from '../../cluster/secrets/installed-secret.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { pause } from '../../concurrency/pause.ts';
import type { NewCredential } from './account.ts';
import type { Users } from './user-directory.ts';

interface FirstAdministratorOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  /** Its namespace has the Secret. */
  readonly platform: { readonly name: string; readonly namespace: string };
  readonly users: Pick<Users, 'create' | 'read' | 'anyExists'>;
  readonly credentials: {
    /** Throws AlreadyExists if the user has a password. */
    create(user: string, credential: NewCredential, signal: AbortSignal): Promise<void>;
  };
  readonly hasher: {
    hash(
      password: string,
      options: { readonly caller: string; readonly signal: AbortSignal },
    ): Promise<string>;
  };
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
  readonly newPassword?: () => string;
}

export const ADMINISTRATOR = 'admin';
export const SECRET_NAME = 'ks-apiserver-admin';

/**
 * The Secret is filled before the user is created. Every step is idempotent, so crashes and a change of the leader do no harm.
 * An annotation of the Secret records that the bootstrap is complete.
 */
export class FirstAdministrator {
  readonly #options: FirstAdministratorOptions;
  readonly #state: string;
  readonly #secrets: string;

  constructor(options: FirstAdministratorOptions) {
    this.#options = options;
    this.#state = `${groupName(options.platform.name)}/first-administrator`;
    this.#secrets = `/api/v1/namespaces/${options.platform.namespace}/secrets`;
  }

  /** Retries until it succeeds or `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff({ initialMs: 500, maxMs: 30_000, random: Math.random });
    let warned = false;
    while (!signal.aborted) {
      try {
        await this.ensure(signal);
        return;
      } catch (err) {
        if (signal.aborted) return;
        if (!warned) this.#options.log.warn({ err }, 'cannot create the first administrator yet');
        warned = true;
        await pause(backoff.next(), signal);
      }
    }
  }

  /** Creates the first user if there is none, or completes an earlier attempt. */
  async ensure(signal: AbortSignal): Promise<void> {
    const { log, platform } = this.#options;
    const present = await this.#readSecret(signal);
    const state = stateOf(present, this.#state);
    if (state === 'done') return;
    // An operator can choose the password by filling the Secret, without the annotation. It applies only without users.
    if (state !== 'pending' && (await this.#options.users.anyExists(signal))) return;
    const secret = isEmptySecret(present) ? await this.#fillSecret(present, signal) : present;
    await this.#createUser(passwordIn(secret), signal);
    await this.#finish(secret, signal);
    log.info(
      { user: ADMINISTRATOR, in: `${platform.namespace}/${SECRET_NAME}` },
      'first administrator created; the initial password is in the Secret',
    );
  }

  async #createUser(password: string, signal: AbortSignal): Promise<void> {
    const { users, credentials, hasher, platform, now = Date.now } = this.#options;
    const spec = { displayName: 'Administrator', groups: [administratorsGroup(platform.name)] };
    const user =
      (await unlessExists(users.create({ metadata: { name: ADMINISTRATOR }, spec }, signal))) ??
      (await users.read(ADMINISTRATOR, signal));
    if (!user?.metadata.uid) throw new Error('the first administrator was deleted during its creation');
    const credential = {
      userUID: user.metadata.uid,
      passwordHash: await hasher.hash(password, { caller: userCaller({ name: ADMINISTRATOR }), signal }),
      mustChange: true,
      changedAt: now(),
    };
    await unlessExists(credentials.create(ADMINISTRATOR, credential, signal));
  }

  async #readSecret(signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#options.client.json({ path: `${this.#secrets}/${SECRET_NAME}`, signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** After a conflict another replica has filled the Secret. */
  async #fillSecret(present: unknown, signal: AbortSignal): Promise<unknown> {
    const { client, platform, newPassword = randomPassword } = this.#options;
    const content = {
      annotations: { [this.#state]: 'pending' },
      data: { username: encode(ADMINISTRATOR), password: encode(newPassword()) },
    };
    const filling = fillSecret(
      client,
      { namespace: platform.namespace, name: SECRET_NAME },
      present,
      content,
      signal,
    );
    return (await unlessExists(filling)) ?? (await this.#readSecret(signal));
  }

  /** Conflicts are ignored: another replica has completed the bootstrap. */
  async #finish(secret: unknown, signal: AbortSignal): Promise<void> {
    const metadata = recordIn(secret, 'metadata');
    const annotations = { ...recordIn(metadata, 'annotations'), [this.#state]: 'done' };
    const json = { ...record(secret), metadata: { ...metadata, annotations } };
    const path = `${this.#secrets}/${SECRET_NAME}`;
    try {
      await this.#options.client.json({ method: 'PUT', path, json, signal });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

/** Returns undefined if the object exists already, or has changed. */
async function unlessExists<T>(creation: Promise<T>): Promise<T | undefined> {
  try {
    return await creation;
  } catch (error) {
    if (isAlreadyExists(error) || isConflict(error)) return undefined;
    throw error;
  }
}

function stateOf(secret: unknown, annotation: string): unknown {
  return recordIn(recordIn(secret, 'metadata'), 'annotations')[annotation];
}

function passwordIn(secret: unknown): string {
  const { password } = recordIn(secret, 'data');
  const decoded = typeof password === 'string' ? Buffer.from(password, 'base64').toString('utf8') : '';
  if (decoded === '') throw new Error(`the Secret ${SECRET_NAME} has no key password`);
  return decoded;
}

/** 144 bits, in an alphabet that needs no quoting in a shell. */
function randomPassword(): string {
  return randomBytes(18).toString('base64url');
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
