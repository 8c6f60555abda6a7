import type { Account } from '../../../server/oauth/users/account.ts';

/** An enabled user with a name only, and `changes`. */
export function newAccount(name: string, changes: Partial<Account> = {}): Account {
  return { name, uid: `uid-of-${name}`, email: '', displayName: '', groups: [], disabled: false, ...changes };
}
