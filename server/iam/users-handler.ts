// Handler of the users API, /kapis/iam.<platform>.io/v1beta1/users. The filter chain has already authorized the
// request.
import type { Logger } from 'pino';
import { UserQuerySchema } from '../../apis/iam/v1beta1/requests.ts';
import { USER, type User } from '../../apis/iam/v1beta1/user-resource.ts';
import {
  newBadRequest,
  newMethodNotAllowed,
  newNotFound,
  newPathNotFound,
  newServiceUnavailable,
} from '../../apis/meta/v1/errors.ts';
import { QueryDecoder } from '../../apis/meta/v1/query-decoder.ts';
import type { Status, StatusDetails } from '../../apis/meta/v1/status.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { TimeSlicer } from '../concurrency/time-slicer.ts';
import { OwnPasswordChange } from '../oauth/passwords/own-password-change.ts';
import type { SessionStore } from '../oauth/sessions/session.ts';
import { UserSessions } from '../oauth/sessions/user-sessions.ts';
import { type Users, userObject } from '../oauth/users/user-directory.ts';
import type { Handler, RequestContext } from '../request/request-context.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import { EscalationCheck } from './escalation-check.ts';
import { FactorResets, type FactorResetsOptions } from './factor-resets.ts';
import { PasswordChanges, type PasswordChangesOptions } from './password-changes.ts';
import { writeUserList } from './user-list.ts';
import { UserWrites } from './user-writes.ts';

interface UsersHandlerOptions
  extends Omit<PasswordChangesOptions, 'escalation' | 'sessions' | 'ownPassword' | 'secondFactor'>,
    Pick<FactorResetsOptions, 'groupGrants'> {
  readonly secondFactor: PasswordChangesOptions['secondFactor'] & FactorResetsOptions['secondFactor'];
  readonly users: Users;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'readOfUser' | 'delete'>;
  readonly authorizer: Authorizer;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly slicer?: TimeSlicer;
}

/** Allowed methods by target. */
const ALLOWED_METHODS: Readonly<Record<Target, string>> = {
  users: 'GET, HEAD, POST',
  user: 'GET, HEAD, PUT, DELETE',
  password: 'PUT',
  'factor-reset': 'POST',
};

type Subresource = 'password' | 'factor-reset';
type Target = 'users' | 'user' | Subresource;
export const SUBRESOURCES: readonly Subresource[] = ['password', 'factor-reset'];

export function usersHandler(options: UsersHandlerOptions): Handler {
  const { group, users, slicer = new TimeSlicer() } = options;
  const resource = { group, resource: USER.plural };
  const queries = new QueryDecoder(UserQuerySchema);
  const sessions = new UserSessions(options.sessions, options.log);
  const escalation = new EscalationCheck(options.authorizer, group);
  const writes = new UserWrites({ group, users, escalation, sessions });
  const ownPassword = new OwnPasswordChange({
    ...options,
    userSessions: sessions,
    now: options.now ?? Date.now,
  });
  const passwords = new PasswordChanges({ ...options, ownPassword, escalation, sessions });
  const factors = new FactorResets({ ...options, escalation, sessions });

  return async (context) => {
    const { info, request } = context;
    const method = request.method ?? '';
    if (!info.isResourceRequest) throw newPathNotFound();
    const target = targetOf(info);
    const [, name = ''] = info.parts;
    if (!users.synced) throw newServiceUnavailable('the cache of users is not synced', 1);
    // Rejected, because ignoring it would perform a write that the client only wanted to preview.
    if (context.query.has('dryRun')) throw newBadRequest('dryRun is not supported; nothing was changed');
    const write = (code: 200 | 201, user: User): void => writeJSON(context, code, userObject(group, user));
    const details = { name, group, kind: USER.plural };
    // Node omits the body of a response to HEAD.
    switch (`${method === 'HEAD' ? 'GET' : method} ${target}`) {
      case 'GET users': {
        if (info.verb !== 'list') throw newMethodNotAllowed(info.verb, resource);
        const apiVersion = `${group}/${info.version}`;
        const query = queries.decode(context.query);
        return await writeUserList(context, users.objects(), query, {
          apiVersion,
          group,
          slices: slicer.of(context),
        });
      }
      case 'GET user': {
        const found = users.object(name) ?? (await users.read(name, context.signal));
        if (!found) throw newNotFound(resource, name);
        return write(200, found);
      }
      case 'POST users':
        return write(201, await writes.create(context));
      case 'PUT user':
        return write(200, await writes.replace(context, name));
      case 'DELETE user':
        return writeSuccess(context, { ...details, uid: await writes.delete(context, name) });
      case 'PUT password':
        await passwords.change(context, name);
        return writeSuccess(context, details);
      case 'POST factor-reset':
        return writeJSON(context, 201, await factors.reset(context, name));
      default:
        context.response.setHeader('Allow', ALLOWED_METHODS[target]);
        throw newMethodNotAllowed(method, {
          group,
          resource: target === 'users' || target === 'user' ? USER.plural : `${USER.plural}/${target}`,
        });
    }
  };
}

/** Throws NotFound for an unknown path. */
function targetOf({ namespace, parts }: ResourceRequest): Target {
  const [, name, subresource] = parts;
  if (namespace !== '' || parts.length > 3) throw newPathNotFound();
  if (name === undefined) return 'users';
  if (subresource === undefined) return 'user';
  const known = SUBRESOURCES.find((each) => each === subresource);
  if (!known) throw newPathNotFound();
  return known;
}

/** `no-store`, because the body contains personal data. */
function writeJSON({ response }: RequestContext, code: 200 | 201, body: object): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(code, {
    'Content-Type': 'application/json',
    'Content-Length': bytes.length,
    'Cache-Control': 'no-store',
  });
  response.end(bytes);
}

function writeSuccess(context: RequestContext, details: StatusDetails): void {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    message: 'success',
    details,
    code: 200,
  };
  writeJSON(context, 200, status);
}
