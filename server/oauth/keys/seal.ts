// Encrypts what only this server may read before it leaves the server, such as a refresh token of a provider in a session (RFC 7516).
import { CompactEncrypt, compactDecrypt } from 'jose';
import type { KeyRing } from './key-ring.ts';

type SealPurpose =
  | 'upstream state of a session'
  | 'redirect to a provider'
  | 'pushed authorization request'
  | 'person who chooses a user name'
  | 'TOTP secret';

export class Seal {
  readonly #keys: Pick<KeyRing, 'macs'>;
  readonly #purpose: string;

  /** A text is opened only for the purpose that it was sealed for. */
  constructor(keys: Pick<KeyRing, 'macs'>, purpose: SealPurpose) {
    this.#keys = keys;
    this.#purpose = `encryption key of ${purpose}`;
  }

  /** `owner`: the text is opened only for the same one. Throws ServiceUnavailable (StatusError) while there is no key. */
  seal(text: string, owner = ''): Promise<string> {
    // The MAC is the key: 256 bits that only the holders of the MAC keys can derive.
    const [key] = this.#keys.macs(this.#purpose, owner);
    return new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(key);
  }

  /** Undefined for a text that was sealed with a key that is not kept any more. */
  async open(sealed: string | undefined, owner = ''): Promise<string | undefined> {
    if (sealed === undefined) return undefined;
    for (const key of this.#keys.macs(this.#purpose, owner)) {
      const opened = await openedWith(key, sealed);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  /** Whether a text is sealed with the newest key. */
  async isCurrent(sealed: string, owner: string): Promise<boolean> {
    const [newest] = this.#keys.macs(this.#purpose, owner);
    return (await openedWith(newest, sealed)) !== undefined;
  }
}

async function openedWith(key: Buffer, sealed: string): Promise<string | undefined> {
  const opened = await compactDecrypt(sealed, key).catch(() => undefined);
  return opened && Buffer.from(opened.plaintext).toString('utf8');
}
