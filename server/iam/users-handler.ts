// REST for users: /kapis/iam.<platform>.io/v1beta1/users. The chain has authorized the request (RBAC on
// users.iam.<platform>.io); here it is decoded, checked for escalation, and carried out. How users and passwords are
// stored is in server/oauth/users.
import type { Logger } from 'pino';
import { UserQuerySchema } from '../../apis/iam/v1beta1/requests.ts';
import { USER, type User } from '../../apis/iam/v1beta1/user.ts';
import {
  newBadRequest,
  newMethodNotAllowed,
  newNotFound,
  newPathNotFound,
  newServiceUnavailable,
} from '../../apis/meta/v1/errors.ts';
import { QueryDecoder } from '../../apis/meta/v1/query-decoder.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { SessionStore } from '../oauth/sessions/session.ts';
import { type Users, userObject } from '../oauth/users/user-directory.ts';
import type { Handler } from '../request/request-context.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import { answer, answerSuccess } from './answer.ts';
import { EscalationCheck } from './escalation-check.ts';
import { PasswordChanges, type PasswordChangesOptions } from './password-changes.ts';
import { SessionEnding } from './session-ending.ts';
import { selectUsers } from './user-list.ts';
import { UserWrites } from './user-writes.ts';

export interface UsersHandlerOptions extends Omit<PasswordChangesOptions, 'escalation' | 'endings'> {
  readonly users: Users;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  readonly authorizer: Authorizer;
  readonly log: Pick<Logger, 'warn'>;
}

/** What there is, by subresource and verb. */
const ALLOWED: Readonly<Record<string, string>> = {
  users: 'GET, HEAD, POST',
  user: 'GET, HEAD, PUT, DELETE',
  password: 'PUT',
};

export function usersHandler(options: UsersHandlerOptions): Handler {
  const { group, users } = options;
  const target = { group, resource: USER.plural };
  const queries = new QueryDecoder(UserQuerySchema);
  const endings = new SessionEnding(options.sessions, options.log);
  const escalation = new EscalationCheck(options.authorizer, group);
  const writes = new UserWrites({ group, users, escalation, endings });
  const passwords = new PasswordChanges({ ...options, escalation, endings });

  return async (context) => {
    const { info, request } = context;
    const method = request.method ?? '';
    if (!info.isResourceRequest) throw newPathNotFound();
    const what = subjectOf(info);
    const [, name = ''] = info.parts;
    if (!users.synced) throw newServiceUnavailable('users cannot be seen at the moment', 1);
    // Left unread it would be done after all, for somebody who wanted to see what it would do.
    if (context.query.has('dryRun')) throw newBadRequest('dryRun is not served here; nothing was changed');
    const shown = (user: User): object => userObject(group, user);
    // Of an answer to HEAD, Node leaves the body out.
    switch (`${method === 'HEAD' ? 'GET' : method} ${what}`) {
      case 'GET users': {
        if (info.verb !== 'list') throw newMethodNotAllowed(info.verb, target);
        const { items, totalItems } = selectUsers(users.objects(), queries.decode(context.query));
        const list = { kind: `${USER.kind}List`, apiVersion: `${group}/${info.version}`, metadata: {} };
        return answer(context, 200, { ...list, items: items.map(shown), totalItems });
      }
      case 'GET user': {
        const found = users.object(name) ?? (await users.read(name, context.signal));
        if (!found) throw newNotFound(target, name);
        return answer(context, 200, shown(found));
      }
      case 'POST users':
        return answer(context, 201, shown(await writes.create(context)));
      case 'PUT user':
        return answer(context, 200, shown(await writes.replace(context, name)));
      case 'DELETE user': {
        const uid = await writes.delete(context, name);
        return answerSuccess(context, { name, group, kind: USER.plural, uid });
      }
      case 'PUT password':
        await passwords.change(context, name);
        return answerSuccess(context, { name, group, kind: USER.plural });
      default:
        context.response.setHeader('Allow', ALLOWED[what] ?? '');
        throw newMethodNotAllowed(method, {
          group,
          resource: what === 'password' ? `${USER.plural}/password` : USER.plural,
        });
    }
  };
}

/** Throws NotFound for an unknown path. */
function subjectOf({ parts, namespace }: ResourceRequest): 'users' | 'user' | 'password' {
  if (namespace !== '' || parts.length > 3) throw newPathNotFound();
  if (parts.length === 1) return 'users';
  if (parts.length === 2) return 'user';
  if (parts[2] !== 'password') throw newPathNotFound();
  return 'password';
}
