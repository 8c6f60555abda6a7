// No escalation by REST either. The server's own account may write any user, so what the admission policies check for
// people with kubectl is checked here for the caller.
import { newForbidden } from '../../apis/meta/v1/errors.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { RequestContext } from '../request/request-context.ts';

/** Whoever may impersonate a user or a group gains nothing by granting it. */
export class Escalation {
  readonly #authorizer: Authorizer;
  readonly #group: string;

  constructor(authorizer: Authorizer, group: string) {
    this.#authorizer = authorizer;
    this.#group = group;
  }

  /** Throws Forbidden, naming every group that the caller may not grant. */
  async checkGroups(context: RequestContext, name: string, groups: readonly string[]): Promise<void> {
    const refused = await this.#refused(context, 'groups', groups);
    if (refused.length === 0) return;
    throw this.#forbidden(
      name,
      `${listed(refused)} ${refused.length === 1 ? 'is' : 'are'} given only by who may impersonate ${refused.length === 1 ? 'it' : 'them'}`,
    );
  }

  /** Throws Forbidden: whoever sets a user's password can become that user, with all groups. */
  async checkPassword(context: RequestContext, name: string, groups: readonly string[]): Promise<void> {
    const users = await this.#refused(context, 'users', [name]);
    const refused = [
      ...users.map(() => 'the user'),
      ...(await this.#refused(context, 'groups', groups)).map((group) => `the group "${group}"`),
    ];
    if (refused.length === 0) return;
    throw this.#forbidden(
      name,
      `the password is set only by who may impersonate the user and all its groups; not allowed: ${refused.join(', ')}`,
    );
  }

  async #refused(
    context: RequestContext,
    resource: 'users' | 'groups',
    names: readonly string[],
  ): Promise<string[]> {
    const allowed = await Promise.all(names.map((name) => this.#mayImpersonate(context, resource, name)));
    return names.filter((_, index) => allowed[index] !== true);
  }

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

function listed(groups: readonly string[]): string {
  return `the group${groups.length === 1 ? '' : 's'} ${groups.map((group) => `"${group}"`).join(', ')}`;
}
