// No escalation: whoever writes users or passwords with plain kubectl may only do what impersonation allows them anyway.
// Checked by kube-apiserver itself; the server's own REST checks the same.
import { CREDENTIAL } from '../../apis/iam/v1beta1/credential.ts';
import { groupName, VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../apis/iam/v1beta1/user.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { type Names, SERVER } from './names.ts';

const API = 'admissionregistration.k8s.io/v1';

/**
 * CEL's budget allows two questions to the authorizer in one expression and 28 in a policy, so each new group has an
 * expression of its own, and one write gives at most this many.
 */
export const GROUPS_AT_ONCE = 16;

export function admissionPolicies(names: Names): KubernetesObject[] {
  return [
    ...policy(names, USER.plural, {
      variables: [
        { name: 'had', expression: groupsOf('oldObject', 'oldObject != null && ') },
        { name: 'given', expression: `${groupsOf('object')}.filter(group, !(group in variables.had))` },
      ],
      validations: [
        {
          expression: `size(variables.given) <= ${GROUPS_AT_ONCE}`,
          message: `at most ${GROUPS_AT_ONCE} groups can be given at a time`,
          reason: 'Invalid',
        },
        ...Array.from({ length: GROUPS_AT_ONCE }, (_, index) => ({
          expression: `size(variables.given) <= ${index} || authorizer.group('').resource('groups').name(variables.given[${index}]).check('impersonate').allowed()`,
          messageExpression: `'the group "' + variables.given[${index}] + '" is given only by who may impersonate it'`,
          reason: 'Forbidden',
        })),
      ],
    }),
    ...policy(names, CREDENTIAL.plural, {
      variables: [{ name: 'changed', expression: 'oldObject == null || object.spec != oldObject.spec' }],
      validations: [
        {
          expression: `!variables.changed || authorizer.group('').resource('users').name(object.metadata.name).check('impersonate').allowed()`,
          messageExpression: `'the password of "' + object.metadata.name + '" is set only by who may impersonate that user'`,
          reason: 'Forbidden',
        },
        {
          // The groups of that user cannot be seen from here, so all groups have to be allowed.
          expression: `!variables.changed || authorizer.group('').resource('groups').check('impersonate').allowed()`,
          message:
            'a password gives all groups of its user: set like this only by who may impersonate every group; PUT users/NAME/password of the platform asks for that user and its groups only',
          reason: 'Forbidden',
        },
        {
          // Sessions know the password that they began with by its time; a hash that is only renewed is the server's to write.
          expression:
            'oldObject == null || object.spec.passwordHash == oldObject.spec.passwordHash || timestamp(object.spec.changedTime) != timestamp(oldObject.spec.changedTime)',
          message:
            'a new password has a new changedTime, for that is what ends the sessions of the one before: write the time of now',
          reason: 'Invalid',
        },
      ],
    }),
  ];
}

function groupsOf(object: string, condition = ''): string {
  return `(${condition}has(${object}.spec) && has(${object}.spec.groups) ? ${object}.spec.groups : [])`;
}

function policy(names: Names, plural: string, rules: object): KubernetesObject[] {
  const group = groupName(names.platform);
  const metadata = { name: `${plural}.${group}` };
  return [
    {
      apiVersion: API,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [group],
              apiVersions: [VERSION],
              operations: ['CREATE', 'UPDATE'],
              resources: [plural],
              // The default, written down: kubectl apply compares lists as a whole, and would change it each time.
              scope: '*',
            },
          ],
        },
        matchConditions: [
          {
            // It has asked for the caller's rights before; see server/iam.
            name: 'not-the-server-itself',
            expression: `request.userInfo.username != 'system:serviceaccount:${names.namespace}:${SERVER}'`,
          },
        ],
        ...rules,
      },
    },
    {
      apiVersion: API,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    },
  ];
}
