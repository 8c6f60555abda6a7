// The hosts of one directory: connects to the last one that worked, and to the next one after a network error.

import { messageOf } from '../../../../apis/reading/thrown-value.ts';
import { ProviderUnavailable } from '../provider.ts';
import { DirectoryClient } from './directory-client.ts';
import { connectDirectory, parseAddress } from './directory-connection.ts';
import type { LDAPSettings } from './ldap-settings.ts';

interface DirectoryHostsOptions extends Pick<LDAPSettings, 'hosts' | 'tls'> {
  /** Of one host, in ms. */
  readonly connectMs: number;
}

export class DirectoryHosts {
  readonly #options: DirectoryHostsOptions;
  #preferred = 0;

  constructor(options: DirectoryHostsOptions) {
    this.#options = options;
  }

  /**
   * Returns a client on which `bind` has succeeded. Only network errors lead to another host: a host that responds decides for all. Names
   * are resolved again at each connection.
   */
  async connect(
    ca: string | undefined,
    signal: AbortSignal,
    bind: (client: DirectoryClient) => Promise<void>,
  ): Promise<DirectoryClient> {
    const { hosts, tls, connectMs } = this.#options;
    const failures: string[] = [];
    for (let attempt = 0; attempt < hosts.length; attempt++) {
      const index = (this.#preferred + attempt) % hosts.length;
      const host = hosts[index] ?? '';
      let client: DirectoryClient | undefined;
      try {
        const socket = await connectDirectory(parseAddress(host, tls), {
          tls,
          ca,
          timeoutMs: connectMs,
          signal,
        });
        client = new DirectoryClient(socket, signal);
        await bind(client);
        this.#preferred = index;
        return client;
      } catch (error) {
        client?.[Symbol.dispose]();
        if (error instanceof ProviderUnavailable) throw error;
        signal.throwIfAborted();
        failures.push(`${host}: ${messageOf(error)}`);
      }
    }
    throw new ProviderUnavailable(failures.join('; '));
  }
}
