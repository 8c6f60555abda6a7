// Removed options of the configuration file. For one release, a file that sets one gets a warning instead of an error.
import { isRecord } from '../../reading/unknown-value.ts';

/** The constant that now has the value of an option. */
function fixed(constant: string, value: string): string {
  return `the value is ${value} (${constant})`;
}

/** A client with a shorter lifetime now has longer ones, so an operator has to decide. */
function sharedLifetime(option: string): string {
  return `${option} applies to all clients: shorten it if the value of this client was shorter for security`;
}

/** Paths of removed options, and what applies instead. Remove an entry after one minor version. */
export const REMOVED_OPTIONS: Readonly<Record<string, string>> = {
  'gateway.maxRequests': 'it is replaced by requests.seats',
  'gateway.maxRequestsPerCaller': 'it is replaced by requests.seats, which all callers share fairly',
  'gateway.maxStreams': 'it is replaced by requests.streams',
  'gateway.maxStreamsPerCaller': 'it is replaced by requests.streams, which all callers share fairly',
  'requests.maxReadOnly': 'it is replaced by requests.seats',
  'requests.maxMutating': 'it is replaced by requests.seats',
  'requests.maxLongRunning': 'it is replaced by requests.streams',
  'resources.kindBudget': 'half of the memory of all caches is for one kind (memoryBudget)',
  'resources.memoryBudget':
    'the memory of all caches follows from the memory limit of the container (memoryBudget)',

  'listeners.secure.selfSigned.directory':
    'the CA is in the Secret ks-apiserver-signing-keys; for other files, set listeners.secure.certFile',
  'listeners.limits.headers': fixed('REQUEST_LIMITS.headers', '256Ki'),
  'listeners.limits.body': fixed('MAX_BODY_BYTES', '3Mi'),
  'listeners.limits.handshakeTimeout': fixed('REQUEST_LIMITS.handshakeTimeout', '10s'),
  'listeners.limits.headersTimeout': fixed('REQUEST_LIMITS.headersTimeout', '30s'),
  'listeners.limits.requestTimeout': fixed('REQUEST_LIMITS.requestTimeout', '60s'),
  'listeners.limits.keepAliveTimeout': fixed('REQUEST_LIMITS.keepAliveTimeout', '95s'),
  'requests.timeout': fixed('REQUEST_TIMEOUT_MS', '60s'),
  'cache.readTimeout': fixed('READ_WAIT_MS', '3s'),
  'cache.watchWindow.events': fixed('WATCH_WINDOW.events', '1024'),
  'cache.watchWindow.age': fixed('WATCH_WINDOW.ageMs', '5m'),
  'cache.watchWindow.bytes': fixed('WATCH_WINDOW.bytes', '32Mi'),
  'cache.snapshots.count': fixed('LIST_HISTORY.snapshots', '4096'),
  'cache.snapshots.age': fixed('LIST_HISTORY.ageMs', '5m'),
  'cache.snapshots.bytes': fixed('LIST_HISTORY.bytes', '32Mi'),
  'watch.pendingBytes': fixed('DEFAULT_OPTIONS.watch.maxPendingBytes', '16Mi'),
  'watch.stallTimeout': fixed('DEFAULT_OPTIONS.watch.stallTimeoutMs', '60s'),
  'watch.bookmarkInterval': fixed('DEFAULT_OPTIONS.watch.bookmarkIntervalMs', '60s'),
  'platform.namespace':
    'it is the namespace of the pod (NAMESPACE_FILE), or <platform.name>-system outside of pods and with a kubeconfig',
  'platform.service': fixed('SERVICE', 'ks-apiserver'),
  'authentication.refusedTokenCacheTTL':
    'authentication.tokenCacheTTL applies, but at most 10s (MAX_REFUSAL_MS)',
  'authorization.denyCacheTTL': 'authorization.allowCacheTTL applies, but at most 10s (MAX_REFUSAL_MS)',
  'gateway.impersonator': fixed('IMPERSONATOR', 'ks-apiserver-impersonator'),
  'gateway.unaccelerated':
    'no kind is excluded; with gateway.acceleration: false, the gateway forwards all reads',
  'gateway.watchReviewInterval': fixed('REVIEW_INTERVAL_MS', '30s'),
  'gateway.seats': 'it is replaced by requests.seats, of which the gateway has as many of its own',
  'gateway.streams': fixed('GATEWAY_STREAMS', '5000'),
  'oauth.audience': 'the audience of access tokens is platform.name, which kube-apiserver must accept',
  'oauth.sessionsPerUser': fixed('SESSIONS_PER_USER', '50'),
  'oauth.verifiedTokens': fixed('VERIFIED_TOKENS', '10000'),
  'oauth.passwords.memory': fixed('PASSWORD_HASH.memory', '19Mi'),
  'oauth.passwords.iterations': fixed('PASSWORD_HASH.iterations', '2'),
  'oauth.passwords.concurrency':
    'the value is the number of cores, and less than UV_THREADPOOL_SIZE (hashConcurrency)',
  'oauth.passwords.queue': fixed('HASH_QUEUE.length', '64'),
  'oauth.passwords.queueTimeout': fixed('HASH_QUEUE.timeoutMs', '2s'),
  'oauth.clients[].nextSecretRef': 'the key of secretRef with the suffix -next is valid too',
  'oauth.clients[].keepAfterSignOut': 'a sign-out keeps only sessions of the client kubectl (KUBECTL_CLIENT)',
  'oauth.clients[].accessTokenLifetime': sharedLifetime('oauth.accessTokenLifetime'),
  'oauth.clients[].refreshIdleLifetime': sharedLifetime('oauth.refreshIdleLifetime'),
  'oauth.clients[].sessionLifetime': sharedLifetime('oauth.sessionLifetime'),
  'oauth.throttle.sourceFailures': fixed('THROTTLE.sourceFailures', '50'),
  'oauth.throttle.maxDelay': fixed('THROTTLE.maxDelay', '15m'),
  'oauth.throttle.delay': fixed('THROTTLE.delay', '1s'),
  'oauth.throttle.reset': fixed('THROTTLE.reset', '12h'),
  'oauth.throttle.entries': fixed('THROTTLE.entries', '100000'),
  'oauth.keys.secretName': fixed('KEYS_SECRET', 'ks-apiserver-signing-keys'),
  'oauth.keys.rotationInterval': fixed('ROTATION_INTERVAL_MS', '30d'),
  'oauth.keys.publishAhead': fixed('PUBLISH_AHEAD_MS', '10m'),
  'oauth.whenStale': 'access tokens get 503 while the sessions are not up to date (RevocationCheck)',
  'resources.syncTimeout': fixed('KIND_LIMITS.syncTimeout', '10s'),
  'resources.idleTimeout': fixed('KIND_LIMITS.idleTimeout', '15m'),
  'resources.maxKinds': fixed('KIND_LIMITS.maxKinds', '100'),
  'resources.liveInterval': fixed('LIVE_INTERVAL_MS', '1s'),
  'logging.limits.concurrentQueries': fixed('LOG_LIMITS.concurrentQueries', '8'),
  'logging.limits.queuedQueries': fixed('LOG_LIMITS.queuedQueries', '64'),
  'logging.limits.queueTimeout': fixed('LOG_LIMITS.queueTimeout', '5s'),
  'logging.limits.concurrentExports': fixed('LOG_LIMITS.concurrentExports', '4'),
  'logging.limits.concurrentFollowers': fixed('LOG_LIMITS.concurrentFollowers', '100'),
  'logging.limits.queryTimeout': fixed('LOG_LIMITS.queryTimeout', '30s'),
  'logging.limits.exportTimeout': fixed('LOG_LIMITS.exportTimeout', '30m'),
  'logging.limits.exportLines': fixed('LOG_LIMITS.exportLines', '10000000'),
  'logging.limits.followTimeout': fixed('LOG_LIMITS.followTimeout', '4h'),
  'logging.limits.followOverlap': fixed('LOG_LIMITS.followOverlap', '15s'),
  'logging.limits.buckets': fixed('LOG_LIMITS.buckets', '11000'),
  'logging.kubernetes.maxContainers': fixed('POD_LOG_LIMITS.maxContainers', '500'),
  'logging.kubernetes.concurrentReads': fixed('POD_LOG_LIMITS.concurrentReads', '32'),
  'logging.kubernetes.followedLogs': fixed('POD_LOG_LIMITS.followedLogs', '1000'),
  'logging.kubernetes.bytesPerContainer': fixed('POD_LOG_LIMITS.bytesPerContainer', '64Mi'),
  'logging.kubernetes.memory': fixed('POD_LOG_LIMITS.memory', '64Mi'),
  'logging.opensearch.pageSize': fixed('EXPORT_PAGE', '5000'),
  'shutdown.timeout': fixed('DRAIN_TIMEOUT_MS', '20s'),
  'logging.victorialogs.fields.message': fixed('MESSAGE', '_msg'),
  'log.format': 'the log consists of JSON objects, or of lines of text with the flag --log-format text',
  'watch.minTimeout': fixed('DEFAULT_OPTIONS.watch.minTimeoutSeconds', '30m'),
};

/** Deletes the removed options of a configuration. Returns a warning for each of them. */
export function withoutRemovedOptions(configuration: unknown): string[] {
  const warnings: string[] = [];
  for (const [option, instead] of Object.entries(REMOVED_OPTIONS)) {
    if (remove(configuration, option.split('.'))) {
      warnings.push(`${option} is removed and has no effect; ${instead}`);
    }
  }
  return warnings;
}

/** Removes the option, and empty sections around it. Returns false if the option is not set. */
function remove(value: unknown, [segment = '', ...rest]: readonly string[]): boolean {
  const key = segment.replace('[]', '');
  if (!isRecord(value) || !Object.hasOwn(value, key)) return false;
  const member = value[key];
  if (Array.isArray(member)) return member.filter((item: unknown) => remove(item, rest)).length > 0;
  const isRemoved = rest.length === 0 || remove(member, rest);
  if (rest.length === 0 || isEmpty(member)) delete value[key];
  return isRemoved;
}

/** For example a section whose options are comments. */
function isEmpty(section: unknown): boolean {
  return section === null || (isRecord(section) && Object.keys(section).length === 0);
}
