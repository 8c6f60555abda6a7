import { type APIServerConfiguration, apiVersionOf } from './configuration.ts';
import { parseDuration } from './duration.ts';
import type { Fault } from './fault.ts';
import type { FaultLocator } from './fault-locator.ts';

/** Faults that lie between options, not in one. */
export function contradictions(configuration: APIServerConfiguration, locator: FaultLocator): Fault[] {
  const faults: Fault[] = [];
  const { secure, insecure, limits } = configuration.listeners;
  const versions = [...new Set([apiVersionOf('platform'), apiVersionOf(configuration.platform.name)])];
  if (!versions.includes(configuration.apiVersion)) {
    faults.push(locator.fault(['apiVersion'], 'value', `must be ${versions.join(' or ')}`));
  }
  if ((secure.certFile === '') !== (secure.keyFile === '')) {
    const missing = secure.certFile === '' ? 'certFile' : 'keyFile';
    const given = secure.certFile === '' ? 'keyFile' : 'certFile';
    faults.push(locator.fault(['listeners', 'secure', given], 'key', `needs ${missing} beside it`));
  }
  if (secure.caFile !== '' && secure.certFile === '') {
    faults.push(locator.fault(['listeners', 'secure', 'caFile'], 'key', 'needs certFile beside it'));
  }
  if (insecure.enabled && insecure.port !== 0 && insecure.port === secure.port) {
    faults.push(
      locator.fault(['listeners', 'insecure', 'port'], 'value', 'is the same port as listeners.secure.port'),
    );
  }
  if (milliseconds(limits.requestTimeout) < milliseconds(limits.headersTimeout)) {
    faults.push(
      locator.fault(
        ['listeners', 'limits', 'requestTimeout'],
        'value',
        'must not be shorter than headersTimeout',
      ),
    );
  }
  return faults;
}

function milliseconds(text: string): number {
  return parseDuration(text) ?? Number.NaN;
}
