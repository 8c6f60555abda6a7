import type { UserDocument } from '../../apis/iam/v1beta1/requests.ts';
import { USER, type User } from '../../apis/iam/v1beta1/user.ts';
import { newBadRequest, newConflict, newNotFound } from '../../apis/meta/v1/errors.ts';
import type { Users } from '../oauth/users/cluster-user-directory.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { EscalationCheck } from './escalation-check.ts';
import type { SessionEnding } from './session-ending.ts';

export interface UserWritesOptions {
  readonly group: string;
  readonly users: Users;
  readonly escalation: EscalationCheck;
  readonly endings: SessionEnding;
}

export class UserWrites {
  readonly #options: UserWritesOptions;

  constructor(options: UserWritesOptions) {
    this.#options = options;
  }

  async create(context: RequestContext, { metadata, spec }: UserDocument): Promise<User> {
    const { users, escalation } = this.#options;
    await escalation.checkGroups(context, metadata.name, [], spec.groups ?? []);
    const { name, labels = {}, annotations = {} } = metadata;
    return users.create({ metadata: { name, labels, annotations }, spec }, context.signal);
  }

  /** The whole spec, and labels and annotations where they are given. */
  async update(context: RequestContext, name: string, { metadata, spec }: UserDocument): Promise<User> {
    const { users, escalation, endings } = this.#options;
    if (metadata.name !== name) throw newBadRequest(`metadata.name must be "${name}", as in the path`);
    const present = await this.#present(context, name);
    const { uid, resourceVersion } = present.metadata;
    if ((metadata.uid ?? uid) !== uid) throw this.#conflict(name, 'it is another object by the same name');
    if ((metadata.resourceVersion ?? resourceVersion) !== resourceVersion) {
      throw this.#conflict(
        name,
        'the object has been modified; read it again and apply your changes to that',
      );
    }
    await escalation.checkGroups(context, name, present.spec.groups ?? [], spec.groups ?? []);
    const { labels = present.metadata.labels ?? {}, annotations = present.metadata.annotations ?? {} } =
      metadata;
    // With the version against which the groups were checked, not the one that the caller knows.
    const next = { metadata: { ...present.metadata, labels, annotations }, spec };
    const written = await users.replace(next, context.signal);
    if (spec.disabled === true) await endings.endAll(name, context.signal);
    return written;
  }

  /** The uid of the user that was deleted. The password goes with it: it belongs to that uid. */
  async remove(context: RequestContext, name: string): Promise<string> {
    const { users, endings } = this.#options;
    const uid = (await this.#present(context, name)).metadata.uid ?? '';
    await users.delete(name, uid, context.signal);
    await endings.endAll(name, context.signal);
    return uid;
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
