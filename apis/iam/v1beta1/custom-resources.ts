// Definitions of all custom resources of the IAM API group: User, Credential,
// Identity, Authenticators and Session.
import { AUTHENTICATORS } from './authenticators-resource.ts';
import { CREDENTIAL } from './credential-resource.ts';
import type { CustomResource } from './custom-resource.ts';
import { IDENTITY } from './identity-resource.ts';
import { SESSION } from './session-resource.ts';
import { USER } from './user-resource.ts';

export const CUSTOM_RESOURCES: readonly CustomResource[] = [
  USER,
  CREDENTIAL,
  IDENTITY,
  AUTHENTICATORS,
  SESSION,
];
