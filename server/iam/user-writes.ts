// Creates, replaces and deletes users. The filter chain has already authorized the request.
import { isDeepStrictEqual } from 'node:util';
import { VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import {
  type NewUser,
  NewUserSchema,
  type ReplacedUser,
  ReplacedUserSchema,
} from '../../apis/iam/v1beta1/requests.ts';
import { USER, type User } from '../../apis/iam/v1beta1/user-resource.ts';
import { newBadRequest, newConflict, newNotFound } from '../../apis/meta/v1/errors.ts';
import { invalidValue } from '../../apis/meta/v1/validation-causes.ts';
import type { UserSessions } from '../oauth/sessions/user-sessions.ts';
import type { Users } from '../oauth/users/user-directory.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { EscalationCheck } from './escalation-check.ts';
import { RequestDocumentReader } from './request-document.ts';

interface UserWritesOptions {
  readonly group: string;
  readonly users: Users;
  readonly escalation: EscalationCheck;
  readonly sessions: UserSessions;
}

const IMMUTABLE_METADATA = ['creationTimestamp', 'finalizers', 'ownerReferences'] as const;

export class UserWrites {
  readonly #options: UserWritesOptions;
  readonly #newUsers: RequestDocumentReader<typeof NewUserSchema>;
  readonly #replacedUsers: RequestDocumentReader<typeof ReplacedUserSchema>;

  constructor(options: UserWritesOptions) {
    this.#options = options;
    this.#newUsers = new RequestDocumentReader(USER.kind, options.group, NewUserSchema);
    this.#replacedUsers = new RequestDocumentReader(USER.kind, options.group, ReplacedUserSchema);
  }

  async create(context: RequestContext): Promise<User> {
    const { users, escalation } = this.#options;
    const { apiVersion, metadata, spec } = await this.#newUsers.read(context);
    this.#checkAPIVersion(apiVersion);
    await escalation.checkGroups(context, metadata.name, [], spec.groups ?? []);
    await escalation.checkVerifiedEmail(context, metadata.name, undefined, spec.verifiedEmail);
    const { name, labels = {}, annotations = {} } = metadata;
    return users.create({ metadata: { name, labels, annotations }, spec }, context.signal);
  }

  /** Replaces the whole spec, and the labels and annotations if the body contains them. */
  async replace(context: RequestContext, name: string): Promise<User> {
    const { users, escalation, sessions } = this.#options;
    const document = await this.#replacedUsers.read(context, name);
    const { apiVersion, metadata, spec } = document;
    this.#checkAPIVersion(apiVersion);
    if (metadata.name !== name) throw newBadRequest(`metadata.name must be "${name}", as in the path`);
    const present = await this.#present(context, name);
    this.#checkUnchanged(document, present);
    await escalation.checkGroups(context, name, present.spec.groups ?? [], spec.groups ?? []);
    await escalation.checkVerifiedEmail(context, name, present.spec.verifiedEmail, spec.verifiedEmail);
    const { labels = present.metadata.labels ?? {}, annotations = present.metadata.annotations ?? {} } =
      metadata;
    // The precondition is the resourceVersion of the object whose groups were checked.
    const next = { metadata: { ...present.metadata, labels, annotations }, spec };
    const written = await users.replace(next, context.signal);
    if (spec.disabled === true) await sessions.terminate(name, context.signal);
    return written;
  }

  /** Returns the uid of the deleted user. The garbage collector deletes the Credential, which the user owns. */
  async delete(context: RequestContext, name: string): Promise<string> {
    const { users, sessions } = this.#options;
    const uid = (await this.#present(context, name)).metadata.uid ?? '';
    await users.delete(name, uid, context.signal);
    await sessions.terminate(name, context.signal);
    return uid;
  }

  #checkAPIVersion(apiVersion: NewUser['apiVersion']): void {
    const expected = `${this.#options.group}/${VERSION}`;
    if ((apiVersion ?? expected) === expected) return;
    throw newBadRequest(`the API version in the data does not match the expected API version (${expected})`);
  }

  /** Throws Conflict for another uid or resourceVersion, and Invalid for a change of metadata that this API does not write. */
  #checkUnchanged({ metadata }: ReplacedUser, present: User): void {
    const { name, uid, resourceVersion } = present.metadata;
    if ((metadata.uid ?? uid) !== uid) {
      throw this.#conflict(name, 'the uid does not match: it is another object with the same name');
    }
    if ((metadata.resourceVersion ?? resourceVersion) !== resourceVersion) {
      throw this.#conflict(
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
    const changed = IMMUTABLE_METADATA.filter(
      (field) =>
        metadata[field] !== undefined && !isDeepStrictEqual(metadata[field], present.metadata[field]),
    );
    if (changed.length === 0) return;
    const causes = changed.map((field) => invalidValue(`metadata.${field}`, 'field is immutable'));
    throw this.#replacedUsers.invalid(name, causes);
  }

  async #present({ signal }: RequestContext, name: string): Promise<User> {
    const { users, group } = this.#options;
    const present = await users.read(name, signal);
    if (!present) throw newNotFound({ group, resource: USER.plural }, name);
    return present;
  }

  #conflict(name: string, message: string): Error {
    return newConflict({ group: this.#options.group, resource: USER.plural }, name, message);
  }
}
