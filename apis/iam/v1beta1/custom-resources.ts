// Lists all custom resources of the IAM API group: users, credentials and sessions.
import { CREDENTIAL } from './credential.ts';
import type { CustomResource } from './custom-resource.ts';
import { SESSION } from './session.ts';
import { USER } from './user.ts';

/** All custom resources of the IAM API group: users, credentials and sessions. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [USER, CREDENTIAL, SESSION];
