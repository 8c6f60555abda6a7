import type { Account } from '../../../server/oauth/users/account.ts';

/** Returns an enabled user with this name and the fields in `changes`. */
export function newAccount(name: string, changes: Partial<Account> = {}): Account {
  return { name, uid: `uid-of-${name}`, email: '', displayName: '', groups: [], disabled: false, ...changes };
}
