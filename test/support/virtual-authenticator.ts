// An authenticator for passkeys in a Chromium of tests, which confirms at once.
import type { CDPSession, Page } from 'puppeteer-core';

export class VirtualAuthenticator {
  readonly #tools: CDPSession;
  readonly #authenticatorId: string;

  private constructor(tools: CDPSession, authenticatorId: string) {
    this.#tools = tools;
    this.#authenticatorId = authenticatorId;
  }

  /** Of the device that shows the page, which unlocks for the user. */
  static async of(page: Page): Promise<VirtualAuthenticator> {
    const tools = await page.createCDPSession();
    await tools.send('WebAuthn.enable');
    const { authenticatorId } = await tools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new VirtualAuthenticator(tools, authenticatorId);
  }

  /** Number of passkeys. */
  async count(): Promise<number> {
    const { credentials } = await this.#tools.send('WebAuthn.getCredentials', this.#self);
    return credentials.length;
  }

  async clear(): Promise<void> {
    await this.#tools.send('WebAuthn.clearCredentials', this.#self);
  }

  /** Whether the user unlocks the device. */
  async setUserVerified(isUserVerified: boolean): Promise<void> {
    await this.#tools.send('WebAuthn.setUserVerified', { ...this.#self, isUserVerified });
  }

  /** Whether the user confirms each request. */
  async setPresent(enabled: boolean): Promise<void> {
    await this.#tools.send('WebAuthn.setAutomaticPresenceSimulation', { ...this.#self, enabled });
  }

  get #self(): { readonly authenticatorId: string } {
    return { authenticatorId: this.#authenticatorId };
  }
}
