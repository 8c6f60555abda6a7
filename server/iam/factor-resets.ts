// Resets the second factors of users for POST users/NAME/factor-reset. The caller gets a code for the user, so the caller needs the
// permission to impersonate the user.
import type { Logger } from 'pino';
import { VERSION } from '../../apis/iam/v1beta1/group-version.ts';
import type { FactorReset } from '../../apis/iam/v1beta1/requests.ts';
import { USER } from '../../apis/iam/v1beta1/user-resource.ts';
import { newNotFound } from '../../apis/meta/v1/errors.ts';
import type { SecondFactor } from '../oauth/factors/second-factor.ts';
import type { GroupGrants } from '../oauth/providers/group-grants.ts';
import type { UserSessions } from '../oauth/sessions/user-sessions.ts';
import type { Users } from '../oauth/users/user-directory.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { EscalationCheck } from './escalation-check.ts';

export interface FactorResetsOptions {
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly users: Pick<Users, 'read' | 'get'>;
  readonly secondFactor: Pick<SecondFactor, 'reset'>;
  readonly groupGrants: Pick<GroupGrants, 'of'>;
  readonly escalation: EscalationCheck;
  readonly sessions: UserSessions;
  readonly log: Pick<Logger, 'info'>;
}

export class FactorResets {
  readonly #options: FactorResetsOptions;

  constructor(options: FactorResetsOptions) {
    this.#options = options;
  }

  async reset(context: RequestContext, name: string): Promise<FactorReset> {
    const { group, users, secondFactor, groupGrants, escalation, sessions, log } = this.#options;
    const user = (await users.read(name, context.signal)) && users.get(name);
    if (!user) throw newNotFound({ group, resource: USER.plural }, name);
    const groups = [...new Set([...user.groups, ...groupGrants.of(user)])];
    await escalation.checkImpersonation(context, name, groups, 'resetting the second factors');
    const { code, notAfter } = await secondFactor.reset(user, context.signal);
    await sessions.terminate(name, context.signal);
    log.info({ user: name, by: context.user.name, requestID: context.auditID }, 'second factors reset');
    return {
      kind: 'FactorReset',
      apiVersion: `${group}/${VERSION}`,
      metadata: { name },
      status: { code, expirationTimestamp: new Date(notAfter).toISOString() },
    };
  }
}
