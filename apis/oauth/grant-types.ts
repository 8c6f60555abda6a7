// Lists the `grant_type` values of the token endpoint.

/** `grant_type` values of the token endpoint. */
export const GRANT_TYPES = [
  'password',
  'refresh_token',
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const;

export type GrantType = (typeof GRANT_TYPES)[number];
