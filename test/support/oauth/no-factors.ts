// The factors of users who have none.
import { type AuthenticatorsStore, NO_FACTORS } from '../../../server/oauth/factors/authenticators-store.ts';

export const NO_AUTHENTICATORS: Pick<AuthenticatorsStore, 'synced' | 'of' | 'all' | 'update'> = {
  synced: true,
  of: () => NO_FACTORS,
  *all() {},
  update: async (_user, change) => change(NO_FACTORS),
};
