// Encrypts the state that a provider needs for revalidation, such as an upstream refresh token, before a session stores it (RFC 7516).
import { CompactEncrypt, compactDecrypt } from 'jose';
import type { KeyRing } from '../keys/key-ring.ts';

/** The MAC of this purpose is the key: 256 bits that only the holders of the MAC keys can derive. */
const PURPOSE = 'upstream-encryption-key';

export class UpstreamSeal {
  readonly #keys: Pick<KeyRing, 'macs'>;

  constructor(keys: Pick<KeyRing, 'macs'>) {
    this.#keys = keys;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  seal(upstream: string): Promise<string> {
    const [key] = this.#keys.macs(PURPOSE, '');
    return new CompactEncrypt(Buffer.from(upstream))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(key);
  }

  /** Undefined for a text that was sealed with a key that is not kept any more. */
  async open(sealed: string | undefined): Promise<string | undefined> {
    if (sealed === undefined) return undefined;
    for (const key of this.#keys.macs(PURPOSE, '')) {
      const opened = await compactDecrypt(sealed, key).catch(() => undefined);
      if (opened) return Buffer.from(opened.plaintext).toString('utf8');
    }
    return undefined;
  }
}
