// Commands in containers, over the WebSocket protocol of kube-apiserver: the first byte of each message is its channel.
import { base64url } from './base64url.ts';
import { ConnectionError, StatusError, type StatusObject } from './status-error.ts';
import type { Transport } from './transport.ts';

export interface ExecOptions {
  readonly command: readonly string[];
  /** Default: the first container of the pod. */
  readonly container?: string | undefined;
  /** Whether the command has a terminal. Then all its output is `stdout`. */
  readonly tty?: boolean | undefined;
  /** Called with the output, in pieces that can end within a character. A terminal such as xterm.js takes them as they are. */
  readonly onOutput?: ((data: Uint8Array, stream: 'stdout' | 'stderr') => void) | undefined;
  /** Closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** A running command. */
export interface Shell {
  /** Writes to the standard input. */
  write(data: string | Uint8Array): void;
  /** Sets the size of the terminal, in characters. */
  resize(columns: number, rows: number): void;
  /** Ends the standard input. */
  closeInput(): void;
  /** Closes the connection, which ends most commands. */
  close(): void;
  /** Resolves when the command has ended, or the connection is lost. */
  readonly ended: Promise<ExecResult>;
}

export interface ExecResult {
  /** Undefined if the command could not run, or the connection was lost. */
  readonly exitCode: number | undefined;
  /** How the command ended. Undefined if the connection was lost. */
  readonly status: StatusObject | undefined;
}

export type WebSocketConstructor = typeof globalThis.WebSocket;

const PROTOCOL = 'v5.channel.k8s.io';
/** A script cannot set headers of a WebSocket, so kube-apiserver reads the token from a subprotocol. */
const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** Milliseconds until a WebSocket must be open. */
const OPEN_TIMEOUT = 30_000;

const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, size: 4, close: 255 } as const;

/** Opens a shell at the path of a subresource `exec`. Throws a StatusError if the server rejects it. */
export async function exec(
  transport: Transport,
  path: string,
  { command, container, tty = false, onOutput, signal }: ExecOptions,
  WebSocket: WebSocketConstructor | undefined = globalThis.WebSocket,
): Promise<Shell> {
  if (WebSocket === undefined) {
    throw new TypeError(
      'shells need a WebSocket: pass the option WebSocket to Client, or use Node 22 or newer',
    );
  }
  const url = transport.url(path, { container, tty, stdin: true, stdout: true, stderr: !tty });
  for (const word of command) url.searchParams.append('command', word);
  const connect = async (token: string): Promise<WebSocket | undefined> => {
    const address = url.href.replace(/^http/, 'ws');
    const socket = new WebSocket(address, [
      PROTOCOL,
      TOKEN_PROTOCOL + base64url(new TextEncoder().encode(token)),
    ]);
    return (await opens(socket, signal)) ? socket : undefined;
  };
  const token = await transport.token();
  let socket = await connect(token);
  if (socket === undefined) {
    const next = await rejection(transport, path + url.search, token, signal);
    socket = await connect(next);
  }
  if (socket === undefined) throw new ConnectionError(`WebSocket ${url.pathname}: the connection failed`);
  return shellOn(socket, onOutput, signal);
}

/** Whether a WebSocket opens. Throws if the caller aborts. */
async function opens(socket: WebSocket, signal?: AbortSignal): Promise<boolean> {
  const close = (): void => socket.close();
  const opened = new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
    socket.addEventListener('close', () => resolve(false), { once: true });
  });
  signal?.addEventListener('abort', close, { once: true });
  if (signal?.aborted) close();
  const timer = setTimeout(close, OPEN_TIMEOUT);
  const isOpen = await opened;
  clearTimeout(timer);
  signal?.removeEventListener('abort', close);
  if (signal?.aborted) close();
  signal?.throwIfAborted();
  return isOpen;
}

/**
 * Why the server has rejected a WebSocket, which a script cannot read: the same request without an upgrade has the same
 * error. Returns the next token if only the token was invalid.
 */
async function rejection(
  transport: Transport,
  path: string,
  token: string,
  signal?: AbortSignal,
): Promise<string> {
  try {
    const { exchange } = await transport.open(path, { signal });
    exchange.close();
  } catch (error) {
    // 400 asks for the upgrade, so a WebSocket would be accepted.
    if (!(error instanceof StatusError && error.code === 400)) throw error;
    const next = await transport.token();
    if (next !== token) return next;
    throw new ConnectionError('the WebSocket was closed before it was open', { cause: error });
  }
  return token;
}

function shellOn(socket: WebSocket, onOutput: ExecOptions['onOutput'], signal?: AbortSignal): Shell {
  socket.binaryType = 'arraybuffer';
  let status: StatusObject | undefined;
  socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    // A message of text has no channel.
    if (!(data instanceof ArrayBuffer)) return;
    const bytes = new Uint8Array(data);
    const content = bytes.subarray(1);
    if (bytes[0] === CHANNEL.stdout) onOutput?.(content, 'stdout');
    if (bytes[0] === CHANNEL.stderr) onOutput?.(content, 'stderr');
    if (bytes[0] === CHANNEL.status) status = statusIn(content);
  });
  const close = (): void => socket.close();
  signal?.addEventListener('abort', close, { once: true });
  const ended = new Promise<ExecResult>((resolve) => {
    const end = (): void => {
      signal?.removeEventListener('abort', close);
      resolve({ exitCode: exitCode(status), status });
    };
    socket.addEventListener('close', end, { once: true });
  });
  const send = (channel: number, data: string | Uint8Array): void => {
    const content = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    const message = new Uint8Array(content.length + 1);
    message[0] = channel;
    message.set(content, 1);
    socket.send(message);
  };
  return {
    write: (data) => send(CHANNEL.stdin, data),
    resize: (columns, rows) => send(CHANNEL.size, JSON.stringify({ Width: columns, Height: rows })),
    closeInput: () => send(CHANNEL.close, Uint8Array.of(CHANNEL.stdin)),
    close,
    ended,
  };
}

function exitCode(status: StatusObject | undefined): number | undefined {
  if (status?.status === 'Success') return 0;
  const given = status?.details?.causes;
  const causes: readonly ({ reason?: string; message?: string } | null)[] = Array.isArray(given) ? given : [];
  const code = String(causes.find((cause) => cause?.reason === 'ExitCode')?.message);
  return /^\d+$/.test(code) ? Number(code) : undefined;
}

/** Undefined for anything but a JSON object: a node can send any text, and an error in a listener would end a program. */
function statusIn(content: Uint8Array): StatusObject | undefined {
  try {
    const status: unknown = JSON.parse(new TextDecoder().decode(content));
    return typeof status === 'object' && status !== null ? status : undefined;
  } catch {
    return undefined;
  }
}
