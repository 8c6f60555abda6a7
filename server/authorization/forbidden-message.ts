import { goQuoted } from '../../apis/reading/go-quote.ts';
import type { Attributes } from './authorizer.ts';

/** Returns the message of kube-apiserver for a forbidden request, verbatim, because users search for the message. */
export function forbiddenMessage(attributes: Attributes, reason: string): string {
  const message = sanitize(sentence(attributes));
  return reason === '' ? message : `${message}: ${reason}`;
}

function sentence(attributes: Attributes): string {
  const { user, verb } = attributes;
  if (!('resource' in attributes))
    return `User ${goQuoted(user.name)} cannot ${verb} path ${goQuoted(attributes.path)}`;
  const { group, namespace, subresource } = attributes;
  const resource = subresource === '' ? attributes.resource : `${attributes.resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuoted(namespace)}`;
  return `User ${goQuoted(user.name)} cannot ${verb} resource ${goQuoted(resource)} in API group ${goQuoted(group)} ${scope}`;
}

/** Escapes HTML, because a browser can render the message. */
function sanitize(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
