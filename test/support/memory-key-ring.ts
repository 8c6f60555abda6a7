import { ImportedKeys } from '../../server/oauth/keys/imported-keys.ts';
import type { KeyRing } from '../../server/oauth/keys/key-ring.ts';
import { newKey } from '../../server/oauth/keys/new-key.ts';
import { firstSet } from '../../server/oauth/keys/rotation.ts';

/** Keys that no Secret holds. */
export async function memoryKeyRing(): Promise<KeyRing> {
  return ImportedKeys.from(firstSet(await newKey(), 0));
}
