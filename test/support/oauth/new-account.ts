import type { Account } from '../../../server/oauth/users/account.ts';

/** A user who may sign in, with nothing but a name, but for what `changes` says. */
export function newAccount(name: string, changes: Partial<Account> = {}): Account {
  return { name, uid: `uid-of-${name}`, email: '', displayName: '', groups: [], disabled: false, ...changes };
}
