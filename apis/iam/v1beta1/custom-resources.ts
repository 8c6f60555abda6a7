import { CREDENTIAL } from './credential.ts';
import type { CustomResource } from './custom-resource.ts';
import { SESSION } from './session.ts';
import { USER } from './user.ts';

/** All that the platform keeps in the cluster. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [USER, CREDENTIAL, SESSION];
