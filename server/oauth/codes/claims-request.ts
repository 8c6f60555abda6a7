// Parser of the `claims` parameter (OpenID Connect Core, 5.5): the claims that a client requests in addition to those of its
// scopes, the user that it expects, and the required authentication. Unknown members are ignored.
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import type { Refuse } from '../http/form.ts';
import { type AcrRequest, isAcrValue } from '../sessions/proof.ts';
import { type RequestedClaims, SCOPE_OF, USER_CLAIMS } from '../users/user-claims.ts';

interface ClaimsRequest {
  readonly claims?: RequestedClaims;
  /** The only user that is allowed to sign in. */
  readonly user?: string;
  readonly acr?: AcrRequest;
}

type Members = Readonly<Record<string, unknown>>;

/** `scopes`: those of the client, which gets no claims of other scopes. Throws the error of `refuse`. */
export function claimsRequest(text: string, scopes: readonly string[], refuse: Refuse): ClaimsRequest {
  const malformed = (): Error => refuse('invalid_request', 'claims is not a JSON object of claims requests');
  const request = parsed(text);
  if (!isRecord(request)) throw malformed();
  const [inUserinfo = {}, inIDToken = {}] = [request['userinfo'], request['id_token']].map((members = {}) => {
    if (!isRecord(members)) throw malformed();
    return members;
  });
  const claimsIn = (members: Members) =>
    USER_CLAIMS.filter((claim) => Object.hasOwn(members, claim) && scopes.includes(SCOPE_OF[claim]));
  const [userinfo, idToken] = [claimsIn(inUserinfo), claimsIn(inIDToken)];
  const user = subjectIn([inUserinfo, inIDToken], refuse);
  const acr = acrIn(inIDToken, refuse);
  return {
    ...(userinfo.length + idToken.length === 0 ? {} : { claims: { userinfo, idToken } }),
    ...(user === undefined ? {} : { user }),
    ...(acr ? { acr } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The requested values of a claim (5.5.1). */
function valuesIn(members: Members, claim: string): readonly unknown[] {
  const member = Object.hasOwn(members, claim) ? members[claim] : undefined;
  if (!isRecord(member)) return [];
  const { value, values } = member;
  return [...(value === undefined ? [] : [value]), ...(Array.isArray(values) ? values : [])];
}

/** A response for another user is not allowed, so no value is ignored. */
function subjectIn(targets: readonly Members[], refuse: Refuse): string | undefined {
  const [user, ...others] = new Set(targets.flatMap((members) => valuesIn(members, 'sub')));
  if (user === undefined) return undefined;
  if (typeof user === 'string' && others.length === 0) return user;
  throw refuse('invalid_request', 'claims requests more than one sub, or one that is not a string');
}

function acrIn(members: Members, refuse: Refuse): AcrRequest | undefined {
  const requested = valuesIn(members, 'acr');
  if (requested.length === 0) return undefined;
  const values = requested.filter(isAcrValue);
  const { acr } = members;
  const essential = isRecord(acr) && acr['essential'] === true;
  if (essential && values.length === 0) {
    throw refuse('unmet_authentication_requirements', 'no requested value of acr is supported');
  }
  return { values, essential };
}
