// What a password is checked against when there is no user of that name. Imported users bring hashes that take several
// times as long as ours, so the same hash for all unknown names would give imported users away. Instead, unknown names
// get slow and quick hashes in the same proportion as users have them; which name gets which depends on our keys.
export interface DecoysOptions {
  /** Of all users. */
  readonly hashes: () => Iterable<string>;
  /** Of a name: as many hexadecimal digits as a MAC has, which nobody can predict. */
  readonly digest: (name: string) => string;
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

/** Users come and go slowly, and there may be many. */
const KEPT_MS = 60_000;
/** As many hexadecimal digits as always fit into a safe integer. */
const DIGITS = 12;
const BCRYPT = /^(\$2[aby]\$\d\d\$)[./A-Za-z0-9]{53}$/;
const ARGON2 = /^(\$argon2(?:id|i|d)\$v=\d+\$[a-z0-9=,]+\$)[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;

export class Decoys {
  readonly #options: DecoysOptions;
  /** How many users have each of them. */
  #shapes: readonly (readonly [shape: string, users: number])[] = [];
  #users = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DecoysOptions) {
    this.#options = options;
  }

  /** A hash of the kind and cost that some user has, of no password; undefined while there are no users. */
  of(name: string): string | undefined {
    const { digest, monotonic } = this.#options;
    const now = monotonic();
    if (now - this.#countedAt >= KEPT_MS) {
      this.#count();
      this.#countedAt = now;
    }
    const share = Number.parseInt(digest(name).slice(0, DIGITS), 16) / 16 ** DIGITS;
    let place = Math.floor(share * this.#users);
    for (const [shape, users] of this.#shapes) {
      if (place < users) return shape;
      place -= users;
    }
    return undefined;
  }

  #count(): void {
    const counts = new Map<string, number>();
    this.#users = 0;
    for (const hash of this.#options.hashes()) {
      const shape = shapeOf(hash);
      if (shape === undefined) continue;
      counts.set(shape, (counts.get(shape) ?? 0) + 1);
      this.#users++;
    }
    // In order, so that a name changes its kind only when the shares do: as a user does at his first sign-in.
    this.#shapes = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** The same kind and cost, with a random salt and digest. */
function shapeOf(hash: string): string | undefined {
  const bcrypt = BCRYPT.exec(hash)?.[1];
  if (bcrypt !== undefined) return `${bcrypt}${'.'.repeat(53)}`;
  const argon2 = ARGON2.exec(hash)?.[1];
  return argon2 === undefined ? undefined : `${argon2}${'A'.repeat(22)}$${'A'.repeat(43)}`;
}
