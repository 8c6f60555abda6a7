// Baseline for sign-ins: a program that only verifies argon2id hashes. It prints `ready` at the start. Each input line
// contains a duration in seconds and a concurrency. For each line, the program measures that long, and prints the
// verifications per second.
import { createInterface } from 'node:readline';
import { hash, verify } from '@node-rs/argon2';

const PASSWORD = 'only to be checked again and again';

const stored = await hash(PASSWORD);
process.stdout.write('ready\n');
for await (const line of createInterface(process.stdin)) {
  const [seconds = 0, atATime = 1] = line.split(' ').map(Number);
  const until = performance.now() + seconds * 1000;
  let checked = 0;
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      while (performance.now() < until) {
        await verify(stored, PASSWORD);
        checked++;
      }
    }),
  );
  process.stdout.write(`${checked / seconds}\n`);
}
