// Changes passwords for PUT users/NAME/password. Users need the current password, and must have no second factor; other callers need the
// permission to impersonate the user.
import { type PasswordChange, PasswordChangeSchema } from '../../apis/iam/v1beta1/requests.ts';
import { USER } from '../../apis/iam/v1beta1/user-resource.ts';
import {
  newConflict,
  newForbidden,
  newNotFound,
  newServiceUnavailable,
  newTooManyRequests,
} from '../../apis/meta/v1/errors.ts';
import { invalidValue } from '../../apis/meta/v1/validation-causes.ts';
import { OAuthError } from '../../apis/oauth/oauth-error.ts';
import { isEmpty } from '../oauth/factors/authenticators-store.ts';
import type { SecondFactor } from '../oauth/factors/second-factor.ts';
import type { OwnPasswordChange } from '../oauth/passwords/own-password-change.ts';
import type { PasswordHasher } from '../oauth/passwords/password-hasher.ts';
import { newChangeTime, passwordViolations } from '../oauth/passwords/password-policy.ts';
import type { PasswordSignIn } from '../oauth/passwords/password-sign-in.ts';
import type { UserSessions } from '../oauth/sessions/user-sessions.ts';
import type { Account, CredentialStore, PasswordID } from '../oauth/users/account.ts';
import type { Users } from '../oauth/users/user-directory.ts';
import type { RequestContext } from '../request/request-context.ts';
import { originOf, type SourceAddress } from '../request/source-address.ts';
import type { EscalationCheck } from './escalation-check.ts';
import { RequestDocumentReader } from './request-document.ts';

export interface PasswordChangesOptions {
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly users: Pick<Users, 'read' | 'get'>;
  readonly credentials: CredentialStore;
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>;
  /** Verifies the current password, with the login throttle. */
  readonly passwords: Pick<PasswordSignIn, 'check'>;
  readonly ownPassword: Pick<OwnPasswordChange, 'change'>;
  readonly secondFactor: Pick<SecondFactor, 'of'>;
  readonly sourceOf: SourceAddress;
  readonly escalation: EscalationCheck;
  readonly sessions: UserSessions;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

export class PasswordChanges {
  readonly #options: PasswordChangesOptions;
  readonly #documents: RequestDocumentReader<typeof PasswordChangeSchema>;

  constructor(options: PasswordChangesOptions) {
    this.#options = options;
    this.#documents = new RequestDocumentReader('PasswordChange', options.group, PasswordChangeSchema);
  }

  async change(context: RequestContext, name: string): Promise<void> {
    const { group, users, escalation } = this.#options;
    const isOwn = context.user.name === name;
    const document = await this.#documents.read(context, name);
    this.#validate(name, document, isOwn);
    const user = (await users.read(name, context.signal)) && users.get(name);
    if (!user) throw newNotFound({ group, resource: USER.plural }, name);
    if (isOwn) return this.#changeOwn(context, user, document);
    await escalation.checkImpersonation(context, name, user.groups, 'setting the password');
    return this.#set(context, user, document);
  }

  async #set(
    context: RequestContext,
    { name, uid: userUID }: Account,
    { password, mustChange = true }: PasswordChange,
  ): Promise<void> {
    const { credentials, hasher, sessions, now = Date.now } = this.#options;
    const passwordHash = await hasher.hash(password, context);
    const changedAt = newChangeTime(credentials.get(name)?.changedAt, now());
    await credentials.set(name, { userUID, passwordHash, mustChange, changedAt }, context.signal);
    await sessions.terminate(name, context.signal);
  }

  async #changeOwn(context: RequestContext, user: Account, document: PasswordChange): Promise<void> {
    const { group, ownPassword, secondFactor } = this.#options;
    // A thief of the password and of a token must not lock the user out. A token does not say when the factor was used.
    if (!isEmpty(secondFactor.of(user))) {
      const message = 'with a second factor, the password can be changed on the account page only';
      throw newForbidden({ group, resource: USER.plural }, user.name, message);
    }
    const verified = await this.#verifyCurrent(context, user, document);
    const outcome = verified
      ? await ownPassword.change(user, document.password, verified, context.signal)
      : 'conflict';
    if (outcome === 'conflict') {
      throw newConflict({ group, resource: USER.plural }, user.name, 'the password has just been changed');
    }
    if ('invalid' in outcome) {
      throw this.#documents.invalid(user.name, [invalidValue('password', outcome.invalid)]);
    }
  }

  #validate(name: string, { password, currentPassword, mustChange }: PasswordChange, isOwn: boolean): void {
    const causes = passwordViolations(password, name).map((message) => invalidValue('password', message));
    if (isOwn && currentPassword === undefined) {
      causes.push({ reason: 'FieldValueRequired', field: 'currentPassword', message: 'Required value' });
    }
    if (isOwn && mustChange === true) {
      causes.push(invalidValue('mustChange', 'must not be true for your own password'));
    }
    if (causes.length > 0) throw this.#documents.invalid(name, causes);
  }

  /** Returns the password that matched the current one; undefined if it is that of an identity provider. */
  async #verifyCurrent(
    { request, auditID, signal }: RequestContext,
    user: Account,
    { currentPassword = '' }: PasswordChange,
  ): Promise<PasswordID | undefined> {
    const { passwords, sourceOf } = this.#options;
    try {
      const { credential } = await passwords.check({
        user: user.name,
        password: currentPassword,
        method: 'password_change',
        client: '',
        ...originOf(request, sourceOf),
        requestID: auditID,
        acceptMustChange: true,
        signal,
      });
      return credential;
    } catch (error) {
      throw this.#statusError(user.name, error);
    }
  }

  /** Converts an OAuth error of the sign-in into the errors of this API. */
  #statusError(name: string, error: unknown): unknown {
    if (!(error instanceof OAuthError)) return error;
    const seconds = error.retryAfterSeconds ?? 1;
    if (error.status === 429) return newTooManyRequests('too many attempts, try again later', seconds);
    if (error.status === 503) return newServiceUnavailable(error.message, seconds, { cause: error });
    return this.#documents.invalid(name, [invalidValue('currentPassword', 'is wrong')]);
  }
}
