// Spellings of credentials in headers: those of clients, and those that two parsers could read differently.

export const PREFIX = 'base64url.bearer.authorization.k8s.io.';
export const WEBSOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
export const PROTOCOL = 'v4.channel.k8s.io';

/** Headers with the token `T` and the same token `E` in base64url, as Latin-1. */
export const HEADERS: readonly (readonly string[])[] = [
  // The scheme, and the space behind it.
  ...[
    ...[
      'Bearer T',
      'bearer T',
      'BEARER T',
      'Bearer  T',
      'Bearer\tT',
      'Bearer \tT',
      ' Bearer T',
      '\tBearer T',
    ],
    ...['Bearer T ', 'Bearer T\t', 'Bearer T x', 'Bearer T,x', 'Bearer "T"', 'Bearer: T', 'Bearer=T'],
    ...['', ' ', 'Bearer', 'Bearer ', 'T', 'Token T', 'Basic T', 'Basic YTpi', 'Negotiate T', 'Digest a="b"'],
    ...[
      'Basic YTpi, Bearer T',
      'Bearer T, Basic YTpi',
      'Basic YTpi Bearer T',
      'X Bearer T',
      'Bearer Bearer T',
    ],
    ...[
      'Bearer T\x1f',
      '\x1cBearer T',
      'Bearer%20T',
      'Bearer+T',
      'Bearer T;',
      'Bearer =T',
      'DPoP T',
      'MAC T',
    ],
    // Spaces of Unicode, as UTF-8 and as single bytes, before and behind the token and in the middle.
    ...['\xc2\xa0', '\xc2\x85', '\xe1\x9a\x80', '\xe2\x80\x83', '\xe2\x80\xa8', '\xe3\x80\x80'].flatMap(
      (space) => [`${space}Bearer T`, `Bearer T${space}`, `Bearer${space}T`, `Bearer ${space}T`],
    ),
    ...['\xef\xbb\xbf', '\xe2\x80\x8b', '\xa0', '\x85'].map((space) => `${space}Bearer T`),
    ...['\x0b', '\x0c', '\x00', '\x7f'].map((control) => `${control}Bearer T`),
  ].map((value) => [`Authorization: ${value}`]),
  // Names and lines.
  ['aUTHORIZATION: Bearer T'],
  ['Authorization : Bearer T'],
  ['Authorization\xa0: Bearer T'],
  ['Authorization_: Bearer T'],
  ['X-Authorization: Bearer T'],
  ['Authorization: Bearer', ' T'],
  ['Authorization:', ' Bearer T'],
  ['Authorization: Basic YTpi', '\tBearer T'],
  ['Auth\x00orization: Bearer T'],
  ['"Authorization": Bearer T'],
  ['HTTP_AUTHORIZATION: Bearer T'],
  ['X-A: b', ' Authorization: Bearer T'],
  ['Authorization: Bearer T', 'Authorization: Basic YTpi'],
  ['Authorization: Basic YTpi', 'Authorization: Bearer T'],
  ['Authorization: ', 'Authorization: Bearer T'],
  ['Authorization: Basic YTpi', 'Connection: close, Authorization'],
  ['Authorization: Bearer T', 'Connection: close, Authorization'],
  ['Authorization: Bearer T', 'Connection: close', 'Connection: \xc2\xa0authorization, "authorization"'],
  ['Authorization: Bearer T', 'Proxy-Connection: Authorization', 'Trailer: Authorization', 'TE: trailers'],
  // Other headers that carry credentials.
  ['Proxy-Authorization: Bearer T'],
  ['Proxy-Authorization: Basic YTpi', 'Authorization: Bearer T'],
  ['Cookie: token=T; Authorization=Bearer T'],
  ['X-Forwarded-Access-Token: T', 'X-Auth-Request-Access-Token: T', 'X-Api-Key: T'],
  ['X-Remote-User: root', 'X-Remote-Group: system:masters', 'x-remote-extra-a: b', 'X_Remote_User: root'],
  ['X-Forwarded-User: root', 'Remote-User: root', 'X-Client-Cert: x', 'X-Forwarded-Client-Cert: x'],
  ['Impersonate-User: root', 'Impersonate-Group: system:masters'],
  ['Impersonate_User: root', 'Authorization: Bearer T'],
  // Subprotocols of a request that opens no WebSocket.
  [`Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`],
  [`Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`, 'Upgrade: websocket'],
  [`Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`, 'Authorization: Basic YTpi'],
  [`Sec-WebSocket-Protocol: ${PREFIX}E, ${PROTOCOL}`, 'Authorization: Bearer T'],
];

/** Values of Sec-WebSocket-Protocol, each a header line, or a whole line. */
export const PROTOCOLS: readonly (readonly string[])[] = [
  [`${PREFIX}E, ${PROTOCOL}`],
  [`${PROTOCOL},${PREFIX}E`],
  [`${PROTOCOL} ,\t${PREFIX}E\t, `],
  [PROTOCOL, `${PREFIX}E`],
  [`${PREFIX}E`, PROTOCOL],
  [`${PREFIX}E`],
  [`${PREFIX}E,`],
  [`${PREFIX}E, ${PREFIX}E, ${PROTOCOL}`],
  [`${PREFIX}E`, `${PREFIX}E, ${PROTOCOL}`],
  [`${PREFIX}, ${PROTOCOL}`],
  [`${PREFIX}E=, ${PROTOCOL}`],
  [`${PREFIX}E!, ${PROTOCOL}`],
  [`${PREFIX}x, ${PROTOCOL}`],
  [`${PREFIX}_w, ${PROTOCOL}`],
  [`${PREFIX.toUpperCase()}E, ${PROTOCOL}`],
  [`Base64url.bearer.authorization.k8s.io.E, ${PROTOCOL}`],
  [`base64.bearer.authorization.k8s.io.E, ${PROTOCOL}`],
  ...['\xc2\xa0', '\xc2\x85', '\xe3\x80\x80', '\xa0', '"'].flatMap((space) => [
    [`${space}${PREFIX}E, ${PROTOCOL}`],
    [`${PROTOCOL},${space}${PREFIX}E`],
    [`${PREFIX}E${space}, ${PROTOCOL}`],
  ]),
  [`${PREFIX}E, ${PROTOCOL}`, 'Authorization: Basic YTpi'],
  [`${PREFIX}E, ${PROTOCOL}`, 'Authorization: Bearer T'],
  [`${PREFIX}E, ${PROTOCOL}`, 'Authorization: Bearer x'],
  [`${PREFIX}E, ${PROTOCOL}`, 'Authorization: \xc2\xa0Bearer T'],
  [`${PREFIX}x, ${PROTOCOL}`, 'Authorization: Bearer T'],
  [PROTOCOL, 'Authorization: \xc2\xa0Bearer T'],
  [PROTOCOL, 'Authorization: Bearer T'],
  [PROTOCOL],
  [''],
];

/** Replaces `T` by the token, and `E` in a subprotocol by the token in base64url. */
export function filled(lines: readonly string[], token: string): string[] {
  const encoded = Buffer.from(token).toString('base64url');
  return lines.map((line) =>
    line.replace(/(?<![\w-])T(?![\w-])/g, token).replace(/(?<=k8s\.io\.)E/gi, encoded),
  );
}

/** Header lines in the title of a test. */
export function titleOf(lines: readonly string[]): string {
  const text = lines.join(' | ');
  return text.replace(/[^ -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
