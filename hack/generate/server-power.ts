// Generates the table of what the holder of a stolen token of the server can do, from the objects of the manifests. A
// permission without a description is an error.
import { impersonationAccess, podLogsAccess, serverAccess } from './access.ts';
import type { KubernetesObject, PolicyRule } from './kubernetes-object.ts';
import { table } from './markdown-table.ts';
import type { Names } from './names.ts';

/** Rules of the server in one scope. */
interface GrantedRules {
  /** Undefined: the whole cluster. */
  readonly namespace: string | undefined;
  readonly rules: readonly PolicyRule[];
}

/** A role of Kubernetes that the manifests bind to the server. */
interface BoundRole {
  readonly namespace: string | undefined;
  readonly kind: string;
  readonly name: string;
}

interface ServerPower {
  readonly granted: readonly GrantedRules[];
  readonly bound: readonly BoundRole[];
}

/** The permissions that the manifests grant, with a component for impersonation. */
export function serverPower(names: Names): ServerPower {
  const objects = [
    ...serverAccess(names),
    ...podLogsAccess(names),
    // Not the ClusterRole of the impersonator, whose tokens the server requests.
    ...impersonationAccess(names, []).filter(({ kind }) => kind === 'Role' || kind === 'RoleBinding'),
  ];
  const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
  const own = new Set(roles.map(({ metadata }) => metadata.name));
  return {
    granted: roles.map((role) => ({
      namespace: role.metadata.namespace,
      rules: role['rules'] as readonly PolicyRule[],
    })),
    bound: objects.flatMap((object) => {
      const role = roleOf(object);
      return role === undefined || own.has(role.name)
        ? []
        : [{ ...role, namespace: object.metadata.namespace }];
    }),
  };
}

function roleOf(binding: KubernetesObject): { readonly kind: string; readonly name: string } | undefined {
  return binding['roleRef'] as { kind: string; name: string } | undefined;
}

const READS = 'reads these objects';

/** By resources, and `:` with the first name, or `:*` for any name, where the resources alone are ambiguous. */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  nodes: READS,
  namespaces: READS,
  rolebindings: READS,
  persistentvolumes: READS,
  storageclasses: READS,
  customresourcedefinitions: READS,
  apiservices: READS,
  pods: READS,
  'apiservices:*':
    'sends requests for the APIs of this server to another Service, and reads what callers send there',
  'users,credentials,authenticators,sessions':
    'becomes any user of the platform, also an administrator: the admission policies do not apply to the server',
  identities: 'becomes any user, with an account at an identity provider; unlinks people',
  'users/status': 'changes the displayed time of the last login',
  'pods/log': 'reads the logs of all pods',
  'secrets:ks-apiserver-signing-keys':
    'signs tokens of any user; issues serving certificates that kube-apiserver trusts for the APIs of this server; reads the password of the first administrator until it is changed',
  'secrets:ks-apiserver-clients':
    'acts as the OAuth clients whose secrets are there; reads the directories whose passwords are there',
  'configmaps:ks-apiserver-login-throttle': 'ends or extends the delays after failed sign-ins',
  configmaps: 'creates ConfigMaps of other names',
  'leases:ks-apiserver': 'stops the rotation of the signing keys',
  'serviceaccounts/token:ks-apiserver-impersonator':
    'only with a component for `gateway.impersonation`: becomes any user, with tokens of at most ten minutes',
  leases: 'creates Leases of other names',
};

const BOUND: Readonly<Record<string, string>> = {
  view: 'reads the objects that `view` contains, in all namespaces; no Secrets',
  'system:auth-delegator': 'tests whether a token is valid, and what a user is allowed to do',
  'extension-apiserver-authentication-reader': 'reads the public CA certificates of the front proxy',
};

export function serverPowerTable(names: Names): string {
  const { granted, bound } = serverPower(names);
  const rows = granted.flatMap(({ namespace, rules }) => {
    const reading = rules.filter((rule) => consequenceOf(rule) === READS);
    const others = rules.filter((rule) => !reading.includes(rule));
    return [
      ...Object.values(Object.groupBy(reading, ({ verbs }) => verbs.join())).map((rules = []) => [
        permissionOf({ verbs: [], ...rules[0], resources: rules.flatMap(({ resources = [] }) => resources) }),
        READS,
      ]),
      ...others.map((rule) => [permissionOf(rule) + scopeOf(namespace), consequenceOf(rule)]),
    ];
  });
  const roles = bound.map(({ namespace, kind, name }) => [
    `${kind} \`${name}\`${scopeOf(namespace)}`,
    described(BOUND, name),
  ]);
  return table(['permission', 'the holder of the token'], [...rows, ...roles]);
}

function scopeOf(namespace: string | undefined): string {
  return namespace === undefined ? '' : ` in \`${namespace}\``;
}

function permissionOf({ resources = [], resourceNames = [], verbs }: PolicyRule): string {
  const named = resourceNames.length === 0 ? '' : ` named ${quoted(resourceNames)}`;
  return `${verbs.join(', ')}: ${quoted(resources)}${named}`;
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function consequenceOf({ resources = [], resourceNames: [first] = [] }: PolicyRule): string {
  const kinds = resources.join();
  const keys = first === undefined ? [] : [`${kinds}:${first}`, `${kinds}:*`];
  return described(CONSEQUENCES, keys.find((key) => key in CONSEQUENCES) ?? kinds);
}

function described(texts: Readonly<Record<string, string>>, key: string): string {
  const found = texts[key];
  if (found === undefined) throw new Error(`describe the power of ${key} in hack/generate/server-power.ts`);
  return found;
}
