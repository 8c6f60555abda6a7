// Authorization filter: rejects requests that the authorizer denies.
import { newForbidden } from '../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { Attributes, Authorizer, Decision } from '../authorization/authorizer.ts';
import { forbiddenMessage } from '../authorization/forbidden-message.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { Exchange, Filter } from './exchange.ts';

/** Rejects denied requests with 403 and the message of kube-apiserver. */
export function authorization(authorizer: Authorizer): Filter {
  const decide = (exchange: Exchange, attributes: Attributes, decision: Decision): void => {
    exchange.decision = decision;
    if (decision.allowed) return;
    const message = forbiddenMessage(attributes, decision.reason);
    if (!('resource' in attributes)) throw newForbidden(undefined, '', message);
    throw newForbidden(attributes, attributes.name, message);
  };
  return (exchange) => {
    const attributes = attributesOf(exchange.info, exchange.user);
    const decision = authorizer.authorize(attributes, exchange);
    if (decision instanceof Promise) return decision.then((made) => decide(exchange, attributes, made));
    return decide(exchange, attributes, decision);
  };
}

function attributesOf(info: RequestInfo, user: UserInfo): Attributes {
  if (!info.isResourceRequest) return { user, verb: info.verb, path: info.path };
  const { prefix, verb, group, version, resource, subresource, namespace, name } = info;
  const { labelSelector, fieldSelector } = info;
  return {
    user,
    prefix,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
}
