// Deterministic generator of log messages in the style of well-known programs. A log message has one or several lines.
import type { Random } from './random.ts';

const STYLES = ['nginx', 'json', 'logfmt', 'klog', 'java', 'go', 'sql', 'plain'] as const;
export type LogStyle = (typeof STYLES)[number];

const WORDS = [
  'timeout',
  'connection',
  'refused',
  'retrying',
  'cache',
  'miss',
  'hit',
  'user',
  'order',
  'payment',
  'accepted',
  'declined',
  'queue',
  'drained',
  'my-app',
  'node_cpu_usage',
  'a.b.c',
  "don't",
  'foo:bar',
  'Warteschlange',
  'größer',
  'Überlauf',
  'naïve',
  'cpu',
  'CPU',
  'Ready',
  'healthy',
  'unhealthy',
  'e-mail',
  'log4j',
  'x86_64',
  '3.14',
  '1,024',
] as const;
const PATHS = [
  '/',
  '/healthz',
  '/api/v1/orders',
  '/api/v1/orders/42',
  '/login?next=%2Fhome',
  '/img/logo.png',
] as const;
const AGENTS = [
  'curl/8.5.0',
  'Mozilla/5.0 (X11; Linux x86_64)',
  'kube-probe/1.36',
  'Go-http-client/2.0',
] as const;
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'] as const;
const STATUSES = [200, 200, 200, 201, 204, 301, 404, 499, 500, 502, 503] as const;
const LEVELS = ['info', 'info', 'info', 'info', 'debug', 'warn', 'error'] as const;
const CLASSES = ['SQLException', 'TimeoutException', 'NullPointerException'] as const;

/** The lines of one message. `second`: its time, RFC 3339 without a fraction. */
export function message(style: LogStyle, second: string, random: Random): string[] {
  return WRITERS[style](second, random);
}

const ip = (random: Random) => `10.${random.below(4)}.${random.below(256)}.${random.below(256)}`;
const sentence = (random: Random, length = 3 + random.below(5)) =>
  Array.from({ length }, () => random.pick(WORDS)).join(' ');

const WRITERS: Readonly<Record<LogStyle, (second: string, random: Random) => string[]>> = {
  nginx: (second, random) => [
    `${ip(random)} - - [${second}] "${random.pick(METHODS)} ${random.pick(PATHS)} HTTP/1.1" ` +
      `${random.pick(STATUSES)} ${random.below(5000)} "-" "${random.pick(AGENTS)}"`,
  ],
  json: (second, random) => [
    JSON.stringify({
      ts: second,
      level: random.pick(LEVELS),
      msg: sentence(random),
      trace_id: random.uuid(),
      duration_ms: random.below(900),
    }),
  ],
  logfmt: (second, random) => [
    `time=${second} level=${random.pick(LEVELS)} msg="${sentence(random)}" url=http://${ip(random)}:8080/metrics`,
  ],
  klog: (second, random) => {
    const head = `${random.pick(['I', 'I', 'I', 'W', 'E'])}${second.slice(5, 7)}${second.slice(8, 10)}`;
    const rest = `       1 controller.go:${random.below(900)}] "${sentence(random)}" object="ns-${random.below(9)}/web"`;
    return [`${head} ${second.slice(11, 19)}.${String(random.below(1e6)).padStart(6, '0')}${rest}`];
  },
  java: (second, random) => {
    if (!random.chance(0.08)) {
      const level = random.pick(['INFO ', 'INFO ', 'DEBUG', 'WARN ']);
      return [`${second.slice(0, 19)} ${level} [main] com.example.shop.OrderService - ${sentence(random)}`];
    }
    const frames = Array.from(
      { length: 3 + random.below(6) },
      (_, depth) => `\tat com.example.shop.Layer${depth}.call(Layer${depth}.java:${random.below(400)})`,
    );
    return [
      `${second.slice(0, 19)} ERROR [main] com.example.shop.OrderService - ${sentence(random)}`,
      `java.util.concurrent.${random.pick(CLASSES)}: ${sentence(random)}`,
      ...frames,
      `Caused by: java.net.ConnectException: Connection refused (${ip(random)}:5432)`,
      '\t... 12 more',
    ];
  },
  go: (second, random) => {
    if (!random.chance(0.03)) return [`${second.replace('T', ' ').replaceAll('-', '/')} ${sentence(random)}`];
    return [
      'panic: runtime error: index out of range [7] with length 3',
      ' ',
      `goroutine ${random.below(900)} [running]:`,
      `main.(*worker).run(0xc000${random.hex(6)}, {0x0, 0x0})`,
      `\t/src/worker.go:${random.below(300)} +0x1d`,
      'exit status 2',
    ];
  },
  sql: (second, random) => [
    random.chance(0.5)
      ? `${second} UTC [${random.below(999)}] LOG:  duration: ${random.below(99)}.${random.below(999)} ms  statement: ` +
        `SELECT * FROM "orders" WHERE name = 'O''Brien' AND id IN (${random.below(99)}, ${random.below(99)});`
      : `${second} UTC [${random.below(999)}] ${random.pick(['LOG', 'LOG', 'ERROR', 'FATAL'])}:  ${sentence(random)}`,
  ],
  plain: (_second, random) => [sentence(random)],
};
