// The configuration section `resources`: options of the lists under `/kapis`.
import { flagOption, namesOption, quantityOption, section } from './option-types.ts';

export const resources = section('The lists under `/kapis` of nodes and of all other kinds of the cluster.', {
  preload: namesOption(
    'Kinds to follow (list, watch and cache) from the start, as `plural` or `plural.group`. Other kinds are followed on demand.',
  ),
  restricted: namesOption(
    'Restricted kinds to serve: `secrets`, or kinds of `rbac.authorization.k8s.io`, such as `roles.rbac.authorization.k8s.io`. The server also needs the permission to list and watch them.',
  ),
  callerIndependent: namesOption(
    'Kinds of aggregated APIs (APIServices with `spec.service`) to list under `/kapis`, as `plural.group`, or `*.group` for all kinds of a group. Naming one asserts that the API shows every caller with the permission the same objects.',
  ),
  memoryBudget: quantityOption(
    '0',
    'Maximum memory of all caches together. One kind can use half of it. 0: the smaller one of 40 % of the memory limit of the container and 60 % of the heap limit of Node.js.',
  ),
  nodes: section('Nodes.', {
    usageAnnotations: flagOption(
      false,
      'Adds annotations to each node under `/kapis`: the total CPU and memory requests and limits of its pods.',
    ),
  }),
});
