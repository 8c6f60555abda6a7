// Limits of sign-ins, tokens and reviews.
import { MAX_PASSKEYS } from '../../apis/iam/v1beta1/authenticators-resource.ts';
import { MAX_GROUP_NAME, MAX_GROUPS } from '../../apis/iam/v1beta1/user-resource.ts';
import {
  LOOKUP_WAIT_MS,
  LOOKUPS,
  NAMESPACE_REVIEWS,
  WAITING_LOOKUPS,
} from '../../server/admission/admission.ts';
import { MAX_PERMISSIONS } from '../../server/authorization/namespace-scopes.ts';
import { TIMEOUT_MS as EXEC_TIMEOUT_MS } from '../../server/cluster/connection/exec-plugins.ts';
import { MAX_REFUSAL_MS } from '../../server/cluster/reviews.ts';
import { MARKS_PER_CLIENT } from '../../server/oauth/codes/authorization-code.ts';
import { RECOVERY_CODES } from '../../server/oauth/factors/recovery-codes.ts';
import { HASH_QUEUE, PASSWORD_HASH } from '../../server/oauth/passwords/password-hasher.ts';
import { SESSIONS_PER_USER } from '../../server/oauth/sessions/session-creator.ts';
import { FACTOR_DELAYS, PERSON_DELAY, THROTTLE } from '../../server/oauth/throttle/delays.ts';
import { MAX_RECORDS } from '../../server/oauth/throttle/shared-failures.ts';
import { MAX_TOKEN } from '../../server/oauth/tokens/access-token.ts';
import { bytes, count, type Limit, time } from './limit.ts';

const WAITING = `${count(WAITING_LOOKUPS)} more wait for ${time(LOOKUP_WAIT_MS)}`;

export const IDENTITY_ROWS: readonly Limit[] = [
  ['password hashes at a time', 'the number of cores, and less than `UV_THREADPOOL_SIZE`', 'sign-ins wait'],
  [
    'sign-ins that wait for a password hash',
    `${HASH_QUEUE.length}, ${time(HASH_QUEUE.timeoutMs)}`,
    '503; half of the queue is for users who have signed in from the address before',
  ],
  [
    'memory and iterations of an argon2id hash',
    `${bytes(PASSWORD_HASH.memory)}, ${PASSWORD_HASH.iterations}`,
    '—',
  ],
  [
    'failed sign-ins from an IPv4 address or IPv6 /64 without delay',
    `${THROTTLE.sourceFailures}`,
    'a delay of at most a minute',
  ],
  [
    'first delay after failed sign-ins; with a directory',
    `${time(THROTTLE.delay)}; ${time(PERSON_DELAY)}`,
    `each failure doubles it, up to ${time(THROTTLE.maxDelay)}; reset after ${time(THROTTLE.reset)} without a failure`,
  ],
  [
    'accounts and addresses with failed sign-ins; shared ones',
    `${count(THROTTLE.entries)}; ${count(MAX_RECORDS)}`,
    'the oldest, or those with the fewest failures, are dropped',
  ],
  [
    'first delay after wrong second factors',
    time(THROTTLE.delay),
    `each failure doubles it, up to ${time(FACTOR_DELAYS.maxDelay)}; reset after ${time(FACTOR_DELAYS.reset)} without a failure`,
  ],
  [
    'passkeys of a user; recovery codes',
    `${MAX_PASSKEYS}; ${RECOVERY_CODES}`,
    'new recovery codes replace all others',
  ],
  ['sessions of a user', `${SESSIONS_PER_USER}`, 'the least recently used one ends'],
  [
    'authorization codes of a user and client in three minutes',
    `${MARKS_PER_CLIENT}`,
    '503 from the token endpoint',
  ],
  ['groups of a user; characters of a name', `${MAX_GROUPS}; ${MAX_GROUP_NAME}`, 'the user cannot be stored'],
  ['access token', bytes(MAX_TOKEN), 'no sign-in'],
  ['reviews and lookups of sessions and users at a time', `${LOOKUPS}`, WAITING],
  ['reviews of the namespaces of lists at a time', `${NAMESPACE_REVIEWS}`, WAITING],
  ['TTL of failed TokenReviews and denials', time(MAX_REFUSAL_MS), 'reviewed again'],
  [
    'cached permissions in single namespaces',
    `${count(MAX_PERMISSIONS)}, about 90 MB`,
    'the oldest of the caller with the most is evicted',
  ],
  ["exec plugin of the server's kubeconfig", time(EXEC_TIMEOUT_MS), 'the plugin is killed'],
];
