/** The supported scopes: they select the claims of ID tokens and userinfo. */
export const SCOPES = ['openid', 'profile', 'email', 'groups'] as const;
