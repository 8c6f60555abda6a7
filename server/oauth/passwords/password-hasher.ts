// Hashes passwords with argon2id, and verifies argon2id hashes and imported bcrypt hashes. The cost and the
// concurrency of hashing are bounded.

import { randomBytes } from 'node:crypto';
import { hash as argon2Hash, parseOptions as argon2Options, verify as argon2Verify } from '@node-rs/argon2';
import { parseOptions as bcryptOptions, verify as bcryptVerify } from '@node-rs/bcrypt';
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { Admission } from '../../admission/admission.ts';
import type { Seat, Seats } from '../../admission/seats.ts';
import { NEVER_ABORTED } from '../../concurrency/aborted.ts';

interface HasherOptions {
  /** Bytes. */
  readonly memory: number;
  /** Passes over the memory. */
  readonly iterations: number;
  readonly queue: HashQueueLimits;
  /** Default: an Admission without metrics. */
  readonly admission?: Pick<Admission, 'pool'>;
}

interface HashQueueLimits {
  /** Hashes computed concurrently. */
  readonly concurrency: number;
  /** Maximum number of waiting requests. */
  readonly length: number;
  /** Maximum waiting time, in ms. */
  readonly timeoutMs: number;
}

/** Cost of a hash: the recommendation of OWASP for argon2id. The parameters are part of each hash, so they can change. */
export const PASSWORD_HASH = { memory: 19 << 20, iterations: 2 } as const;

/**
 * With 30 ms for a hash, the last of 64 requests waits two seconds on one core. In a longer queue, clients would give up and
 * retry. Half of the queue is for users who have signed in from the same address before.
 */
export const HASH_QUEUE = { length: 64, timeoutMs: 2_000 } as const;

/**
 * Flow of a request in fair queuing. `known`: the user is authenticated, or has signed in from the same address before.
 * `unknown`: all other sign-ins.
 */
type HashFlow = 'known' | 'unknown';

interface HashOptions {
  /** Shares the queue with the other callers. */
  readonly caller: string;
  readonly signal?: AbortSignal | undefined;
}

interface VerifyOptions {
  /** Default: `unknown`. */
  readonly flow?: HashFlow;
  /** Shares the queue with the other callers of the flow: a known user, or the network of an unknown one. */
  readonly caller?: string;
  readonly signal?: AbortSignal | undefined;
  /** Called when the verification begins, after the wait in the queue. Its error rejects the verification. */
  readonly begin?: () => void;
}

/** Accepted length of a password, in characters. NIST SP 800-63B requires servers to accept at least 64 characters. */
export const PASSWORD_LENGTH = { min: 8, max: 1024 } as const;

/** bcrypt reads only the first 72 bytes. Longer passwords are rejected, because their end would not be verified. */
const BCRYPT_BYTES = 72;
// Maximum cost of stored hashes: about one second for bcrypt, 1 GiB for argon2. Verification of a more expensive hash would
// be a denial of service.
const MAX_BCRYPT_COST = 14;
const MAX_ARGON2 = { memoryCost: 1024 * 1024, timeCost: 64, parallelism: 16 };

/** Whether a password is longer than the policy allows, so that no user can have it. */
export function isTooLong(password: string): boolean {
  // A character is one or two UTF-16 units, so most strings need no split.
  if (password.length <= PASSWORD_LENGTH.max) return false;
  return password.length > 2 * PASSWORD_LENGTH.max || Array.from(password).length > PASSWORD_LENGTH.max;
}

export class PasswordHasher {
  readonly #memoryCost: number;
  readonly #timeCost: number;
  readonly #queue: HashQueue;
  #dummy: Promise<string> | undefined;

  constructor({ memory, iterations, queue, admission }: HasherOptions) {
    this.#memoryCost = Math.ceil(memory / 1024);
    this.#timeCost = iterations;
    this.#queue = new HashQueue(queue, admission);
  }

  /** Creates the dummy hash for unknown users in advance. */
  async prepare(): Promise<void> {
    await this.#dummyHash();
  }

  /**
   * Returns a PHC string with a random salt. Runs in the flow `known`, so only authenticated users may use it. Throws
   * ServiceUnavailable when the queue is full.
   */
  hash(password: string, options: HashOptions): Promise<string> {
    return this.#queue.run({ ...options, flow: 'known' }, () => this.#hash(password));
  }

