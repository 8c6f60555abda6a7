// Limits of sign-ins, tokens and reviews.
import { MAX_PASSKEYS } from '../../apis/iam/v1beta1/authenticators-resource.ts';
import { MAX_GROUP_NAME, MAX_GROUPS } from '../../apis/iam/v1beta1/user-resource.ts';
import {
  LOOKUP_WAIT_MS,
  LOOKUPS,
  NAMESPACE_REVIEWS,
  WAITING_LOOKUPS,
} from '../../server/admission/admission.ts';
import { REJECTED } from '../../server/authentication/token-review.ts';
import { MAX_PERMISSIONS } from '../../server/authorization/namespace-scopes.ts';
import { TIMEOUT_MS as EXEC_TIMEOUT_MS } from '../../server/cluster/connection/exec-plugins.ts';
import { CACHED_REVIEWS, MAX_REFUSAL_MS } from '../../server/cluster/reviews.ts';
import { MARKS_PER_CLIENT } from '../../server/oauth/codes/authorization-code.ts';
import { RECOVERY_CODES } from '../../server/oauth/factors/recovery-codes.ts';
import { PUBLISH_AHEAD_MS } from '../../server/oauth/keys/key-rotator.ts';
import { HASH_QUEUE, PASSWORD_HASH } from '../../server/oauth/passwords/password-hasher.ts';
import { SESSIONS_PER_USER } from '../../server/oauth/sessions/session-creator.ts';
import { FACTOR_DELAYS, THROTTLE } from '../../server/oauth/throttle/login-throttle.ts';
import { MAX_TOKEN } from '../../server/oauth/tokens/access-token.ts';
import { VERIFIED_TOKENS } from '../../server/oauth/tokens/token-verifier.ts';
import { bytes, count, type Limit, time } from './limit.ts';

const WAITING = `${count(WAITING_LOOKUPS)} more wait for ${time(LOOKUP_WAIT_MS)}`;

export const IDENTITY_ROWS: readonly Limit[] = [
  [
    'password hashes in computation',
    'the number of cores, and less than `UV_THREADPOOL_SIZE`',
    'sign-ins wait',
  ],
  [
    'sign-ins that wait for a password hash',
    `${HASH_QUEUE.length}, ${time(HASH_QUEUE.timeoutMs)}`,
    '503; half of the queue is reserved for users who have signed in from the same address before',
  ],
  [
    'memory and iterations of a password hash (argon2id)',
    `${bytes(PASSWORD_HASH.memory)}, ${PASSWORD_HASH.iterations}`,
    '—',
  ],
  [
    'failed sign-ins from an IPv4 address or IPv6 /64 before the first delay',
    `${THROTTLE.sourceFailures}`,
    'a delay of at most a minute',
  ],
  [
    'first delay after failed sign-ins',
    time(THROTTLE.delay),
    `each failure doubles it, up to ${time(THROTTLE.maxDelay)}; the number is reset after ${time(THROTTLE.reset)} without a failure`,
  ],
  [
    'accounts with failed sign-ins, and as many addresses',
    count(THROTTLE.entries),
    'the oldest ones are counted in groups, those without a delay first',
  ],
  [
    'first delay after wrong codes of a second factor',
    time(THROTTLE.delay),
    `each failure doubles it, up to ${time(FACTOR_DELAYS.maxDelay)}; the number is reset after ${time(FACTOR_DELAYS.reset)} without a failure`,
  ],
  [
    'passkeys of a user; recovery codes',
    `${MAX_PASSKEYS}; ${RECOVERY_CODES}`,
    'new recovery codes replace all others',
  ],
  [
    'sessions of a user',
    `${SESSIONS_PER_USER}`,
    'the least recently used session ends, a browser session only after those that began with it',
  ],
  [
    'authorization codes of a user that a client exchanges within three minutes',
    `${MARKS_PER_CLIENT}`,
    '503 from the token endpoint',
  ],
  [
    'groups of a user; characters of a name',
    `${MAX_GROUPS}; ${MAX_GROUP_NAME}`,
    'the user cannot be stored, see [size of access tokens](#size-of-access-tokens)',
  ],
  ['access token', bytes(MAX_TOKEN), 'no sign-in'],
  ['access tokens whose verified signature is cached', count(VERIFIED_TOKENS), 'verified at each request'],
  ['time from the publication of a signing key to its first signature', time(PUBLISH_AHEAD_MS), '—'],
  [
    'TokenReviews, SubjectAccessReviews, and lookups of sessions, users and passwords at a time',
    `${LOOKUPS}`,
    WAITING,
  ],
  ['SubjectAccessReviews of the namespaces of lists at a time', `${NAMESPACE_REVIEWS}`, WAITING],
  [
    'time for which a failed TokenReview or a denial is cached',
    time(MAX_REFUSAL_MS),
    'a new token or permission takes effect',
  ],
  [
    'cached successful TokenReviews; SubjectAccessReviews; reviews of the acceleration',
    `${count(CACHED_REVIEWS)} each`,
    'the oldest result of the caller with the most is evicted',
  ],
  ['cached failed TokenReviews', count(REJECTED), 'the least recently used one is evicted'],
  [
    'cached permissions in single namespaces',
    `${count(MAX_PERMISSIONS)}, about 90 MB`,
    'the oldest results of the caller with the most are evicted',
  ],
  ["exec plugin of the server's kubeconfig", time(EXEC_TIMEOUT_MS), 'the plugin is killed'],
];
