// Reads a person from the claims of an OpenID provider. A value of an unknown form is an error, never dropped.
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import type { UpstreamPerson } from '../provider.ts';
import { SignInRefused } from '../provider.ts';
import type { OIDCSettings } from './oidc-settings.ts';

export type Claims = Readonly<Record<string, unknown>>;

/**
 * Claims of userinfo replace those of the ID token, which is often small. An address and its verification are of the same one, because
 * both may have different addresses.
 */
export function mergedClaims(idToken: Claims = {}, userinfo: Claims = {}): Claims {
  const { email, email_verified } = Object.hasOwn(userinfo, 'email') ? userinfo : idToken;
  return { ...idToken, ...userinfo, email, email_verified };
}

/** OpenID Connect Core, 2. Two texts with lone surrogates can be equal as UTF-8, and an Identity cannot store longer ones. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** `claims`: of the ID token or of userinfo, whose `iss` and `sub` are verified. Throws SignInRefused. */
export function personOf(
  issuer: string,
  subject: string,
  claims: Claims,
  names: OIDCSettings['claims'],
): UpstreamPerson {
  if (!SUBJECT.test(subject)) throw new SignInRefused('the subject is not ASCII of at most 255 characters');
  const { email, email_verified: emailVerified, name: displayName } = claims;
  return {
    issuer,
    subject,
    name: textIn(claims, names.name),
    email: typeof email === 'string' && email !== '' ? email : undefined,
    // Some providers send the text "true". Only a boolean counts.
    emailVerified: emailVerified === true,
    displayName: typeof displayName === 'string' ? displayName : undefined,
    groups: names.groups === '' ? [] : groupsIn(claims, names.groups),
  };
}

function textIn(claims: Claims, claim: string): string | undefined {
  const value = valueAt(claims, claim);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new SignInRefused(`the claim ${claim} is not a string`);
}

/** An array of names, of objects with a name, or a single name. */
function groupsIn(claims: Claims, claim: string): readonly string[] {
  const value = valueAt(claims, claim);
  if (value === undefined || value === null) {
    // Entra ID replaces more than 200 groups by a reference, or by `hasgroups`. They must not count as none.
    const [top = ''] = pathOf(claim);
    const isReplaced = isRecord(claims['_claim_names']) && Object.hasOwn(claims['_claim_names'], top);
    if (isReplaced || claims['hasgroups'] === true) {
      throw new SignInRefused(
        `the provider does not send the groups of this person, because there are too many: limit the groups of the claim ${claim} at the provider`,
      );
    }
    return [];
  }
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw new SignInRefused(`the claim ${claim} is not a list of groups`);
  return value.map((item: unknown) => {
    const name = isRecord(item) ? item['name'] : item;
    if (typeof name !== 'string') throw new SignInRefused(`the claim ${claim} has a group without a name`);
    return name;
  });
}

function valueAt(claims: Claims, claim: string): unknown {
  let value: unknown = claims;
  for (const key of pathOf(claim)) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** `claim`: the name of a claim, or a JSON Pointer. Names can contain dots and colons, as in `https://example.com/groups`. */
function pathOf(claim: string): readonly string[] {
  if (!claim.startsWith('/')) return [claim];
  return claim
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
