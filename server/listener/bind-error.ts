// Errors of a listener whose address is unavailable, which say what to change.
import { StartupError } from '../../apis/config/v1alpha1/startup-error.ts';
import { codeOf, messageOf } from '../../apis/reading/thrown-value.ts';
import type { ListenerName } from './listener-metrics.ts';

export function bindError(
  error: unknown,
  listener: ListenerName,
  address: string,
  port: number,
): StartupError {
  const code = codeOf(error) ?? 'ERR_LISTEN';
  const reason = bindReason(code, error, listener);
  return new StartupError(code, `${address === '' ? '*' : address}:${port}: ${reason}`, { cause: error });
}

function bindReason(code: string, error: unknown, listener: ListenerName): string {
  const cure = `set --${listener}-port or listeners.${listener}.port`;
  switch (code) {
    case 'EADDRINUSE':
      return `another process listens on this port; stop it, or ${cure} to another port`;
    case 'EACCES':
      return `this user is not allowed to listen on this port; ${cure} to one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine has no such address; set listeners.${listener}.address`;
    default:
      return `cannot listen: ${messageOf(error)}`;
  }
}
