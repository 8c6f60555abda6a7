// Generates ValidatingAdmissionPolicies against privilege escalation: callers may change only users and groups that the
// callers may impersonate, and the server gets only short tokens of the impersonator.
import { AUTHENTICATORS } from '../../apis/iam/v1beta1/authenticators-resource.ts';
import { CREDENTIAL } from '../../apis/iam/v1beta1/credential-resource.ts';
import { groupName, VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import { IDENTITY } from '../../apis/iam/v1beta1/identity-resource.ts';
import { MAX_CHANGED_GROUPS, USER } from '../../apis/iam/v1beta1/user-resource.ts';
import { IMPERSONATOR, LIFETIME_SECONDS } from '../../server/gateway/impersonator-token.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';

const API = 'admissionregistration.k8s.io/v1';

/** The user of the garbage collector, which deletes the objects of deleted users; with `--use-service-account-credentials`, and without. */
const GARBAGE_COLLECTORS = [
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:kube-controller-manager',
];

/**
 * kube-apiserver enforces the policies for direct writes, for example with kubectl. server/iam applies the same rules to
 * the REST API.
 */
export function admissionPolicies(names: Names): KubernetesObject[] {
  return [
    ...identityPolicy(names, USER.plural, {
      variables: [
        { name: 'before', expression: groupsOf('oldObject', 'oldObject != null && ') },
        { name: 'after', expression: groupsOf('object') },
        {
          name: 'changed',
          expression:
            'variables.after.filter(group, !(group in variables.before)) + variables.before.filter(group, !(group in variables.after))',
        },
        { name: 'verifiedBefore', expression: verifiedEmailOf('oldObject', 'oldObject != null && ') },
        { name: 'verified', expression: verifiedEmailOf('object') },
      ],
      validations: [
        {
          expression: `size(variables.changed) <= ${MAX_CHANGED_GROUPS}`,
          message: `at most ${MAX_CHANGED_GROUPS} groups can be granted and removed in one write`,
          reason: 'Invalid',
        },
        ...Array.from({ length: MAX_CHANGED_GROUPS }, (_, index) => ({
          expression: `size(variables.changed) <= ${index} || authorizer.group('').resource('groups').name(variables.changed[${index}]).check('impersonate').allowed()`,
          messageExpression: `'granting or removing the group "' + variables.changed[${index}] + '" requires permission to impersonate it'`,
          reason: 'Forbidden',
        })),
        {
          // A program that trusts verified addresses could take the user for any other one.
          expression: `variables.verified == '' || variables.verified == variables.verifiedBefore || authorizer.group('').resource('users').check('impersonate').allowed()`,
          message: 'setting verifiedEmail requires permission to impersonate all users',
          reason: 'Forbidden',
        },
      ],
    }),
    ...identityPolicy(names, CREDENTIAL.plural, {
      variables: [{ name: 'changed', expression: 'oldObject == null || object.spec != oldObject.spec' }],
      validations: [
        {
          expression: `!variables.changed || authorizer.group('').resource('users').name(object.metadata.name).check('impersonate').allowed()`,
          messageExpression: `'setting the password of "' + object.metadata.name + '" requires permission to impersonate that user'`,
          reason: 'Forbidden',
        },
        {
          // A policy cannot read the User, so it requires permission for every group.
          expression: `!variables.changed || authorizer.group('').resource('groups').check('impersonate').allowed()`,
          message:
            'writing a Credential requires permission to impersonate every group, because a password gives all groups of its user; PUT users/NAME/password of the platform requires that user and its groups only',
          reason: 'Forbidden',
        },
        {
          // Sessions identify their password by changedTime. Only the server may renew a hash under the same time.
          expression:
            'oldObject == null || object.spec.passwordHash == oldObject.spec.passwordHash || timestamp(object.spec.changedTime) != timestamp(oldObject.spec.changedTime)',
          message:
            'a new passwordHash requires a new changedTime, which ends the sessions of the previous password: set it to the current time',
          reason: 'Invalid',
        },
      ],
    }),
    ...identityPolicy(names, IDENTITY.plural, {
      variables: [{ name: 'changed', expression: 'oldObject == null || object.spec != oldObject.spec' }],
      validations: [
        {
          expression: `!variables.changed || authorizer.group('').resource('users').name(object.spec.user).check('impersonate').allowed()`,
          messageExpression: `'linking a person to "' + object.spec.user + '" requires permission to impersonate that user'`,
          reason: 'Forbidden',
        },
        {
          // A policy cannot read the User, so it requires permission for every group.
          expression: `!variables.changed || authorizer.group('').resource('groups').check('impersonate').allowed()`,
          message:
            'writing an Identity requires permission to impersonate every group, because the person gets all groups of the user',
          reason: 'Forbidden',
        },
      ],
    }),
    ...identityPolicy(names, AUTHENTICATORS.plural, {
      // Deletion too: without authenticators, the password alone is enough.
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      variables: [
        {
          name: 'changed',
          // The garbage collector deletes an object whose owner does not exist.
          expression: `oldObject == null || (object == null ? !(request.userInfo.username in ${JSON.stringify(GARBAGE_COLLECTORS)}) : object.spec != oldObject.spec || ${ownersOf('object')} != ${ownersOf('oldObject')})`,
        },
        { name: 'user', expression: '(object == null ? oldObject : object).metadata.name' },
      ],
      validations: [
        {
          expression: `!variables.changed || authorizer.group('').resource('users').name(variables.user).check('impersonate').allowed()`,
          messageExpression: `'changing the authenticators of "' + variables.user + '" requires permission to impersonate that user'`,
          reason: 'Forbidden',
        },
        {
          // A policy cannot read the User, so it requires permission for every group.
          expression: `!variables.changed || authorizer.group('').resource('groups').check('impersonate').allowed()`,
          message:
            'changing Authenticators requires permission to impersonate every group, because a passkey gives all groups of its user',
          reason: 'Forbidden',
        },
      ],
    }),
  ];
}

function ownersOf(object: string): string {
  return `(has(${object}.metadata.ownerReferences) ? ${object}.metadata.ownerReferences : [])`;
}

function groupsOf(object: string, condition = ''): string {
  return `(${condition}has(${object}.spec) && has(${object}.spec.groups) ? ${object}.spec.groups : [])`;
}

function verifiedEmailOf(object: string, condition = ''): string {
  return `(${condition}has(${object}.spec) && has(${object}.spec.verifiedEmail) ? ${object}.spec.verifiedEmail : '')`;
}

/**
 * Limits the lifetime of the tokens of the impersonator that the server can request. Without the policy, the holder of a stolen
 * token of the server gets tokens for years. A token cannot be bound to the pod of the server, because kube-apiserver binds
 * tokens to pods of the same ServiceAccount only.
 */
export function impersonatorPolicy(names: Names): KubernetesObject[] {
  return policy({
    name: `${IMPERSONATOR}.${names.platform}.io`,
    matches: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['serviceaccounts/token'],
    },
    condition: {
      name: 'the-server-itself',
      expression: `request.userInfo.username == '${serverUser(names)}'`,
    },
    validations: [
      {
        // kube-apiserver sets the default, an hour, before it evaluates the policy.
        expression: `object.spec.expirationSeconds <= ${LIFETIME_SECONDS}`,
        message: `the server gets tokens for at most ${LIFETIME_SECONDS} seconds`,
        reason: 'Forbidden',
      },
    ],
  });
}

