/** The scopes that mean something to the server itself: what its id tokens and userinfo say. */
export const SCOPES = ['openid', 'profile', 'email', 'groups'] as const;
