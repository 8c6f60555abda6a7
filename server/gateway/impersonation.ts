// Impersonation at the gateway: the headers with which the gateway impersonates its caller at kube-apiserver, and the
// permission check for a caller that itself impersonates a user (`kubectl --as`), as in kube-apiserver.
import type { IncomingMessage } from 'node:http';
import { newBadRequest, newForbidden, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import { extraFields, utf8 } from '../authentication/identity-headers.ts';
import { SYSTEM_MASTERS, serviceAccountOf, type UserInfo } from '../authentication/user.ts';
import type { Authorizer, ResourceAttributes } from '../authorization/authorizer.ts';
import { forbiddenMessage } from '../authorization/forbidden-message.ts';
import type { CallContext } from '../cluster/call-context.ts';

const USER = 'impersonate-user';
const UID = 'impersonate-uid';
const GROUP = 'impersonate-group';
const EXTRA = 'impersonate-extra-';
const AUTHENTICATION_GROUP = 'authentication.k8s.io';

/** Maximum number of impersonated groups and extras of a request, because each one needs a review. */
export const MAX_REQUESTED = 100;

/**
 * Returns the user as whom the request runs: the caller, or the user of the impersonation headers. Throws Forbidden if the
 * caller is not allowed to impersonate this user, BadRequest for incomplete headers, and ServiceUnavailable if the cluster
 * cannot confirm the permission.
 */
export async function impersonatedUser(
  caller: UserInfo,
  request: Pick<IncomingMessage, 'headersDistinct'>,
  authorizer: Authorizer,
  context: CallContext,
): Promise<UserInfo> {
  const valuesOf = (header: string): string[] => (request.headersDistinct[header] ?? []).map(utf8);
  const [name = ''] = valuesOf(USER);
  const [uid = ''] = valuesOf(UID);
  const groups = valuesOf(GROUP);
  const extra = extraFields(request, [EXTRA]);
  const fields = Object.entries(extra).flatMap(([key, values]) =>
    values.map((value) => [key, value] as const),
  );
  if (name === '') {
    if (uid === '' && groups.length === 0 && fields.length === 0) return caller;
    throw newBadRequest('the request has impersonation headers without Impersonate-User');
  }
  if (groups.length + fields.length > MAX_REQUESTED) {
    throw newBadRequest(`the request impersonates more than ${MAX_REQUESTED} groups and extras`);
  }
  const account = serviceAccountOf(name);
  const user = account
    ? { ...target('', 'serviceaccounts', '', account.name), namespace: account.namespace }
    : target('', 'users', '', name);
  const targets = [
    user,
    ...groups.map((group) => target('', 'groups', '', group)),
    ...fields.map(([key, value]) => target(AUTHENTICATION_GROUP, 'userextras', key, value)),
    ...(uid === '' ? [] : [target(AUTHENTICATION_GROUP, 'uids', '', uid)]),
  ];
  for (const requested of targets) {
    const attributes = { ...requested, user: caller };
    const { allowed, reason } = await authorizer.authorize(attributes, context);
    if (!allowed) throw newForbidden(attributes, attributes.name, forbiddenMessage(attributes, reason));
  }
  // kube-apiserver adds the groups of all authenticated users and of a ServiceAccount.
  return { name, uid, groups, extra };
}

/**
 * Returns the identity headers of a request that runs as `user` with the token of the impersonator. Throws Unauthorized for an empty
 * user, because a request without `Impersonate-User` would run as the impersonator. Throws Forbidden for system:masters, because
 * kube-apiserver would not check any permission.
 */
export function impersonationHeaders(user: UserInfo, impersonatorToken: string): string[] {
  const { name, uid, groups, extra } = user;
  if (name === '') throw newUnauthorized(new Error('the caller has no name'));
  if (groups.includes(SYSTEM_MASTERS)) {
    throw newForbidden(
      undefined,
      '',
      `the gateway does not impersonate members of ${SYSTEM_MASTERS}; use a token, or connect to kube-apiserver directly`,
    );
  }
  const headers = ['Authorization', `Bearer ${impersonatorToken}`, 'Impersonate-User', headerText(name)];
  if (uid !== '') headers.push('Impersonate-Uid', headerText(uid));
  for (const group of groups) headers.push('Impersonate-Group', headerText(group));
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) {
      headers.push(`Impersonate-Extra-${escapedKey(key)}`, headerText(value));
    }
  }
  return headers;
}

function target(
  group: string,
  resource: string,
  subresource: string,
  name: string,
): Omit<ResourceAttributes, 'user'> {
  return {
    verb: 'impersonate',
    group,
    version: group === '' ? '' : 'v1',
    resource,
    subresource,
    namespace: '',
    name,
  };
}

/**
 * Escapes every character that a header name cannot contain, and upper case, which kube-apiserver changes. It decodes the escapes.
 */
function escapedKey(key: string): string {
  checkText(key);
  return encodeURIComponent(key).replace(/%..|[A-Z()]/g, (part) =>
    part.length > 1 ? part : `%${part.charCodeAt(0).toString(16)}`,
  );
}

/** UTF-8 bytes as a header value. Throws Unauthorized for a text that kube-apiserver would not receive unchanged. */
function headerText(value: string): string {
  if (UNSAFE.test(value)) throw changed();
  checkText(value);
  return Buffer.from(value, 'utf8').toString('latin1');
}

/**
 * Control characters end a header, and parsers trim spaces at its ends. All spaces of Unicode count, because parsers differ:
 * ` system:masters` must not become `system:masters`.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNSAFE = /[\u0000-\u001f\u007f]|^[\s\u0085]|[\s\u0085]$/;

/** Throws Unauthorized for an empty text, and for one with characters that have no bytes or replace undecodable bytes. */
function checkText(text: string): void {
  if (text === '' || !text.isWellFormed() || text.includes('\ufffd')) throw changed();
}

function changed(): Error {
  return newUnauthorized(new Error('an attribute of the caller does not pass through a header unchanged'));
}