interface IdentityRules {
  /** By default all writes except deletions. */
  readonly operations?: readonly string[];
  readonly variables: readonly object[];
  readonly validations: readonly object[];
}

function identityPolicy(
  names: Names,
  plural: string,
  { operations = ['CREATE', 'UPDATE'], ...rules }: IdentityRules,
): KubernetesObject[] {
  const group = groupName(names.platform);
  return policy({
    name: `${plural}.${group}`,
    matches: {
      apiGroups: [group],
      apiVersions: [VERSION],
      operations,
      resources: [plural],
    },
    // The server has checked the permissions of its caller before the write; see server/iam.
    condition: {
      name: 'not-the-server-itself',
      expression: `request.userInfo.username != '${serverUser(names)}'`,
    },
    ...rules,
  });
}

interface Policy {
  readonly name: string;
  readonly matches: object;
  readonly condition: { readonly name: string; readonly expression: string };
  /** Variables and validations. */
  readonly [rules: string]: unknown;
}

function policy({ name, matches, condition, ...rules }: Policy): KubernetesObject[] {
  return [
    {
      apiVersion: API,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          // The scope is the default, written out: kubectl apply compares lists as a whole, and would report a change each time.
          resourceRules: [{ ...matches, scope: '*' }],
        },
        matchConditions: [condition],
        ...rules,
      },
    },
    {
      apiVersion: API,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}

function serverUser({ namespace }: Names): string {
  return `system:serviceaccount:${namespace}:${SERVER}`;
}
