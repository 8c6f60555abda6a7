import { StartupError } from '../../apis/config/v1alpha1/startup-error.ts';
import { codeOf, messageOf } from '../../apis/reading/thrown-value.ts';
import type { ListenerName } from './listener-name.ts';

/** Why a listener could not be bound, with the cure. */
export function listenFault(
  error: unknown,
  listener: ListenerName,
  address: string,
  port: number,
): StartupError {
  const code = codeOf(error) ?? 'ERR_LISTEN';
  const cure = `set --${listener}-port or listeners.${listener}.port`;
  return new StartupError(
    code,
    `${address === '' ? '*' : address}:${port}: ${explain(code, cure, listener, error)}`,
    {
      cause: error,
    },
  );
}

function explain(code: string, cure: string, listener: ListenerName, error: unknown): string {
  switch (code) {
    case 'EADDRINUSE':
      return `another process listens on this port; stop it, or ${cure} to another port`;
    case 'EACCES':
      return `this user may not listen on this port; ${cure} to one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine has no such address; set listeners.${listener}.address`;
    default:
      return `cannot listen: ${messageOf(error)}`;
  }
}
