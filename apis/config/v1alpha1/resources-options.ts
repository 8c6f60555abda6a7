// The configuration section `resources`: options of the lists under `/kapis`.
import { flagOption, namesOption, section } from './option-types.ts';

export const resources = section('The lists under `/kapis` of nodes and of all other kinds of the cluster.', {
  preload: namesOption(
    'Kinds to follow from the start, as `plural` or `plural.group`. Other kinds are followed on demand.',
  ),
  restricted: namesOption(
    '[Restricted kinds](resource-kinds.md#restricted-kinds) to serve, such as `secrets` or `roles.rbac.authorization.k8s.io`.',
  ),
  callerIndependent: namesOption(
    'Kinds of [aggregated APIs](resource-kinds.md#aggregated-apis) to list, as `plural.group` or `*.group`: you assert that they show all callers the same objects.',
  ),
  nodes: section('Nodes.', {
    usageAnnotations: flagOption(
      false,
      'Adds CPU and memory requests and limits of its pods to each [node](resource-kinds.md#nodes) under `/kapis`, as annotations.',
    ),
  }),
});
