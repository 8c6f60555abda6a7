// Prevents privilege escalation by writes of users and passwords through the users API. Admission policies allow the
// ServiceAccount of this server to write any user, so the API checks the caller.
import { newForbidden } from '../../apis/meta/v1/errors.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { EVERY_GROUP } from '../oauth/providers/group-grants.ts';
import type { RequestContext } from '../request/request-context.ts';

/**
 * Requires the permission to impersonate the user or group that a write affects. A caller with that permission gains no
 * further access by the write.
 */
export class EscalationCheck {
  readonly #authorizer: Authorizer;
  readonly #group: string;

  constructor(authorizer: Authorizer, group: string) {
    this.#authorizer = authorizer;
    this.#group = group;
  }

  /**
   * Throws Forbidden with the names of the granted or removed groups that the caller is not allowed to impersonate.
   * Removals are checked too, because a caller could otherwise remove the groups of an administrator and then set the
   * password.
   */
  async checkGroups(
    context: RequestContext,
    name: string,
    before: readonly string[],
    after: readonly string[],
  ): Promise<void> {
    const changed = [...new Set(before).symmetricDifference(new Set(after))];
    const denied = await this.#denied(context, 'groups', changed);
    if (denied.length === 0) return;
    const groups = denied.map((group) => `"${group}"`).join(', ');
    throw this.#forbidden(
      name,
      denied.length === 1
        ? `granting or removing the group ${groups} requires permission to impersonate it`
        : `granting or removing the groups ${groups} requires permission to impersonate them`,
    );
  }

  /**
   * Throws Forbidden: a program that trusts verified addresses could take the user for the owner of the address, who can be
   * any user.
   */
  async checkVerifiedEmail(
    context: RequestContext,
    name: string,
    before: string | undefined,
    after = '',
  ): Promise<void> {
    if (after === '' || after === before || (await this.#mayImpersonate(context, 'users', ''))) return;
    throw this.#forbidden(name, 'setting verifiedEmail requires permission to impersonate all users');
  }

  /**
   * Throws Forbidden: a caller who sets the password of a user, or replaces the second factor, can help to sign in as that user, with
   * all groups. `action`: the beginning of the message.
   */
  async checkImpersonation(
    context: RequestContext,
    name: string,
    groups: readonly string[],
    action: string,
  ): Promise<void> {
    const users = await this.#denied(context, 'users', [name]);
    const denied = [
      ...users.map(() => 'the user'),
      ...(await this.#denied(context, 'groups', groups)).map((group) =>
        group === EVERY_GROUP ? 'every group, as an identity provider may grant it' : `the group "${group}"`,
      ),
    ];
    if (denied.length === 0) return;
    throw this.#forbidden(
      name,
      `${action} requires permission to impersonate the user and all its groups; not allowed: ${denied.join(', ')}`,
    );
  }

  async #denied(
    context: RequestContext,
    resource: 'users' | 'groups',
    names: readonly string[],
  ): Promise<string[]> {
    const allowed = await Promise.all(names.map((name) => this.#mayImpersonate(context, resource, name)));
    return names.filter((_, index) => allowed[index] !== true);
  }

  /** An empty name stands for all names. */
  async #mayImpersonate(context: RequestContext, resource: string, name: string): Promise<boolean> {
    const { user } = context;
    const attributes = {
      user,
      verb: 'impersonate',
      group: '',
      version: 'v1',
      resource,
      subresource: '',
      namespace: '',
      name,
    };
    return (await this.#authorizer.authorize(attributes, context)).allowed;
  }

  #forbidden(name: string, message: string): Error {
    return newForbidden({ group: this.#group, resource: 'users' }, name, message);
  }
}
