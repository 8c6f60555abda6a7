// Provides decoy hashes, which are verified when the user name is unknown. The response time does not reveal which
// users exist.
interface DecoyHashesOptions {
  /** Stored hashes of all users. */
  readonly hashes: () => Iterable<string>;
  /** Keyed digest of a name in hexadecimal digits, unpredictable without the key. */
  readonly digest: (name: string) => string;
  /** Monotonic ms. */
  readonly monotonic: () => number;
}

/** Minimum interval between two counts of the stored hashes, because a count takes linear time. */
const RECOUNT_MS = 60_000;
/** Hexadecimal digits that fit into a safe integer. */
const DIGITS = 12;
const BCRYPT = /^(\$2[aby]\$\d\d\$)[./A-Za-z0-9]{53}$/;
const ARGON2 = /^(\$argon2(?:id|i|d)\$v=\d+\$[a-z0-9=,]+\$)[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;

/**
 * The decoys have the same distribution of algorithms and costs as the stored hashes, because verifying an imported
 * hash can take several times longer than verifying a new one.
 */
export class DecoyHashes {
  readonly #options: DecoyHashesOptions;
  /** Decoy hashes with the number of users whose hash has the same algorithm and cost. */
  #decoys: readonly (readonly [decoy: string, users: number])[] = [];
  #users = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DecoyHashesOptions) {
    this.#options = options;
  }

  /**
   * Returns the decoy of a name: a hash that no password matches, with the algorithm and cost of a stored hash. A keyed
   * digest of the name picks it. Returns undefined while no hash is stored.
   */
  of(name: string): string | undefined {
    const { digest, monotonic } = this.#options;
    const now = monotonic();
    if (now - this.#countedAt >= RECOUNT_MS) {
      this.#count();
      this.#countedAt = now;
    }
    const fraction = Number.parseInt(digest(name).slice(0, DIGITS), 16) / 16 ** DIGITS;
    let position = Math.floor(fraction * this.#users);
    for (const [decoy, users] of this.#decoys) {
      if (position < users) return decoy;
      position -= users;
    }
    return undefined;
  }

  #count(): void {
    const counts = new Map<string, number>();
    this.#users = 0;
    for (const hash of this.#options.hashes()) {
      const decoy = decoyOf(hash);
      if (decoy === undefined) continue;
      counts.set(decoy, (counts.get(decoy) ?? 0) + 1);
      this.#users++;
    }
    // Sorted, so that the decoy of a name stays the same while the distribution does.
    this.#decoys = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Returns a hash of the same algorithm and cost, with a constant salt and digest. */
function decoyOf(hash: string): string | undefined {
  const bcrypt = BCRYPT.exec(hash)?.[1];
  if (bcrypt !== undefined) return `${bcrypt}${'.'.repeat(53)}`;
  const argon2 = ARGON2.exec(hash)?.[1];
  return argon2 === undefined ? undefined : `${argon2}${'A'.repeat(22)}$${'A'.repeat(43)}`;
}
