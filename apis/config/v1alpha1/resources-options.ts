// The configuration section `resources`: options of the lists under `/kapis`.
import {
  countOption,
  durationOption,
  flagOption,
  namesOption,
  quantityOption,
  section,
} from './option-types.ts';

export const resources = section('The lists under `/kapis` of nodes and of all other kinds of the cluster.', {
  preload: namesOption(
    'Kinds to follow (list, watch and cache) from the start, as `plural` or `plural.group`. Other kinds are followed on demand.',
  ),
  restricted: namesOption(
    'Restricted kinds to serve: `secrets`, or kinds of `rbac.authorization.k8s.io`, such as `roles.rbac.authorization.k8s.io`. The server also needs the permission to list and watch them.',
  ),
  callerIndependent: namesOption(
    'Kinds of aggregated APIs (APIServices with `spec.service`) to cache, as `plural.group`, or `*.group` for all kinds of a group. Naming one asserts that the API shows every caller with the permission the same objects. Other kinds of aggregated APIs are neither listed under `/kapis` nor accelerated.',
  ),
  syncTimeout: durationOption(
    '10s',
    'Maximum time that a request waits until the server has loaded a kind for the first time. After this time the request gets 503.',
    { atLeast: '100ms' },
  ),
  idleTimeout: durationOption(
    '15m',
    'Time without requests after which the server stops following a kind that is not in `preload`.',
    { atLeast: '1s' },
  ),
  maxKinds: countOption(
    100,
    'Maximum number of followed kinds. Before the server follows a further kind, it stops following one of the caller who started the most: one without live lists and watches if possible, and the least recently used one. A kind with live lists is stopped only for a caller who started at least two fewer; otherwise the further list gets 503.',
  ),
  memoryBudget: quantityOption(
    '0',
    'Maximum memory of all caches together: the objects of all kinds and nodes, past events and lists, and bodies of pages. One kind can use half of it. 0: the smaller one of 40 % of the memory limit of the container and 60 % of the heap limit of Node.js.',
  ),
  liveInterval: durationOption('1s', 'Minimum time between two events of a live list.', { atLeast: '100ms' }),
  nodes: section('Nodes.', {
    usageAnnotations: flagOption(
      false,
      'Adds annotations to each node under `/kapis`: the total CPU and memory requests and limits of its pods. Requires the permission to list and watch all pods (component `node-usage`).',
    ),
  }),
});
