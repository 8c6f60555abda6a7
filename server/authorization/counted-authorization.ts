// Wrapper of an authorizer that counts decisions for metrics.
import type { AuthorizationResult } from '../observability/access-metrics.ts';
import type { Authorizer, Decision } from './authorizer.ts';

/** Counts the decisions of an authorizer, for metrics. */
interface AuthorizationCounter {
  authorized(result: AuthorizationResult): void;
}

/** Wraps an authorizer and counts its decisions. */
export function countedAuthorization(inner: Authorizer, counter: AuthorizationCounter): Authorizer {
  const decided = (decision: Decision): Decision => {
    counter.authorized(decision.allowed ? 'allowed' : 'denied');
    return decision;
  };
  const failed = (error: unknown): never => {
    counter.authorized('error');
    throw error;
  };
  return {
    authorize: (attributes, context) => {
      let decision: ReturnType<Authorizer['authorize']>;
      try {
        decision = inner.authorize(attributes, context);
      } catch (error) {
        return failed(error);
      }
      return decision instanceof Promise ? decision.then(decided, failed) : decided(decision);
    },
  };
}