  /**
   * Whether `stored` is a hash of `password`. Returns false after the same time if `stored` is undefined or invalid. Throws
   * ServiceUnavailable when the queue is full.
   */
  verify(stored: string | undefined, password: string, options: VerifyOptions = {}): Promise<boolean> {
    const work = async (): Promise<boolean> => {
      options.begin?.();
      const kind = kindOf(stored);
      if (kind === 'argon2' && stored !== undefined) return argon2Verify(stored, password);
      if (kind === 'bcrypt' && stored !== undefined && Buffer.byteLength(password) <= BCRYPT_BYTES) {
        return bcryptVerify(password, stored);
      }
      await argon2Verify(await this.#dummyHash(), password);
      return false;
    };
    return this.#queue.run(options, work);
  }

  /** Whether a hash has another algorithm or a lower cost than new hashes. */
  needsRehash(stored: string): boolean {
    if (kindOf(stored) !== 'argon2' || !stored.startsWith('$argon2id$')) return true;
    const { memoryCost, timeCost } = argon2Options(stored);
    return memoryCost < this.#memoryCost || timeCost < this.#timeCost;
  }

  #hash(password: string): Promise<string> {
    return argon2Hash(password, {
      memoryCost: this.#memoryCost,
      timeCost: this.#timeCost,
      parallelism: 1,
    });
  }

  #dummyHash(): Promise<string> {
    this.#dummy ??= this.#hash(randomBytes(32).toString('base64')).catch((error: unknown) => {
      // For instance out of memory; the next call retries.
      this.#dummy = undefined;
      throw error;
    });
    return this.#dummy;
  }
}

/**
 * Queue that bounds concurrent hashing, because one hash occupies a core and 19 MiB of memory. All callers of the flow `unknown`
 * share a queue of half the length, and are one caller of the hashes beside the known users. A flood of sign-ins from unknown
 * addresses therefore cannot displace known users, and one network cannot displace the others.
 */
export class HashQueue {
  readonly #hashes: Seats;
  readonly #unknown: Seats;

  constructor(
    { concurrency, length, timeoutMs }: HashQueueLimits,
    admission: Pick<Admission, 'pool'> = new Admission(),
  ) {
    const shared = {
      capacity: concurrency,
      sharing: 'queue',
      waitMs: timeoutMs,
      refusal: () => newServiceUnavailable('too many sign-ins at a time', 2),
    } as const;
    this.#hashes = admission.pool('password-hashes', { ...shared, waiting: length });
    this.#unknown = admission.pool('unknown-sign-ins', { ...shared, waiting: Math.floor(length / 2) });
  }

  /** Throws ServiceUnavailable when the queue is full or the request waited too long. Work that has begun is completed. */
  async run<T>(
    { flow = 'unknown', caller = '', signal = NEVER_ABORTED }: VerifyOptions,
    work: () => Promise<T>,
  ): Promise<T> {
    using _turn: Seat | undefined =
      flow === 'unknown' ? await this.#unknown.take(caller, { signal }) : undefined;
    using _seat = await this.#hashes.take(flow === 'unknown' ? UNKNOWN : caller, { signal });
    return await work();
  }
}

/** All unknown callers together, among the callers of the hashes. */
const UNKNOWN = 'unknown';

/**
 * Returns the number of concurrent hashes: one for each core. One thread of libuv's pool is reserved for file system and DNS
 * operations.
 */
export function hashConcurrency(cores: number, threads: number): number {
  return Math.max(1, Math.min(cores, threads - 1));
}

function kindOf(stored: string | undefined): 'argon2' | 'bcrypt' | undefined {
  if (stored === undefined) return undefined;
  try {
    if (stored.startsWith('$argon2')) {
      const { memoryCost, timeCost, parallelism } = argon2Options(stored);
      const bounded =
        memoryCost <= MAX_ARGON2.memoryCost &&
        timeCost <= MAX_ARGON2.timeCost &&
        parallelism <= MAX_ARGON2.parallelism;
      return bounded ? 'argon2' : undefined;
    }
    return bcryptOptions(stored).cost <= MAX_BCRYPT_COST ? 'bcrypt' : undefined;
  } catch {
    return undefined;
  }
}
