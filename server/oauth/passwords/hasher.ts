// Password hashes: made with argon2id, checked also when they are the bcrypt hashes of imported users. It owns the
// algorithms and their bounds; sign-in.ts knows whose hash it is and what follows from it.
import { randomBytes } from 'node:crypto';
import { hash as argon2Hash, parseOptions as argon2Options, verify as argon2Verify } from '@node-rs/argon2';
import { parseOptions as bcryptOptions, verify as bcryptVerify } from '@node-rs/bcrypt';
import { type HashFlow, HashQueue, type HashQueueLimits } from './hash-queue.ts';

export interface HasherOptions {
  /** Bytes. */
  readonly memory: number;
  /** Passes over the memory. */
  readonly iterations: number;
  readonly queue: HashQueueLimits;
}

export interface VerifyOptions {
  /** `unknown` when none is given. */
  readonly flow?: HashFlow;
  readonly signal?: AbortSignal;
}

/** bcrypt reads no further: of a longer password only a part would count. */
const BCRYPT_BYTES = 72;
// No honest import has hashes above these bounds (a second, or a gigabyte); one above them is an attack.
const MAX_BCRYPT_COST = 14;
const MAX_ARGON2 = { memoryCost: 1024 * 1024, timeCost: 64, parallelism: 16 };

export class PasswordHasher {
  readonly #memoryCost: number;
  readonly #timeCost: number;
  readonly #queue: HashQueue;
  #dummy: Promise<string> | undefined;

  constructor({ memory, iterations, queue }: HasherOptions) {
    this.#memoryCost = Math.ceil(memory / 1024);
    this.#timeCost = iterations;
    this.#queue = new HashQueue(queue);
  }

  /** Makes the hash for unknown users before anybody asks for one. */
  async prepare(): Promise<void> {
    await this.#unknown();
  }

  /**
   * A PHC string with a random salt. For authenticated callers only: it runs in the flow `known`. Throws
   * ServiceUnavailable when the queue is full.
   */
  hash(password: string, signal?: AbortSignal): Promise<string> {
    return this.#queue.run('known', () => this.#hash(password), signal);
  }

  /**
   * Whether `stored` is a hash of `password`. Without one, or with one that cannot be read, it takes as long and is
   * false. Throws ServiceUnavailable when too many want it at a time.
   */
  verify(
    stored: string | undefined,
    password: string,
    { flow = 'unknown', signal }: VerifyOptions = {},
  ): Promise<boolean> {
    const work = async (): Promise<boolean> => {
      const kind = kindOf(stored);
      if (kind === 'argon2' && stored !== undefined) return argon2Verify(stored, password);
      if (kind === 'bcrypt' && stored !== undefined && Buffer.byteLength(password) <= BCRYPT_BYTES) {
        return bcryptVerify(password, stored);
      }
      await argon2Verify(await this.#unknown(), password);
      return false;
    };
    return this.#queue.run(flow, work, signal);
  }

  /** Whether a hash is of another kind, or weaker than those made now. */
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

  #unknown(): Promise<string> {
    this.#dummy ??= this.#hash(randomBytes(32).toString('base64')).catch((error: unknown) => {
      // Out of memory, perhaps: the next one tries again.
      this.#dummy = undefined;
      throw error;
    });
    return this.#dummy;
  }
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
