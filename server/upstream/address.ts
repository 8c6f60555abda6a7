// Address of a server or of its proxy, and Basic credentials, as headers and sockets need them.

export interface Address {
  /** Name or IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Host and port, with the brackets of an IPv6 address. */
  readonly authority: string;
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const SOCKS_PORT = 1080;

export function addressOf({ protocol, hostname, port: given }: URL): Address {
  const port = Number(given) || (PORTS[protocol] ?? SOCKS_PORT);
  return { host: hostname.replace(/^\[|\]$/g, ''), port, authority: `${hostname}:${port}` };
}

/** Returns the header Authorization. `credentials`: user and password, separated by a colon (RFC 7617). */
export function basicAuthorization(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
