// Baseline for sign-ins: a program that only verifies argon2id hashes.
import { createInterface } from 'node:readline';
import { hash, verify } from '@node-rs/argon2';

const PASSWORD = 'only to be checked again and again';

const stored = await hash(PASSWORD);
process.stdout.write('ready\n');
// Input line: duration in seconds and concurrency. Output line: verifications per second.
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
