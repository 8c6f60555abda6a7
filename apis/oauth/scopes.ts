/** The supported OAuth scopes. Scopes select the claims of ID tokens and of userinfo responses. */
export const SCOPES = ['openid', 'profile', 'email', 'groups'] as const;
