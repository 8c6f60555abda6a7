// Tests of exec, attach, cp, port-forward and logs through the gateway.
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { peakWhile, residentMB } from '../../../hack/bench/measuring/process-usage.ts';
import { podLogs } from '../../../hack/simulation/kwok.ts';
import { until, untilSteady } from '../../support/until.ts';
import { type GatewayPlatform, SIDES, type Side } from './gateway-platform.ts';
import { openStream } from './raw-request.ts';
import { sharedGateway } from './shared-gateway.ts';

/** kubectl falls back from WebSocket to SPDY on its own, which these variables prevent or force. */
const PROTOCOLS = {
  SPDY: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' },
  WebSocket: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'true', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'true' },
};

/** Output of a command. Its hash changes with every changed, lost or repeated part. */
const MANY_BYTES = 128 << 20;
const MANY_LINES = `seq 100000000 | head -c ${MANY_BYTES}`;
/** The buffers of the connections and the garbage of their reads. */
const FLAT_MB = 60;

describe('streams', () => {
  let gateway: GatewayPlatform;
  let token: string;
  let pod: string;
  const children: ChildProcessWithoutNullStreams[] = [];

  before(async () => {
    gateway = await sharedGateway();
    token = await gateway.signIn('ada');
    pod = gateway.pod.name;
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill();
    await gateway.settled();
  });

  function start(side: Side, env: NodeJS.ProcessEnv, ...args: string[]): ChildProcessWithoutNullStreams {
    const { platform } = gateway;
    const all = [...gateway.flags(side, token), '-n', gateway.pod.namespace, ...args];
    const child = spawn(platform.controlPlane.kubectl, all, { env: { ...platform.environment(), ...env } });
    children.push(child);
    return child;
  }

  /** Runs kubectl with an input; resolves with its output. */
  async function run(side: Side, env: NodeJS.ProcessEnv, input: string, ...args: string[]) {
    const child = start(side, env, ...args);
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number]>,
    ]);
    return { code, stdout, stderr };
  }

  const onBothSides = <Result>(work: (side: Side) => Promise<Result>): Promise<Result[]> =>
    Promise.all(SIDES.map(work));

  for (const [protocol, env] of Object.entries(PROTOCOLS)) {
    it(`exec by ${protocol}: input, output, error output and exit code`, async () => {
      // KWOK does not close the input of a command, so that the command must know its length.
      const script = 'head -n 1; echo err >&2; exit 3';
      const [direct, through] = await onBothSides((side) =>
        run(side, env, 'the input\n', 'exec', '-i', pod, '--', 'sh', '-c', script),
      );
      expect(through).to.deep.equal(direct);
      expect(through?.stdout).to.equal('the input\n');
      expect(through?.stderr).to.include('err\n');
      expect(through?.stderr).to.include('exit status 3');
    });

    it(`cp by ${protocol}`, async () => {
      const file = await gateway.platform.write(`source-${protocol}`, 'x'.repeat(3 << 20));
      const { code } = await run('gateway', env, '', 'cp', `${pod}:${file}`, `${file}-copied`);
      expect(code).to.equal(0);
      expect((await readFile(`${file}-copied`)).equals(await readFile(file))).to.equal(true);
    });

    it(`attach by ${protocol}`, async () => {
      const [direct, through] = await onBothSides((side) => Promise.resolve(start(side, env, 'attach', pod)));
      const outputs = [direct, through].map((child) => child && outputOf(child));
      // Only lines that are written after the attach are shown.
      await until(async () => {
        await gateway.appendAttached(logLine(`to ${protocol}`));
        return outputs.every((output) => output?.text.includes('\n'));
      });
      for (const output of outputs) expect(output?.text).to.match(new RegExp(`^(?:to ${protocol}\n)+$`));
    });

    it(`port-forward by ${protocol}: several connections`, async () => {
      const child = start('gateway', env, 'port-forward', pod, ':8080');
      const [, port] = /127\.0\.0\.1:(\d+)/.exec(await outputOf(child).until(' -> ')) ?? [];
      const echoes = await Promise.all(
        ['one', 'two'].map(async (line) => {
          const socket = connect({ host: '127.0.0.1', port: Number(port) });
          socket.write(line.repeat(100_000));
          let echo = '';
          for await (const chunk of socket) {
            echo += String(chunk);
            if (echo.length === 300_000) break;
          }
          return echo;
        }),
      );
      expect(echoes).to.deep.equal(['one'.repeat(100_000), 'two'.repeat(100_000)]);
    });
  }

  it('a rejected exec has the status and the message of kube-apiserver, by both protocols', async () => {
    for (const env of Object.values(PROTOCOLS)) {
      const [direct, through] = await onBothSides((side) =>
        run(side, env, '', 'exec', 'no-such-pod', '--', 'true'),
      );
      expect(through).to.deep.equal(direct);
      expect(through?.stderr).to.include('pods "no-such-pod" not found');
    }
  });

  it('a watch without events has its headers at once', async () => {
    const path =
      '/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Dnone&resourceVersion=0';
    const lines = [`GET ${path} HTTP/1.1`, `Authorization: Bearer ${token}`];
    const { response, socket } = await openStream(gateway.target('gateway'), lines);
    const { status, headers, body } = response;
    expect([status, body.length]).to.deep.equal([200, 0]);
    expect(headers).to.deep.include(['transfer-encoding', 'chunked']);
    socket.destroy();
  });

  it('logs -f shows each line before the next one is written', async () => {
    const file = join(podLogs(gateway.platform.controlPlane.folder), `${gateway.pod.container}.log`);
    const outputs = SIDES.map((side) => outputOf(start(side, {}, 'logs', '-f', pod)));
    for (let i = 0; i < 5; i++) {
      const line = `followed ${i}`;
      await appendFile(file, logLine(line));
      await Promise.all(outputs.map((output) => output.until(line)));
    }
  });

  it(`exec delivers ${MANY_BYTES >> 20} MB to a slow reader with flat memory`, async () => {
    const expected = promisify(execFile)('sh', ['-c', `${MANY_LINES} | sha256sum`]);
    const { pid } = gateway.platform.server;
    const before = await residentMB(pid);
    const [hash, peak] = await peakWhile(pid, async () => {
      // The program ends after its output has arrived: KWOK closes the connection with the program, and loses the rest of the
      // output if kube-apiserver then sends the ping of every fifth second.
      const script = `${MANY_LINES}; read -r received`;
      const child = start('gateway', {}, 'exec', '-i', pod, '--', 'sh', '-c', script);
      const received = createHash('sha256');
      let bytes = 0;
      let pauses = 0;
      for await (const chunk of child.stdout) {
        received.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        if (bytes === MANY_BYTES) child.stdin.end('received\n');
        if (bytes >> 25 <= pauses) continue;
        // The reader stops at each 32 MB, until all buffers on the way are full.
        pauses++;
        // kubectl may have exited after it has written the last bytes.
        await untilSteady(() => readFile(`/proc/${child.pid}/io`, 'utf8').catch(() => 'exited'));
      }
      expect(bytes).to.equal(MANY_BYTES);
      return received.digest('hex');
    });
    expect(hash).to.equal((await expected).stdout.split(' ')[0]);
    expect(peak - before).to.be.lessThan(FLAT_MB);
  });

  it('exec passes a large input with an equal hash', async () => {
    const lines = 3_000_000;
    const { stdout: expected } = await promisify(execFile)('sh', ['-c', `seq ${lines} | sha256sum`]);
    const child = start('gateway', {}, 'exec', '-i', pod, '--', 'sh', '-c', `head -n ${lines} | sha256sum`);
    const source = spawn('seq', [String(lines)], { stdio: ['ignore', 'pipe', 'inherit'] });
    source.stdout.pipe(child.stdin);
    expect(await text(child.stdout)).to.equal(expected);
  });
});

/** A line of a container log, in the format of the kubelet. */
function logLine(line: string): string {
  return `${new Date().toISOString().replace('Z', '000000Z')} stdout F ${line}\n`;
}

interface Output {
  readonly text: string;
  /** Resolves with the output when it contains `text`. */
  until(text: string): Promise<string>;
}

/** Collects the output of a child process. */
function outputOf({ stdout }: ChildProcessWithoutNullStreams): Output {
  let seen = '';
  stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
  });
  return {
    get text() {
      return seen;
    },
    until: async (wanted) => {
      while (!seen.includes(wanted)) await once(stdout, 'data');
      return seen;
    },
  };
}
