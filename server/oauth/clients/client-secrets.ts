import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Secrets of clients as digests under a key that lives and dies with the process: a dump of its memory shows none.
 * Each place of a secret (a file, a Secret) replaces its own.
 */
export class ClientSecrets {
  readonly #key = createSecretKey(randomBytes(32));
  /** What is compared with when there is no secret. */
  readonly #nobody = randomBytes(32);
  /** By client, then by place. */
  readonly #digests = new Map<string, Map<string, Buffer>>();

  /** Undefined or empty: the place holds none now. */
  set(client: string, place: string, secret: string | undefined): void {
    const places = this.#digests.get(client) ?? new Map<string, Buffer>();
    this.#digests.set(client, places);
    if (secret === undefined || secret === '') places.delete(place);
    else places.set(place, this.#digest(secret));
  }

  has(client: string): boolean {
    return (this.#digests.get(client)?.size ?? 0) > 0;
  }

  /** The same number of comparisons for every client, known or not, whichever of its secrets matches. */
  matches(client: string, secret: string): boolean {
    const shown = this.#digest(secret);
    const kept = [...(this.#digests.get(client)?.values() ?? [])];
    let found = false;
    for (let i = 0; i < this.#most(); i++) {
      const digest = kept[i];
      const equal = timingSafeEqual(shown, digest ?? this.#nobody);
      found = (equal && digest !== undefined) || found;
    }
    return found;
  }

  #most(): number {
    return Math.max(1, ...this.#digests.values().map((places) => places.size));
  }

  #digest(secret: string): Buffer {
    return createHmac('sha256', this.#key).update(secret).digest();
  }
}
