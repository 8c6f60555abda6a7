// SharedSecret: a Secret with entries that all replicas use, such as the signing keys and the serving CA. The first
// replica creates an entry that is missing.
import type { Logger } from 'pino';
import { isAlreadyExists, isConflict } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ClusterClient } from '../connection/client.ts';
import { followObject } from '../reflector/followed-object.ts';
import { fillSecret, type SecretLocation } from './installed-secret.ts';

interface SharedSecretOptions extends SecretLocation {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Monotonic ms. */
  readonly monotonic?: () => number;
}

/** One key of `data`. */
interface SecretEntry {
  readonly key: string;
  /** For logs, for instance `signing keys`. */
  readonly title: string;
  /** The first content, also after an operator has removed the entry. */
  create(): Promise<string>;
  /** Receives the content after every change of the Secret. Throws for invalid content, which is never overwritten. */
  changed(content: string, secret: unknown): void;
}

export class SharedSecret {
  readonly #options: SharedSecretOptions;
  readonly #missing = new Map<SecretEntry, Wakeup>();
  /** The last observed version; undefined if the Secret does not exist. */
  #present: unknown;

  constructor(options: SharedSecretOptions) {
    this.#options = options;
  }

  /** Adds an entry. Call it before `run`. */
  keep(entry: SecretEntry): void {
    this.#missing.set(entry, new Wakeup());
  }

  /** Replaces the content of an entry. Throws Conflict if the Secret has changed since it was last observed. */
  async write(key: string, content: string, signal: AbortSignal): Promise<void> {
    const data = { [key]: Buffer.from(content).toString('base64') };
    await fillSecret(this.#options.client, this.#options, this.#present, { data }, signal);
  }

  /** Watches the Secret, and creates missing entries, until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#missing.size === 0) return;
    const { client, log, namespace, name } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const changed = (secret: unknown): void => {
      this.#present = secret;
      for (const [entry, missing] of this.#missing) {
        const content = contentOf(secret, entry.key);
        if (content === undefined) missing.wake();
        else this.#deliver(entry, content);
      }
    };
    await Promise.all([
      followObject({ client, log, path, namespace, name }, changed, signal),
      ...[...this.#missing].map(([entry, missing]) => this.#create(entry, missing, signal)),
    ]);
  }

  #deliver(entry: SecretEntry, content: string): void {
    try {
      entry.changed(content, this.#present);
    } catch (err) {
      const { log, name } = this.#options;
      log.warn({ err, secretName: name }, `the Secret of the ${entry.title} is invalid`);
    }
  }

  async #create(entry: SecretEntry, missing: Wakeup, signal: AbortSignal): Promise<void> {
    const { log, name } = this.#options;
    const backoff = new Backoff({ initialMs: 500, maxMs: 30_000, random: Math.random });
    const failures = new RepeatedFailure(this.#options.monotonic);
    while (await missing.next(signal)) {
      try {
        const content = await entry.create();
        if (contentOf(this.#present, entry.key) !== undefined) continue;
        await this.write(entry.key, content, signal);
        log.info({ secretName: name }, `${entry.title} created`);
        backoff.reset();
        failures.end();
      } catch (err) {
        if (signal.aborted) return;
        // The watch delivers the version of the faster writer.
        if (isAlreadyExists(err) || isConflict(err)) continue;
        const level = failures.isNews(messageOf(err)) ? 'warn' : 'debug';
        log[level]({ err, secretName: name }, `cannot create the ${entry.title}`);
        await pause(backoff.next(), signal);
        missing.wake();
      }
    }
  }
}

function contentOf(secret: unknown, key: string): string | undefined {
  const content = recordIn(secret, 'data')[key];
  return typeof content === 'string' ? Buffer.from(content, 'base64').toString('utf8') : undefined;
}
