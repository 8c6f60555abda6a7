// The parts of identity providers in a server without any.
import type { SessionFreshness } from '../../../server/oauth/providers/session-freshness.ts';
import type { IdentityDirectory } from '../../../server/oauth/users/identity-store.ts';

export const NO_IDENTITIES: IdentityDirectory = { synced: true, get: () => undefined };
export const NO_FRESHNESS: Pick<SessionFreshness, 'renewed'> = { renewed: async (session) => session };
